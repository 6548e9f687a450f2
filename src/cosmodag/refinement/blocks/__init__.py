"""Pruning in blocks of variables, which needs memory for rows and arcs only; also on a GPU."""
