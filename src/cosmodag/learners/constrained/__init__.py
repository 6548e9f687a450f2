"""Learners that the paper compares with: NOTEARS, DAGMA and NOCURL."""
