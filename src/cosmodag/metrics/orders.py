"""Distance of a causal order from the true graph."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from cosmodag.errors import DataError
from cosmodag.metrics.matrices import Matrix, Nodes, arcs_of, labelled

__all__ = ["order_divergence", "positions_in"]


def order_divergence(
    truth: Matrix, order: ArrayLike, names: Sequence[Hashable] | None = None
) -> int:
    """Count the true arcs that point backwards in a causal order.

    These are the arcs that no graph agreeing with the order can contain: D_top of Rolland et al.
    (2022).

    Parameters
    ----------
    truth : array, data frame or sparse matrix, shape (d, d)
        Its non-zero entries are the arcs.
    order : sequence of d names or numbers
        The nodes, causes first.
    names : sequence of d names, optional
        Names of the nodes, for an order of names; by default the labels of `truth`.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> order_divergence(truth, [1, 0, 2])
    1
    >>> order_divergence(truth, ["wet", "rain", "slip"], names=["rain", "wet", "slip"])
    1
    """
    matrix, labels = labelled(truth, "truth")
    position = positions_in(order, matrix.shape[0], labels if names is None else names)
    tails, heads = arcs_of(matrix)
    return int(np.count_nonzero(position[tails] > position[heads]))


def positions_in(order: ArrayLike, nodes: int, names: Sequence[Hashable] | None) -> Nodes:
    """Position of each of d nodes in an order of their names or numbers."""
    sequence = np.asarray(order)
    if names is not None and len(names) == nodes and sequence.shape == (nodes,):
        number = {name: index for index, name in enumerate(names)}
        elements: list[Hashable] = list(order)  # type: ignore[arg-type]
        if all(name in number for name in elements):
            sequence = np.array([number[name] for name in elements])
    if sequence.shape != (nodes,) or not np.array_equal(np.sort(sequence), np.arange(nodes)):
        named = "" if names is None else ", or each of the names,"
        advice = "; for an order of names, pass names" if sequence.dtype.kind in "OU" else ""
        raise DataError(
            f"The order must hold each of the numbers 0 to {nodes - 1}{named} once{advice}."
        )
    position = np.empty(nodes, dtype=np.int64)
    position[sequence.astype(np.int64)] = np.arange(nodes)
    return position
