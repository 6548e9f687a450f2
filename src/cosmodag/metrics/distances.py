"""Distances of an order, or of an estimated graph, from the true graph."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.metrics.matrices import Matrix, Nodes, aligned, arcs_of, labelled


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


def adjustment_distances(truth: Matrix, graph: Matrix) -> dict[str, float]:
    """Count the causal effects that would be computed wrongly from an estimated DAG.

    For each ordered pair of nodes (u, v), the adjustment set of the estimate is tested for validity
    in the true graph, for the effect of u on v.

    Parameters
    ----------
    truth, graph : array, data frame or sparse matrix, shape (d, d)
        Two DAGs; non-zero entries are arcs. Data frames are matched by their labels.

    Returns
    -------
    dict of str to int
        ``sid``, the structural intervention distance of Peters and Bühlmann (2015), and
        ``parent_aid`` and ``ancestor_aid``, the adjustment identification distances of Henckel,
        Würtzen and Weichwald (2024); each between 0 and d(d − 1).

    Examples
    --------
    >>> adjustment_distances(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]))
    {'sid': 2, 'parent_aid': 2, 'ancestor_aid': 2}
    """
    import gadjid

    true_graph = labelled(truth, "truth")
    estimate = aligned(true_graph, labelled(graph, "estimate"))
    pair = [_for_gadjid(true_graph.matrix, "truth"), _for_gadjid(estimate, "estimate")]
    names = ("sid", "parent_aid", "ancestor_aid")
    if pair[0].shape[0] < 2:  # no pairs of nodes, and gadjid panics
        return dict.fromkeys(names, 0)
    return {
        name: int(getattr(gadjid, name)(*pair, edge_direction="from row to column")[1])
        for name in names
    }


def _for_gadjid(graph: Matrix, label: str) -> Matrix:
    if not is_dag(graph):
        raise DataError(
            f"The {label} has a cycle, but intervention distances need DAGs: "
            "leave sid out or pass an acyclic graph, such as a model's adjacency_."
        )
    tails, heads = arcs_of(graph)
    # gadjid reads only int8 entries with 32-bit indices.
    rows = sparse.coo_array((np.ones(tails.size, np.int8), (tails, heads)), graph.shape).tocsr()
    indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_matrix((rows.data, indices, starts), shape=graph.shape)
