"""Regimes: which equations differ between parts of a table, found together with the graph."""
