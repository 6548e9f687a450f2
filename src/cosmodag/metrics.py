"""How close an estimated graph comes to the true one.

Scores compare a true graph B with an estimate W, both d×d with [u, v] the arc u → v; either may be
dense or sparse. The estimated graph holds the arcs with |W_uv| > threshold, strictly. All counts
and rates are over the d² entries, diagonal included, as in the paper: a self-loop is a false
positive. A ratio whose denominator is zero is ``nan``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cosmodag.dags import is_dag, topological_order
from cosmodag.errors import DataError

__all__ = ["adjustment_distances", "evaluate", "order_divergence"]

Matrix = Any  # an array, a data frame or any SciPy sparse matrix
Codes = NDArray[np.int64]  # arcs u → v as sorted numbers u·d + v

TILE = 1 << 18  # entries sorted at a time: about what a core's cache holds


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
    nodes = truth.shape[0]
    true_arcs = _arcs(truth, 0.0)
    if np.any(true_arcs // nodes == true_arcs % nodes):
        raise DataError("The truth has a self-loop, which no arc of a DAG is: remove it.")
    arcs = _arcs(weights, threshold)
    return {
        **_ranking_scores(weights, true_arcs),
        **_hamming_scores(true_arcs, arcs, nodes),
        **_skeleton_scores(true_arcs, arcs, nodes),
        "order_divergence": _divergence(truth, _graph(arcs, nodes), order),
        "edges": arcs.size,
        "true_edges": true_arcs.size,
        **(adjustment_distances(truth, _graph(arcs, nodes)) if sid else {}),
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
    tails, heads = np.divmod(_arcs(truth, 0.0), nodes)
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

    matrices = []
    for matrix, label in ((truth, "truth"), (graph, "estimate")):
        if not is_dag(_square(matrix, label)):
            raise DataError(
                f"The {label} has a cycle, and intervention distances compare DAGs: "
                "leave sid out or pass an acyclic graph, such as a model's adjacency_."
            )
        arcs = sparse.csr_array(_square(matrix, label) != 0)
        arcs.sort_indices()
        matrices.append(sparse.csr_matrix(arcs, dtype=np.int8))
    measures = {
        "sid": gadjid.sid,
        "parent_aid": gadjid.parent_aid,
        "ancestor_aid": gadjid.ancestor_aid,
    }
    return {
        name: int(measure(*matrices, edge_direction="from row to column")[1])
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


def _arcs(matrix: Matrix, threshold: float) -> Codes:
    """List the entries above the threshold in absolute value, as sorted numbers u·d + v."""
    if not sparse.issparse(matrix):
        return np.flatnonzero(np.abs(matrix) > threshold)
    if threshold < 0:
        return _arcs(matrix.toarray(), threshold)
    entries = matrix.tocoo()
    kept = np.abs(entries.data) > threshold
    return np.sort(entries.row[kept].astype(np.int64) * matrix.shape[0] + entries.col[kept])


def _graph(arcs: Codes, nodes: int) -> Matrix:
    where = np.divmod(arcs, nodes)
    return sparse.csr_array((np.ones(arcs.size, dtype=np.int8), where), shape=(nodes, nodes))


def _divergence(truth: Matrix, graph: Matrix, order: ArrayLike | None) -> float:
    if order is not None:
        return order_divergence(truth, order)
    return order_divergence(truth, topological_order(graph)) if is_dag(graph) else float("nan")


def _hamming_scores(true_arcs: Codes, arcs: Codes, nodes: int) -> dict[str, float]:
    hits = np.intersect1d(true_arcs, arcs, assume_unique=True).size
    wrong = np.setxor1d(true_arcs, arcs, assume_unique=True)
    false_positives, misses = arcs.size - hits, true_arcs.size - hits
    wrong_way = _transposed(np.setdiff1d(arcs, true_arcs, assume_unique=True), nodes)
    return {
        "nhd": wrong.size / nodes,
        "shd": _pairs(wrong, nodes).size,
        "shd_double": wrong.size,
        "tpr": _ratio(hits, true_arcs.size),
        "fpr": _ratio(false_positives, nodes**2 - true_arcs.size),
        "fdr": _ratio(false_positives, arcs.size),
        "precision": _ratio(hits, arcs.size),
        "f1": _ratio(2 * hits, 2 * hits + false_positives + misses),
        "reversed": np.intersect1d(np.setdiff1d(true_arcs, arcs), wrong_way).size,
    }


def _skeleton_scores(true_arcs: Codes, arcs: Codes, nodes: int) -> dict[str, float]:
    true_pairs = _pairs(true_arcs, nodes)
    pairs = _pairs(arcs[arcs // nodes != arcs % nodes], nodes)
    hits = np.intersect1d(true_pairs, pairs, assume_unique=True).size
    return {
        "skeleton_precision": _ratio(hits, pairs.size),
        "skeleton_recall": _ratio(hits, true_pairs.size),
        "skeleton_f1": _ratio(2 * hits, pairs.size + true_pairs.size),
    }


def _transposed(arcs: Codes, nodes: int) -> Codes:
    return arcs % nodes * nodes + arcs // nodes


def _pairs(arcs: Codes, nodes: int) -> Codes:
    """Forget directions: one number for each unordered pair of nodes."""
    return np.unique(np.minimum(arcs, _transposed(arcs, nodes)))


class _Ranks(NamedTuple):
    """For each distinct score of a true arc, rising: how many entries score less, and the same."""

    below: Codes
    equal: Codes


def _ranking_scores(weights: Matrix, true_arcs: Codes) -> dict[str, float]:
    nodes = weights.shape[0]
    tails, heads = np.divmod(true_arcs, nodes)
    scores = np.abs(np.asarray(weights[tails, heads], dtype=np.float64)).ravel()
    levels, counts = np.unique(scores, return_counts=True)
    hits = _Ranks(np.cumsum(counts) - counts, counts)
    every = _rank(_tiles(weights), levels, nodes**2)
    diagonal = _rank(iter([np.abs(weights.diagonal())]), levels, nodes)
    off_diagonal = _Ranks(every.below - diagonal.below, every.equal - diagonal.equal)
    at_least = nodes**2 - every.below
    precision = (true_arcs.size - hits.below) / np.maximum(at_least, 1)
    return {
        "auc": _auc(hits, every, true_arcs.size, nodes**2),
        "auc_off_diagonal": _auc(hits, off_diagonal, true_arcs.size, nodes**2 - nodes),
        "average_precision": _ratio(float(counts @ precision), true_arcs.size),
    }


def _auc(hits: _Ranks, every: _Ranks, positives: int, entries: int) -> float:
    """Chance that a true arc outscores another entry, a tie counting half (Mann and Whitney)."""
    below, equal = every.below - hits.below, every.equal - hits.equal
    wins = float(hits.equal @ (below + 0.5 * equal))
    return _ratio(wins, positives * (entries - positives))


def _rank(tiles: Iterator[NDArray[Any]], levels: NDArray[np.float64], entries: int) -> _Ranks:
    """Rank the levels among all entries; those that no tile mentions are zero.

    Tiles are sorted one by one, never merged, and only their part that is not below every level.
    """
    below = np.zeros(levels.size, dtype=np.int64)
    up_to = np.zeros(levels.size, dtype=np.int64)
    mentioned = 0
    for tile in tiles:
        mentioned += tile.size
        contested = np.sort(tile[tile >= levels[0]]) if levels.size else tile[:0]
        fewer = tile.size - contested.size if levels.size else 0
        below += fewer + np.searchsorted(contested, levels, side="left")
        up_to += fewer + np.searchsorted(contested, levels, side="right")
    zeros = entries - mentioned
    below += np.where(levels > 0, zeros, 0)
    up_to += zeros
    return _Ranks(below, up_to - below)


def _tiles(weights: Matrix) -> Iterator[NDArray[Any]]:
    entries = weights.data if sparse.issparse(weights) else weights.reshape(-1)
    for start in range(0, entries.size, TILE):
        yield np.abs(entries[start : start + TILE])


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
