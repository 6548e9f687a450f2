"""Learners of networks: a perceptron for each variable, of its parents."""
