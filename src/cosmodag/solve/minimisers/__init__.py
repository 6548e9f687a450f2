"""Minimisers: algorithms that solve one unconstrained sub-problem."""
