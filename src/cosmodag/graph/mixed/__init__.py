"""Graphs with a mark at each end of an edge: ancestral graphs and their equivalence classes."""
