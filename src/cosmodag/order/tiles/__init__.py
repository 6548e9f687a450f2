"""Pruning in tiles of children, which needs memory for rows and arcs only; also on a GPU."""
