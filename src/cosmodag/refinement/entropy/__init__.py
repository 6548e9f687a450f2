"""Orders and graphs of linear relations with noise that is not Gaussian."""
