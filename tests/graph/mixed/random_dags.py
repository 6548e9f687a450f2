"""Random DAGs with hidden variables, and minimal DAGs for an order of the observed ones."""

import numpy as np

from cosmodag.graph.mixed.marks import Separation


def hidden_dag(
    seed: int, observed: tuple[int, int], hidden: tuple[int, int]
) -> tuple[np.ndarray, list[int]]:
    """A DAG and its observed vertices; in half of the DAGs, hidden variables have no causes."""
    random = np.random.default_rng(seed)
    k, h = (int(random.integers(low, high + 1)) for low, high in (observed, hidden))
    arcs = np.triu(random.random((h + k, h + k)) < random.uniform(0.15, 0.6), 1)
    order = random.permutation(h + k)
    if random.random() < 0.5:
        # Hidden vertices come first and have two effects each, which yields many ↔.
        arcs[:h] = False
        for cause in range(h):
            arcs[cause, h + random.choice(k, 2, replace=False)] = True
        arcs[h:] &= random.random((k, h + k)) < 0.5
        return arcs, list(range(h, h + k))
    observed_ones = sorted(random.choice(h + k, k, replace=False).tolist())
    return arcs[np.ix_(order, order)], observed_ones


def minimal_dag(separation: Separation, order: list[int]) -> np.ndarray:
    """Join two variables if they are dependent given all others before the later one."""
    arcs = np.zeros((len(order), len(order)), np.bool_)
    for place, v in enumerate(order):
        earlier = order[:place]
        for u in earlier:
            arcs[u, v] = not separation.holds(u, v, [w for w in earlier if w != u])
    return arcs
