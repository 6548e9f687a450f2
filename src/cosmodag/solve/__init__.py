"""Solvers: how parameters are found. One training loop, and ways to call it."""
