"""Pruning in tiles, on a CPU or GPU, with memory for the table and the arcs only."""
