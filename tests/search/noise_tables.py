"""Small tables for tests of the noise decision: linear equations with several kinds of noise."""

import numpy as np

NOISES = {
    "gaussian": lambda random, n: random.normal(size=n),
    "laplace": lambda random, n: random.laplace(size=n),
    "uniform": lambda random, n: random.uniform(-1.7, 1.7, n),
    "exponential": lambda random, n: random.exponential(size=n),
    "t5": lambda random, n: random.standard_t(5, n),
    "gumbel": lambda random, n: random.gumbel(size=n),
}


def table(seed, *, n=500, d=10, weights=(0.5, 1.5), noise="gaussian", uneven=True, effect=None):
    """Draw a table and its graph; ``effect(random, z)`` is the effect of a standardised parent."""
    random = np.random.default_rng(seed)
    graph = np.triu(random.random((d, d)) < 3.0 / (d - 1), 1)
    sizes = random.uniform(0.5, 2.0, d) if uneven else np.ones(d)
    X = np.zeros((n, d))
    for v in range(d):
        X[:, v] = sizes[v] * NOISES[noise](random, n)
        for u in np.flatnonzero(graph[:, v]):
            sign = random.choice([-1.0, 1.0])
            size = sign * random.uniform(*weights)
            if effect is None:
                X[:, v] += size * X[:, u]
            else:
                X[:, v] += size * effect(random, (X[:, u] - X[:, u].mean()) / X[:, u].std())
    places = random.permutation(d)
    return X[:, places], graph[np.ix_(places, places)]


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)
