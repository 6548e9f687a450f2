"""Random DAGs with hidden variables, and minimal DAGs over the observed ones."""

import numpy as np

from cosmodag.graph.mixed.marks import Separation


def hidden_dag(
    seed: int, observed: tuple[int, int], hidden: tuple[int, int]
) -> tuple[np.ndarray, list[int]]:
    """A random DAG and its observed vertices; in half of them, hidden vertices have no causes."""
    random = np.random.default_rng(seed)
    k, h = (int(random.integers(low, high + 1)) for low, high in (observed, hidden))
    arcs = np.triu(random.random((h + k, h + k)) < random.uniform(0.15, 0.6), 1)
    order = random.permutation(h + k)
    if random.random() < 0.5:
        # Hidden vertices come first and have two effects each, which gives many edges ↔.
        arcs[:h] = False
        for cause in range(h):
            arcs[cause, h + random.choice(k, 2, replace=False)] = True
        arcs[h:] &= random.random((k, h + k)) < 0.5
        return arcs, list(range(h, h + k))
    observed_ones = sorted(random.choice(h + k, k, replace=False).tolist())
    return arcs[np.ix_(order, order)], observed_ones


def minimal_dag(separation: Separation, order: list[int]) -> np.ndarray:
    """The parents of a variable: earlier ones on which it depends given all other earlier ones."""
    arcs = np.zeros((len(order), len(order)), np.bool_)
    for place, v in enumerate(order):
        earlier = order[:place]
        for u in earlier:
            arcs[u, v] = not separation.holds(u, v, [w for w in earlier if w != u])
    return arcs
