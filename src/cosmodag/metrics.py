"""How close an estimated graph comes to the true one.

Scores compare a true graph B with an estimate W, both d×d with [u, v] the arc u → v; either may be
dense or sparse. The estimated graph holds the arcs with |W_uv| > threshold, strictly. All counts
and rates are over the d² entries, diagonal included, as in the paper: a self-loop is a false
positive. A ratio whose denominator is zero is ``nan``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cosmodag.dags import is_dag, topological_order
from cosmodag.errors import DataError
from cosmodag.ranking import entries_at, ranking_scores

__all__ = ["adjustment_distances", "evaluate", "order_divergence"]

Matrix = Any  # an array, a data frame or any SciPy sparse matrix
Nodes = NDArray[np.int64]


def evaluate(
    truth: Matrix,
    weights: Matrix,
    threshold: float = 0.3,
    *,
    order: ArrayLike | None = None,
    sid: bool = False,
) -> dict[str, float]:
    """Score an estimated weight matrix against the true graph, every way the paper does and more.

    Parameters
    ----------
    truth : array or sparse matrix, shape (d, d)
        The true graph: its non-zero entries are the arcs. No self-loops.
    weights : array or sparse matrix, shape (d, d)
        The estimate W, of which only |W| matters.
    threshold : float
        Arcs are the entries with |W_uv| strictly above it.
    order : array of d integers, optional
        The learner's causal order, causes first, for ``order_divergence``. Without it the order
        is read off the thresholded estimate (lowest index first among those free to come next).
    sid : bool
        Also compute the structural intervention distance and its kin, which need both graphs to
        be acyclic, and take time.

    Returns
    -------
    dict of str to float
        ``auc``, ``auc_off_diagonal``
            Area under the ROC curve of |W| over all d² entries, and without the diagonal.
        ``average_precision``
            Area under the precision-recall steps, over all d² entries.
        ``nhd``
            Normalised Hamming distance (FP + FN) / d: a reversed arc costs 2, as in the paper.
        ``shd``
            Structural Hamming distance: pairs of nodes joined differently, plus self-loops; a
            reversed arc costs 1.
        ``shd_double``
            FP + FN, the paper's count, in which a reversed arc costs 2; d times ``nhd``.
        ``tpr``, ``fpr``, ``fdr``, ``precision``, ``f1``
            TP/E, FP/(d² − E), FP/(TP + FP), TP/(TP + FP) and 2TP/(2TP + FP + FN), where E is the
            number of true arcs and a reversed arc is one false positive and one false negative.
        ``skeleton_precision``, ``skeleton_recall``, ``skeleton_f1``
            The same with directions and self-loops forgotten.
        ``reversed``
            True arcs found only the wrong way round.
        ``order_divergence``
            True arcs that the order contradicts; ``nan`` if there is none since the estimate is
            cyclic.
        ``edges``, ``true_edges``
            The number of arcs in the thresholded estimate and in the truth.
        ``sid``, ``parent_aid``, ``ancestor_aid``
            Only when asked: see `adjustment_distances`.

    Raises
    ------
    DataError
        If the matrices are not square and of one shape, the truth has a self-loop, a weight is not
        finite, or `sid` is asked for a graph with a cycle.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> weights = np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.0], [0.0, -1.2, 0.0]])
    >>> scores = evaluate(truth, weights)
    >>> scores["shd"], scores["shd_double"], scores["tpr"].__round__(3)
    (2, 3, 0.333)
    """
    truth, weights = _square(truth, "truth"), _square(weights, "weights")
    if truth.shape != weights.shape:
        raise DataError(
            f"The truth has shape {truth.shape} and the weights {weights.shape}: "
            "score an estimate of the same variables."
        )
    if np.any(truth.diagonal()):
        raise DataError("The truth has a self-loop, which no arc of a DAG is: remove it.")
    tails, heads = _arcs(truth)
    graph = _above(weights, threshold)
    counts = _count(tails, heads, graph)
    return {
        **ranking_scores(tails, heads, weights),
        **_hamming_scores(counts),
        **_skeleton_scores(counts),
        "order_divergence": _divergence(truth, graph, order, counts),
        "edges": counts.edges,
        "true_edges": counts.true_edges,
        **(adjustment_distances(truth, graph) if sid else {}),
    }


def order_divergence(truth: Matrix, order: ArrayLike) -> int:
    """Count the true arcs that point backwards in a causal order.

    These are the arcs that no graph agreeing with the order can contain: D_top of Rolland et al.
    (2022).

    Parameters
    ----------
    truth : array or sparse matrix, shape (d, d)
        Its non-zero entries are the arcs.
    order : array of d integers
        The nodes, causes first.

    Returns
    -------
    int

    Examples
    --------
    >>> order_divergence(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), [1, 0, 2])
    1
    """
    truth = _square(truth, "truth")
    nodes = truth.shape[0]
    sequence = np.asarray(order)
    if sequence.shape != (nodes,) or not np.array_equal(np.sort(sequence), np.arange(nodes)):
        raise DataError(f"The order must hold each of the numbers 0 to {nodes - 1} once.")
    position = np.empty(nodes, dtype=np.int64)
    position[sequence] = np.arange(nodes)
    tails, heads = _arcs(truth)
    return int(np.count_nonzero(position[tails] > position[heads]))


def adjustment_distances(truth: Matrix, graph: Matrix) -> dict[str, float]:
    """Count the causal effects that an estimated DAG would have one compute wrongly.

    Each ordered pair of nodes (u, v) is judged by whether the adjustment set read off the estimate
    is valid, in the true graph, for the effect of u on v.

    Parameters
    ----------
    truth, graph : array or sparse matrix, shape (d, d)
        Two DAGs; non-zero entries are arcs.

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

    pair = [_dag_for_gadjid(truth, "truth"), _dag_for_gadjid(graph, "estimate")]
    measures = {
        "sid": gadjid.sid,
        "parent_aid": gadjid.parent_aid,
        "ancestor_aid": gadjid.ancestor_aid,
    }
    return {
        name: int(measure(*pair, edge_direction="from row to column")[1])
        for name, measure in measures.items()
    }


def _square(matrix: Matrix, label: str) -> Matrix:
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise DataError(f"The {label} must be a square matrix, but its shape is {matrix.shape}.")
    if matrix.dtype.kind not in "buif":
        raise DataError(f"The {label} must hold real numbers, not {matrix.dtype}.")
    entries = matrix.data if sparse.issparse(matrix) else matrix
    if matrix.dtype.kind == "f" and not np.all(np.isfinite(entries)):
        raise DataError(f"The {label} holds values that are not finite: fit again or repair them.")
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix


def _dag_for_gadjid(graph: Matrix, label: str) -> Matrix:
    graph = _square(graph, label)
    if not is_dag(graph):
        raise DataError(
            f"The {label} has a cycle, and intervention distances compare DAGs: "
            "leave sid out or pass an acyclic graph, such as a model's adjacency_."
        )
    tails, heads = _arcs(graph)
    # gadjid reads int8 entries behind 32-bit indices, and nothing else.
    rows = sparse.coo_array((np.ones(tails.size, np.int8), (tails, heads)), graph.shape).tocsr()
    indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_matrix((rows.data, indices, starts), shape=graph.shape)


def _arcs(graph: Matrix) -> tuple[Nodes, Nodes]:
    tails, heads = graph.nonzero()
    return tails.astype(np.int64), heads.astype(np.int64)


def _above(weights: Matrix, threshold: float) -> Matrix:
    if not threshold >= 0:
        raise DataError(f"The threshold {threshold} must be zero or more.")
    return abs(weights) > threshold


@dataclass(frozen=True)
class _Counts:
    """What every score of a thresholded graph is made of."""

    nodes: int
    true_edges: int
    true_pairs: int  # pairs of nodes that the truth joins, one way or both
    edges: int
    pairs: int  # pairs of nodes that the estimate joins
    self_loops: int
    hits: int  # true arcs found
    pair_hits: int  # true pairs joined, either way
    exact_pairs: int  # true pairs joined exactly as they should be
    reversals: int  # true arcs found only the wrong way round


def _count(tails: Nodes, heads: Nodes, graph: Matrix) -> _Counts:
    """Look the estimate up at the true arcs, so that the cost hardly depends on how dense it is."""
    nodes = graph.shape[0]
    codes = tails * nodes + heads
    is_mutual = np.isin(heads * nodes + tails, codes)
    found, found_back = entries_at(graph, tails, heads), entries_at(graph, heads, tails)
    each_pair_once = (tails < heads) | ~is_mutual
    exact = found & (found_back == is_mutual)
    is_sparse = sparse.issparse(graph)
    edges = int(graph.nnz if is_sparse else np.count_nonzero(graph))
    both_ways = graph.multiply(graph.T).nnz if is_sparse else np.count_nonzero(graph & graph.T)
    self_loops = int(np.count_nonzero(graph.diagonal()))
    return _Counts(
        nodes=nodes,
        true_edges=tails.size,
        true_pairs=int(each_pair_once.sum()),
        edges=edges,
        pairs=edges - self_loops - (int(both_ways) - self_loops) // 2,
        self_loops=self_loops,
        hits=int(found.sum()),
        pair_hits=int((each_pair_once & (found | found_back)).sum()),
        exact_pairs=int((each_pair_once & exact).sum()),
        reversals=int((found_back & ~found & ~is_mutual).sum()),
    )


def _hamming_scores(counts: _Counts) -> dict[str, float]:
    false_positives = counts.edges - counts.hits
    wrong_entries = false_positives + counts.true_edges - counts.hits
    joined_in_either = counts.pairs + counts.true_pairs - counts.pair_hits
    return {
        "nhd": wrong_entries / counts.nodes,
        "shd": joined_in_either - counts.exact_pairs + counts.self_loops,
        "shd_double": wrong_entries,
        "tpr": _ratio(counts.hits, counts.true_edges),
        "fpr": _ratio(false_positives, counts.nodes**2 - counts.true_edges),
        "fdr": _ratio(false_positives, counts.edges),
        "precision": _ratio(counts.hits, counts.edges),
        "f1": _ratio(2 * counts.hits, counts.edges + counts.true_edges),
        "reversed": counts.reversals,
    }


def _skeleton_scores(counts: _Counts) -> dict[str, float]:
    return {
        "skeleton_precision": _ratio(counts.pair_hits, counts.pairs),
        "skeleton_recall": _ratio(counts.pair_hits, counts.true_pairs),
        "skeleton_f1": _ratio(2 * counts.pair_hits, counts.pairs + counts.true_pairs),
    }


def _divergence(truth: Matrix, graph: Matrix, order: ArrayLike | None, counts: _Counts) -> float:
    if order is not None:
        return order_divergence(truth, order)
    # A self-loop or a two-cycle is seen at once, which saves sorting a dense estimate.
    if counts.edges > counts.pairs:
        return float("nan")
    try:
        return order_divergence(truth, topological_order(graph))
    except DataError:
        return float("nan")


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
