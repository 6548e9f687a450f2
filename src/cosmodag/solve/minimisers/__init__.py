"""Minimisers: ways to solve one unconstrained sub-problem."""
