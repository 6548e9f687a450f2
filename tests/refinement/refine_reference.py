"""Grow–shrink and its scores in plain NumPy, by the definition."""

import numpy as np

from cosmodag.refinement.scores import growing_penalty


def residual_share(correlations, v, parents):
    parents = list(parents)
    if not parents:
        return 1.0
    inner, outer = correlations[np.ix_(parents, parents)], correlations[parents, v]
    return 1.0 - float(outer @ np.linalg.solve(inner, outer))


def grow_shrink(moments, v, candidates, penalty, required=()):
    """Path and parents of v among candidates, and its local score."""
    g = moments.group[v]
    correlations, half = moments.correlations[g], 0.5 * moments.rows[g]

    def score(parents, per_arc=penalty):
        share = residual_share(correlations, v, parents)
        return -half * np.log(share) - per_arc * len(parents)

    growing = growing_penalty(penalty, moments.variables)

    path = list(required)
    while True:
        options = [(score([*path, x], growing), x) for x in candidates if x not in path]
        if not options or max(options)[0] <= score(path, growing):
            break
        path.append(max(options)[1])
    parents = list(path)
    while True:
        droppable = [x for x in parents if x not in required]
        options = [(score([y for y in parents if y != x]), x) for x in droppable]
        if not options or max(options)[0] <= score(parents):
            break
        parents.remove(max(options)[1])
    return path, sorted(parents), score(parents)


def plain_prune(moments, order, penalty, support=None, required=None):
    """Adjacency and scores of all variables."""
    d = len(order)
    adjacency, scores = np.zeros((d, d), bool), np.zeros(d)
    for place, v in enumerate(order):
        candidates = [u for u in order[:place] if support is None or support[u, v]]
        forced = [] if required is None else list(np.flatnonzero(required[:, v]))
        _, parents, scores[v] = grow_shrink(moments, v, candidates, penalty, forced)
        adjacency[parents, v] = True
    return adjacency, scores


def linear_table(random, n, d, density=0.35, noise=1.0):
    """A table from a random linear model, and its weights; columns in random order."""
    weights = np.triu(random.uniform(0.4, 1.5, (d, d)) * random.choice([-1, 1], (d, d)), 1)
    weights *= random.random((d, d)) < density
    shuffle = random.permutation(d)
    table = random.normal(size=(n, d)) * noise @ np.linalg.inv(np.eye(d) - weights)
    return table[:, shuffle], weights[np.ix_(shuffle, shuffle)]
