"""Counts from which the scores of a thresholded graph are computed."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cosmodag.metrics.matrices import Matrix, Nodes
from cosmodag.metrics.ranking import entries_at

__all__ = ["Counts", "count", "hamming_scores", "skeleton_scores"]


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
