"""Formats of graphs that are read and written here: their names, CSV, DOT and DAGitty."""
