"""Scores of a ranking of arcs, and of a thresholded graph.

Only the scores of the true arcs must be ranked, so the d² entries are sorted tile by tile and never
merged; an estimate with few large entries needs hardly any sorting.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.metrics.matrices import Matrix, Nodes

Numbers = NDArray[np.int64]

TILE = 1 << 18  # entries sorted at a time: about what a core's cache holds


class _Ranks(NamedTuple):
    """For each distinct score of true arcs, ascending: number of entries below and equal to it."""

    below: Numbers
    equal: Numbers


def ranking_scores(tails: Numbers, heads: Numbers, weights: Any) -> dict[str, float]:
    """Return the area under the ROC curve, with and without the diagonal, and average precision.

    Entries of a dense or CSR matrix are ranked by absolute value. No true arc is a self-loop.
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
    diagonal = _rank(iter([np.abs(weights.diagonal())]), levels, nodes)
    off_diagonal = _Ranks(every.below - diagonal.below, every.equal - diagonal.equal)
    precision = (scores.size - hits.below) / (nodes**2 - every.below)
    return {
        "auc": _auc(hits, every, nodes**2),
        "auc_off_diagonal": _auc(hits, off_diagonal, nodes**2 - nodes),
        "average_precision": float(counts @ precision) / scores.size,
    }


def entries_at(matrix: Any, rows: Numbers, columns: Numbers) -> NDArray[Any]:
    """Look up some entries of a dense or sparse matrix."""
    # SciPy returns a dense or a sparse vector, depending on its version and on their number.
    found = matrix[rows, columns]
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()


def _auc(hits: _Ranks, every: _Ranks, entries: int) -> float:
    """Probability that a true arc outscores another entry; ties count half (Mann and Whitney)."""
    positives = int(hits.equal.sum())
    below, equal = every.below - hits.below, every.equal - hits.equal
    contests = positives * (entries - positives)
    return float(hits.equal @ (below + 0.5 * equal)) / contests if contests else float("nan")


def _rank(tiles: Iterator[NDArray[Any]], levels: NDArray[np.float64], entries: int) -> _Ranks:
    """Rank the levels among all entries; entries in no tile are zero."""
    below = np.zeros(levels.size, dtype=np.int64)
    up_to = np.zeros(levels.size, dtype=np.int64)
    mentioned = 0
    for tile in tiles:
        mentioned += tile.size
        contested = np.sort(tile[tile >= levels[0]])
        fewer = tile.size - contested.size
        below += fewer + np.searchsorted(contested, levels, side="left")
        up_to += fewer + np.searchsorted(contested, levels, side="right")
    zeros = entries - mentioned
    below += np.where(levels > 0, zeros, 0)
    up_to += zeros
    return _Ranks(below, up_to - below)


@dataclass(frozen=True)
class Counts:
    """True, estimated and common arcs and pairs of nodes."""

    nodes: int
    true_edges: int
    true_pairs: int  # pairs of nodes that the truth joins, in one direction or both
    edges: int
    pairs: int  # pairs of nodes that the estimate joins
    self_loops: int
    hits: int  # true arcs found
    pair_hits: int  # true pairs joined, in any direction
    exact_pairs: int  # true pairs joined exactly as in the truth
    reversals: int  # true arcs found only in reverse


def count(tails: Nodes, heads: Nodes, graph: Matrix) -> Counts:
    """Count by looking up the true arcs in the estimate, so its density hardly matters."""
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
    """Distances and rates over entries, and the distance over pairs of nodes."""
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
    """Precision, recall and F1 of joined pairs of nodes, without direction."""
    return {
        "skeleton_precision": _ratio(counts.pair_hits, counts.pairs),
        "skeleton_recall": _ratio(counts.pair_hits, counts.true_pairs),
        "skeleton_f1": _ratio(2 * counts.pair_hits, counts.pairs + counts.true_pairs),
    }


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
