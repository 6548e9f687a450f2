"""Tables of random linear models."""

import numpy as np


def linear_table(random, n, d, density=0.35, noise=1.0):
    """Draw a table from a random linear model with shuffled columns; return it and the weights."""
    weights = np.triu(random.uniform(0.4, 1.5, (d, d)) * random.choice([-1, 1], (d, d)), 1)
    weights *= random.random((d, d)) < density
    shuffle = random.permutation(d)
    table = random.normal(size=(n, d)) * noise @ np.linalg.inv(np.eye(d) - weights)
    return table[:, shuffle], weights[np.ix_(shuffle, shuffle)]
