"""Graphs: acyclic matrices, orders, equivalence classes, and acyclicity as a number."""
