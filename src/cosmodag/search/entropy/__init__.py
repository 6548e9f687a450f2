"""Scores and orders for linear models with non-Gaussian noise."""
