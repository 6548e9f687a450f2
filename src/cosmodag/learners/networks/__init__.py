"""Learners that fit one multilayer perceptron per variable, a function of its parents."""
