"""Scores of a ranking of arcs, of a thresholded graph, and of an order.

A ranking is needed only at the scores of the true arcs, so the d² entries are sorted tile by tile
and never merged. If few entries reach those scores, hardly any sorting is needed.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.metrics.matrices import Matrix, Nodes, aligned_matrix, arcs_of, labelled_matrix

Numbers = NDArray[np.int64]

TILE = 1 << 18  # number of entries sorted at a time: they fit into the cache of a core


class _Ranks(NamedTuple):
    """Numbers of entries below and equal to each distinct score of true arcs, ascending."""

    below: Numbers
    equal: Numbers


def ranking_scores(tails: Numbers, heads: Numbers, weights: Any) -> dict[str, float]:
    """Return the area under the ROC curve, with and without the diagonal, and average precision.

    Entries of a dense or CSR matrix are ranked by absolute value. True arcs must not be self-loops.
    Scores are ``nan`` without true arcs, or without other entries.

    >>> ranking_scores(np.array([0]), np.array([1]), np.array([[0.1, 0.5], [0.5, 0.0]]))["auc"]
    0.8333333333333334
    """
    nodes = weights.shape[0]
    scores = np.abs(entries_at(weights, tails, heads).astype(np.float64))
    levels, counts = np.unique(scores, return_counts=True)
    if not levels.size:
        return dict.fromkeys(("auc", "auc_off_diagonal", "average_precision"), float("nan"))
    hits = _Ranks(np.cumsum(counts) - counts, counts)
    entries = weights.data if sparse.issparse(weights) else weights.reshape(-1)
    tiles = (np.abs(entries[start : start + TILE]) for start in range(0, entries.size, TILE))
    every = _rank(tiles, levels, nodes**2)
    diagonal = _rank([np.abs(weights.diagonal())], levels, nodes)
    off_diagonal = _Ranks(every.below - diagonal.below, every.equal - diagonal.equal)
    precision = (scores.size - hits.below) / (nodes**2 - every.below)
    return {
        "auc": _auc(hits, every, nodes**2),
        "auc_off_diagonal": _auc(hits, off_diagonal, nodes**2 - nodes),
        "average_precision": float(counts @ precision) / scores.size,
    }


def entries_at(matrix: Any, rows: Numbers, columns: Numbers) -> NDArray[Any]:
    """Look up entries of a dense or sparse matrix."""
    # SciPy returns a dense or a sparse vector, depending on its version and the number of entries.
    found = matrix[rows, columns]
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()


def _auc(hits: _Ranks, every: _Ranks, entries: int) -> float:
    """Probability that a true arc outscores another entry; ties count half (Mann and Whitney)."""
    positives = int(hits.equal.sum())
    below, equal = every.below - hits.below, every.equal - hits.equal
    comparisons = positives * (entries - positives)
    return _ratio(float(hits.equal @ (below + 0.5 * equal)), comparisons)


def _rank(tiles: Iterable[NDArray[Any]], levels: NDArray[np.float64], entries: int) -> _Ranks:
    """Rank the levels among all entries; entries that are in no tile are zero."""
    below = np.zeros(levels.size, dtype=np.int64)
    up_to = np.zeros(levels.size, dtype=np.int64)
    stored = 0
    for tile in tiles:
        stored += tile.size
        ranked = np.sort(tile[tile >= levels[0]])
        lower = tile.size - ranked.size
        below += lower + np.searchsorted(ranked, levels, side="left")
        up_to += lower + np.searchsorted(ranked, levels, side="right")
    zeros = entries - stored
    below += np.where(levels > 0, zeros, 0)
    up_to += zeros
    return _Ranks(below, up_to - below)


@dataclass(frozen=True)
class Counts:
    """Numbers of true, estimated and common arcs and pairs of nodes."""

    nodes: int
    true_edges: int
    true_pairs: int  # pairs of nodes that the truth joins, in one direction or both
    edges: int
    pairs: int  # pairs of nodes that the estimate joins
    self_loops: int
    hits: int  # true arcs found
    pair_hits: int  # true pairs joined, in any direction
    exact_pairs: int  # true pairs joined in the same direction or directions
    reversals: int  # true arcs found only in reverse


def arc_counts(tails: Nodes, heads: Nodes, graph: Matrix) -> Counts:
    """Count arcs by looking up the true arcs in the estimate, fast even if that is dense."""
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
    return Counts(
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


def hamming_scores(counts: Counts) -> dict[str, float]:
    """Compute distances and rates over entries, and the distance over pairs of nodes."""
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


def skeleton_scores(counts: Counts) -> dict[str, float]:
    """Compute precision, recall and F1 of joined pairs of nodes, whatever the direction."""
    return {
        "skeleton_precision": _ratio(counts.pair_hits, counts.pairs),
        "skeleton_recall": _ratio(counts.pair_hits, counts.true_pairs),
        "skeleton_f1": _ratio(2 * counts.pair_hits, counts.pairs + counts.true_pairs),
    }


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")


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
    matrix, labels = labelled_matrix(truth, "truth")
    position = positions_in(order, matrix.shape[0], labels if names is None else names)
    tails, heads = arcs_of(matrix)
    return int(np.count_nonzero(position[tails] > position[heads]))


def positions_in(order: ArrayLike, nodes: int, names: Sequence[Hashable] | None) -> Nodes:
    """Find the position of each node in an order of names or numbers."""
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
            f"The order must contain each of the numbers 0 to {nodes - 1}{named} once{advice}."
        )
    position = np.empty(nodes, dtype=np.int64)
    position[sequence.astype(np.int64)] = np.arange(nodes)
    return position


def adjustment_distances(truth: Matrix, graph: Matrix) -> dict[str, float]:
    """Count the causal effects that would be computed wrongly from an estimated DAG.

    For each ordered pair of nodes (u, v), the adjustment set that the estimate implies for the
    effect of u on v is tested for validity in the true graph.

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
    true_graph = labelled_matrix(truth, "truth")
    estimate = aligned_matrix(true_graph, labelled_matrix(graph, "estimate"))
    pair = [_for_gadjid(true_graph.matrix, "truth"), _for_gadjid(estimate, "estimate")]
    names = ("sid", "parent_aid", "ancestor_aid")
    if pair[0].shape[0] < 2:  # no pairs of nodes, and gadjid panics
        return dict.fromkeys(names, 0)
    try:
        import gadjid
    except ImportError:
        raise DataError(
            "Intervention distances (sid) need gadjid, which is not installed: pip install "
            "'cosmodag[sid]', or omit sid."
        ) from None
    return {
        name: int(getattr(gadjid, name)(*pair, edge_direction="from row to column")[1])
        for name in names
    }


def _for_gadjid(graph: Matrix, label: str) -> Matrix:
    if not is_dag(graph):
        raise DataError(
            f"The {label} has a cycle, but intervention distances need DAGs: "
            "omit sid, or pass an acyclic graph such as a model's adjacency_."
        )
    tails, heads = arcs_of(graph)
    # gadjid reads only int8 entries with 32-bit indices.
    rows = sparse.coo_array((np.ones(tails.size, np.int8), (tails, heads)), graph.shape).tocsr()
    indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_matrix((rows.data, indices, starts), shape=graph.shape)
