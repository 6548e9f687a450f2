"""Identities that the scores of any two graphs satisfy."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from property_examples import gate_examples, random_dag, seeds
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from cosmodag.graph.equivalence import class_distance, essential_graph
from cosmodag.metrics import evaluate
from needs_gadjid import needs_gadjid


@st.composite
def problems(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any]]:
    """A true graph without self-loops, possibly cyclic, and weights with many ties."""
    nodes = draw(st.integers(1, 7))
    truth = draw(arrays(np.bool_, (nodes, nodes)))
    np.fill_diagonal(truth, False)
    weights = draw(arrays(np.float64, (nodes, nodes), elements=st.integers(-6, 6).map(float)))
    return truth, weights / 10


@gate_examples(60)
@given(problems())
def test_areas_agree_with_scikit_learn(problem: tuple[NDArray[Any], NDArray[Any]]) -> None:
    truth, weights = problem
    scores = evaluate(truth, weights)
    off_diagonal = ~np.eye(len(truth), dtype=bool)
    if not truth.any():
        assert all(
            math.isnan(scores[key]) for key in ("auc", "auc_off_diagonal", "average_precision")
        )
        return
    magnitudes = np.abs(weights)
    # Both sides sum the same few rationals in different orders, so they differ by rounding only.
    assert scores["auc"] == pytest.approx(
        roc_auc_score(truth.ravel(), magnitudes.ravel()), abs=1e-12
    )
    assert scores["average_precision"] == pytest.approx(
        average_precision_score(truth.ravel(), magnitudes.ravel()), abs=1e-12
    )
    if truth[off_diagonal].all():
        assert math.isnan(scores["auc_off_diagonal"])
    else:
        assert scores["auc_off_diagonal"] == pytest.approx(
            roc_auc_score(truth[off_diagonal], magnitudes[off_diagonal]), abs=1e-12
        )


@gate_examples(60)
@given(problems())
def test_sparse_and_dense_estimates_score_the_same(
    problem: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    truth, weights = problem
    stored = sparse.coo_array(np.ones_like(weights)).tocsr()
    stored.data = weights.ravel().copy()  # zeros are stored explicitly
    dense = evaluate(truth, weights)
    for estimate in (sparse.csc_array(weights), stored):
        assert evaluate(sparse.csr_array(truth), estimate) == pytest.approx(dense, nan_ok=True)


@gate_examples(60)
@given(problems(), st.randoms(use_true_random=False))
def test_renaming_the_nodes_changes_no_score(
    problem: tuple[NDArray[Any], NDArray[Any]], random: Any
) -> None:
    truth, weights = problem
    names = np.array(random.sample(range(len(truth)), len(truth)))
    renamed = np.ix_(names, names)
    order = np.arange(len(truth))
    before = evaluate(truth, weights, order=order)
    after = evaluate(truth[renamed], weights[renamed], order=np.argsort(names))
    assert after == pytest.approx(before, nan_ok=True)


@gate_examples(60)
@given(problems())
def test_hamming_distances_count_entries_and_pairs(
    problem: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    truth, weights = problem
    wrong = truth != (np.abs(weights) > 0.3)
    scores = evaluate(truth, weights)
    assert scores["shd_double"] == wrong.sum()
    assert scores["nhd"] == wrong.sum() / len(truth)
    assert scores["shd"] == np.triu(wrong | wrong.T).sum()


@gate_examples(60)
@given(problems())
def test_scores_of_counts_are_those_of_one_table_of_counts(
    problem: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    """Precision, recall, F1, FDR, FPR and the distances are functions of TP, FP and FN."""
    truth, weights = problem
    found = np.abs(weights) > 0.3
    right, wrong, missed = (found & truth).sum(), (found & ~truth).sum(), (truth & ~found).sum()
    scores = evaluate(truth, weights)
    assert (scores["edges"], scores["true_edges"]) == (found.sum(), truth.sum())
    assert scores["shd"] <= scores["shd_double"] == wrong + missed <= 2 * scores["shd"]
    assert 0 <= scores["reversed"] <= min(wrong, missed)
    if found.any():
        assert scores["precision"] == pytest.approx(right / found.sum())
        assert scores["fdr"] == pytest.approx(1 - scores["precision"])
    if truth.any():
        assert scores["tpr"] == pytest.approx(right / truth.sum())
        assert scores["f1"] == pytest.approx(2 * right / (2 * right + wrong + missed))
    assert scores["fpr"] == pytest.approx(wrong / (truth.size - truth.sum()))


@gate_examples(60)
@given(problems(), st.floats(0.1, 10), st.floats(0.1, 3))
def test_areas_depend_on_the_ranking_alone(
    problem: tuple[NDArray[Any], NDArray[Any]], factor: float, power: float
) -> None:
    """Increasing functions of |W| keep the areas; reversing the ranking gives 1 − AUC."""
    truth, weights = problem
    names = ("auc", "auc_off_diagonal", "average_precision")
    before = evaluate(truth, weights)
    after = evaluate(truth, -factor * np.abs(weights) ** power)
    for name in names:
        assert after[name] == pytest.approx(before[name], abs=1e-12, nan_ok=True)
    mirrored = evaluate(truth, 1.0 - np.abs(weights))
    assert mirrored["auc"] == pytest.approx(1 - before["auc"], abs=1e-12, nan_ok=True)


@needs_gadjid
@gate_examples(60)
@example(1, 0)  # gadjid panicked once
@given(st.integers(1, 8), seeds)
def test_distances_of_dags_are_metrics(d: int, seed: int) -> None:
    """Zero for equal graphs, symmetric, and obeying the triangle inequality."""
    random = np.random.default_rng(seed)
    one, other, third = (random_dag(random, d).astype(float) for _ in range(3))
    home = evaluate(one, one, sid=True)
    for name in ("shd", "shd_double", "nhd", "shd_class", "sid", "order_divergence", "fpr"):
        assert home[name] == 0
    for name in ("shd", "shd_double", "shd_class"):
        way = [evaluate(a, b)[name] for a, b in ((one, other), (other, third), (one, third))]
        assert way[2] <= way[0] + way[1]
        assert evaluate(other, one)[name] == way[0]
    assert evaluate(one, other)["shd_class"] == class_distance(one, other)
    assert (class_distance(one, other) == 0) == np.array_equal(
        essential_graph(one), essential_graph(other)
    )
