"""Bases of the learners that minimise something: annealed, constrained, and those of networks."""
