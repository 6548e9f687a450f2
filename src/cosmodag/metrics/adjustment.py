"""Adjustment distances: causal effects that an estimated graph gets wrong."""

import numpy as np
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.metrics.matrices import Matrix, aligned, arcs_of, labelled

__all__ = ["adjustment_distances"]


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
