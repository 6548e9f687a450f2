"""Pruning in blocks of variables, with memory for the rows and the arcs alone, also on a GPU."""
