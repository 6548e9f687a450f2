"""Regimes: which equations differ between parts of a table, found jointly with the graph."""
