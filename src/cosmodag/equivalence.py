"""Markov equivalence: which arrows of a DAG the distribution alone could have told."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.dags import topological_order

__all__ = ["essential_graph"]


def essential_graph(adjacency: NDArray[Any]) -> NDArray[np.bool_]:
    """Essential graph (CPDAG) of the DAGs that imply the same conditional independences.

    An arc of the DAG is *compelled* when every equivalent DAG has it, and *reversible* otherwise.
    The arcs are labelled in Chickering's (1995) order.

    Parameters
    ----------
    adjacency : (d, d) array
        A DAG; any non-zero entry [u, v] is the arc u → v.

    Returns
    -------
    (d, d) array of bool
        True at [u, v] alone for a compelled arc u → v, at [u, v] and [v, u] for a reversible one.

    Examples
    --------
    A collider is compelled, a chain is not:

    >>> essential_graph(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> essential_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    arcs = np.asarray(adjacency) != 0
    compelled = np.zeros_like(arcs)
    labelled = np.zeros_like(arcs)
    for tail, head in _ordered(arcs):
        if not labelled[tail, head]:
            _label(arcs, compelled, labelled, tail, head)
    reversible = arcs & ~compelled
    return np.asarray(arcs | reversible.T, np.bool_)


def _ordered(arcs: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Arcs with heads in topological order, and for each head the latest tails first."""
    order = topological_order(arcs)
    for place, head in enumerate(order):
        for tail in order[:place][::-1]:
            if arcs[tail, head]:
                yield int(tail), int(head)


def _label(
    arcs: NDArray[np.bool_],
    compelled: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    tail: int,
    head: int,
) -> None:
    """Label the arc tail → head, and with it the arcs into the head that follow from it."""
    parents = arcs[:, head]
    upstream = compelled[:, tail]
    if np.any(upstream & ~parents):
        compelled[parents, head] = True
        labelled[parents, head] = True
        return
    compelled[upstream, head] = True
    labelled[upstream, head] = True
    others = parents & ~arcs[:, tail]
    others[tail] = False
    rest = parents & ~labelled[:, head]
    rest[tail] = True
    compelled[rest, head] = bool(others.any())
    labelled[rest, head] = True
