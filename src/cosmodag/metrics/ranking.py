"""Ranking of the true arcs by |W|: areas under the ROC and precision-recall curves.

Only the scores of the true arcs must be ranked, so the d² entries are sorted tile by tile and never
merged; an estimate with few large entries needs hardly any sorting.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["entries_at", "ranking_scores"]

Counts = NDArray[np.int64]

TILE = 1 << 18  # entries sorted at a time: about what a core's cache holds


class _Ranks(NamedTuple):
    """For each distinct score of true arcs, ascending: number of entries below and equal to it."""

    below: Counts
    equal: Counts


def ranking_scores(tails: Counts, heads: Counts, weights: Any) -> dict[str, float]:
    """Return the area under the ROC curve, with and without the diagonal, and average precision.

    Entries of a dense or CSR matrix are ranked by absolute value. No true arc is a self-loop.
    Scores are ``nan`` without true arcs, or without other entries.

    Examples
    --------
    >>> ranking_scores(np.array([0]), np.array([1]), np.array([[0.1, 0.5], [0.5, 0.0]]))["auc"]
    0.8333333333333334
    """
    nodes = weights.shape[0]
    scores = np.abs(entries_at(weights, tails, heads).astype(np.float64))
    levels, counts = np.unique(scores, return_counts=True)
    if not levels.size:
        return dict.fromkeys(("auc", "auc_off_diagonal", "average_precision"), float("nan"))
    hits = _Ranks(np.cumsum(counts) - counts, counts)
    every = _rank(_tiles(weights), levels, nodes**2)
    diagonal = _rank(iter([np.abs(weights.diagonal())]), levels, nodes)
    off_diagonal = _Ranks(every.below - diagonal.below, every.equal - diagonal.equal)
    precision = (scores.size - hits.below) / (nodes**2 - every.below)
    return {
        "auc": _auc(hits, every, nodes**2),
        "auc_off_diagonal": _auc(hits, off_diagonal, nodes**2 - nodes),
        "average_precision": float(counts @ precision) / scores.size,
    }


def entries_at(matrix: Any, rows: Counts, columns: Counts) -> NDArray[Any]:
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


def _tiles(weights: Any) -> Iterator[NDArray[Any]]:
    entries = weights.data if sparse.issparse(weights) else weights.reshape(-1)
    for start in range(0, entries.size, TILE):
        yield np.abs(entries[start : start + TILE])
