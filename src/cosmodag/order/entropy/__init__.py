"""Scores and orders of linear relations with noise that is not Gaussian."""
