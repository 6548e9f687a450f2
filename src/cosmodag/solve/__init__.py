"""Solvers: the training loop, and methods that call it to find parameters."""
