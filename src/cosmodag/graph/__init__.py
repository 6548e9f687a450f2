"""Graphs: acyclic matrices, orders, equivalence classes, and measures of acyclicity."""
