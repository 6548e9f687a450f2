"""All scores of an estimate in one dictionary."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag, topological_order
from cosmodag.graph.equivalence import class_distance
from cosmodag.metrics.matrices import (
    Matrix,
    aligned_matrix,
    arcs_of,
    is_graph,
    labelled_matrix,
    matched_graphs,
    stored_entries,
)
from cosmodag.metrics.scores import (
    Counts,
    adjustment_distances,
    arc_counts,
    hamming_scores,
    order_divergence,
    ranking_scores,
    skeleton_scores,
)

Names = Sequence[Hashable] | None


def evaluate(
    truth: Matrix,
    weights: Matrix,
    threshold: float | None = None,
    *,
    order: ArrayLike | None = None,
    names: Names = None,
    sid: bool = False,
) -> dict[str, float]:
    """Score an estimated weight matrix against the true graph, by the paper's metrics and others.

    Parameters
    ----------
    truth : array, data frame or sparse matrix, shape (d, d), or a graph
        The true graph, whose arcs are the non-zero entries; it must have no self-loops. A graph is
        a ``networkx.DiGraph``, a `Graph`, a fitted model, or the path of a file or of an output
        folder of ``cosmodag fit``.
    weights : array, data frame or sparse matrix, shape (d, d), or a graph
        The estimate W; signs do not matter. Variables are matched by label if both are labelled
        data frames or one is a graph, and by position otherwise. An array beside a graph has the
        labels x0, x1, … if these are the names of the graph, in whatever order, and otherwise takes
        the names by position. A model is scored by its graph; pass ``model.raw_weights_`` to score
        all weights, as the paper does.
    threshold : float, optional
        Arcs are the entries with |W_uv| strictly above the threshold. By default 0.3 for a matrix.
        Of a graph, whose arcs have been chosen, all arcs count by default, whatever their weights.
    order : sequence of d names or numbers, optional
        The learner's causal order (``causal_order_``), causes first, for ``order_divergence``. By
        default the topological order of the thresholded estimate (ties by lowest index).
    names : sequence of d names, optional
        Names of the nodes, for an order of names; by default the labels of a data frame.
    sid : bool
        Whether to compute the structural intervention distance and related distances as well. They
        take longer, and both graphs must be acyclic.

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
            Structural Hamming distance: number of pairs of nodes whose edges differ, plus
            self-loops; a reversed arc costs 1.
        ``shd_double``
            FP + FN, the paper's count, in which a reversed arc costs 2; d times ``nhd``.
        ``tpr``, ``fpr``, ``fdr``, ``precision``, ``f1``
            TP/E, FP/(d² − E), FP/(TP + FP), TP/(TP + FP) and 2TP/(2TP + FP + FN), where E is the
            number of true arcs and a reversed arc is one false positive and one false negative.
        ``skeleton_precision``, ``skeleton_recall``, ``skeleton_f1``
            Precision, recall and F1 of joined pairs of nodes, without directions and self-loops.
        ``reversed``
            Number of true arcs found only in reverse.
        ``shd_class``
            Structural Hamming distance between the essential graphs (CPDAGs) of the two: number of
            pairs of nodes whose edges differ; ``nan`` if either graph is cyclic.
        ``order_divergence``
            Number of true arcs that contradict the order; ``nan`` if the estimate is cyclic and
            `order` is not given.
        ``edges``, ``true_edges``
            The number of arcs in the thresholded estimate and in the truth.
        ``sid``, ``parent_aid``, ``ancestor_aid``
            Only with `sid`: see `adjustment_distances`.

    Raises
    ------
    DataError
        If the matrices are not square or differ in shape, the truth has a self-loop, a weight is
        not finite, the threshold is negative, the order is not a permutation of the nodes, or `sid`
        is set and a graph has a cycle.

    Examples
    --------
    >>> truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> weights = np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.0], [0.0, -1.2, 0.0]])
    >>> scores = evaluate(truth, weights)
    >>> scores["shd"], scores["shd_double"], scores["tpr"].__round__(3)
    (2, 3, 0.333)
    """
    is_chosen = threshold is None and is_graph(weights)
    threshold = 0.3 if threshold is None else threshold
    if is_graph(truth) or is_graph(weights):
        first, second, _ = matched_graphs(truth, weights)
        truth, weights = first.weights, second.weights
        names = first.names if names is None else names
    true_graph, estimate = labelled_matrix(truth, "truth"), labelled_matrix(weights, "weights")
    labels = true_graph.names or estimate.names
    truth, weights = true_graph.matrix, aligned_matrix(true_graph, estimate)
    if np.any(truth.diagonal()):
        raise DataError("The truth has a self-loop, which a DAG cannot have: remove it.")
    tails, heads = arcs_of(truth)
    if not threshold >= 0:
        raise DataError(f"threshold is {threshold}: it must be zero or more.")
    graph = stored_entries(weights) if is_chosen else abs(weights) > threshold
    counts = arc_counts(tails, heads, graph)
    return {
        **ranking_scores(tails, heads, weights),
        **hamming_scores(counts),
        **skeleton_scores(counts),
        **_scores_of_dags(truth, graph, counts, order, labels if names is None else names),
        "edges": counts.edges,
        "true_edges": counts.true_edges,
        **(adjustment_distances(truth, graph) if sid else {}),
    }


def _scores_of_dags(
    truth: Matrix, graph: Matrix, counts: Counts, order: ArrayLike | None, names: Names
) -> dict[str, float]:
    """Scores that need an order of the estimate, or two acyclic graphs."""
    # Self-loops and two-cycles are detected from the counts, without sorting a dense estimate.
    acyclic = counts.edges == counts.pairs
    if acyclic:
        # With sparse matrices, the following code visits only the arcs, not all d² entries.
        truth, graph = sparse.csr_array(truth), sparse.csr_array(graph)
        acyclic = is_dag(graph)
    if order is None and acyclic:
        order, names = topological_order(graph), None
    return {
        "shd_class": class_distance(truth, graph) if acyclic and is_dag(truth) else float("nan"),
        "order_divergence": (
            float("nan") if order is None else order_divergence(truth, order, names)
        ),
    }
