"""Refinement never worsens the score: its result is at least as good as its input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_examples import gate_examples, linear_table, random_dag, seeds

from cosmodag.graph.dags import is_dag
from cosmodag.search import Moments, choose_parents, refine_linear, search, search_non_gaussian
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import equal_variance_total, gaussian_total
from cosmodag.search.search_run import Run

TOTALS = {"gaussian": gaussian_total, "equal-variance": equal_variance_total}
scores = st.sampled_from(list(TOTALS))


def assert_forward(matrix, order):
    """Assert that all arcs point forward in the order, so that the graph is a DAG."""
    place = np.argsort(order)
    tails, heads = matrix.nonzero()
    assert np.all(place[tails] < place[heads])
    assert is_dag(matrix)


def consistent_knowledge(random, order):
    """Draw allowed arcs, required arcs and precedences that are consistent with the order."""
    d = len(order)
    place = np.argsort(order)
    forward = place[:, None] < place[None, :]
    required = forward & (random.random((d, d)) < 0.1)
    before = required | (forward & (random.random((d, d)) < 0.05))
    for v in range(d):
        before |= np.outer(before[:, v], before[v])
    return (random.random((d, d)) < 0.8) | required, required, before


@gate_examples(40)
@given(seeds, st.integers(2, 9), st.integers(3, 60), scores, st.floats(0, 10), st.booleans())
def test_an_order_search_is_never_worse_than_its_start(seed, d, rows, score, penalty, is_ruled):
    random = np.random.default_rng(seed)
    moments, order = Moments.of(linear_table(random, rows, d)), random.permutation(d)
    support, required, before = (
        consistent_knowledge(random, order) if is_ruled else (None, None, None)
    )
    start = choose_parents(
        moments, order, penalty=penalty, threads=1, constraints=Constraints(support, required)
    )
    found = search(
        ColumnScore.of(
            moments, score, penalty=penalty, constraints=Constraints(support, required, before)
        ),
        order,
        Run(random, restarts=2, threads=1),
    )
    assert found.start_score == TOTALS[score](moments, start, penalty)
    assert found.score >= found.start_score
    assert found.score == TOTALS[score](moments, found.graph, penalty)
    assert_forward(found.graph.matrix(), found.order)
    if is_ruled:
        arcs = found.graph.adjacency().toarray()
        assert arcs[required].all()
        assert not arcs[~support].any()
        place = np.argsort(found.order)
        assert (place[:, None] < place[None, :])[before].all()


@gate_examples(25)
@given(seeds, st.integers(2, 7), st.integers(5, 80), st.sampled_from(["prune", "order"]), scores)
def test_refining_is_never_worse_than_any_start_pruned(seed, d, rows, method, score):
    random = np.random.default_rng(seed)
    moments = Moments.of(linear_table(random, rows, d))
    starts = {f"start {place}": random.permutation(d) for place in range(3)}
    found = refine_linear(moments, starts, Run(random), method=method, score=score, penalty=1.0)
    for order in starts.values():
        assert found.total >= TOTALS[score](
            moments, choose_parents(moments, order, penalty=1.0), 1.0
        )
    for entry in found.report:
        assert entry["after"] >= entry["before"]
    assert found.total == max(entry["after"] for entry in found.report)
    assert_forward(found.weights, found.order)


@gate_examples(25)
@given(seeds, st.integers(2, 7), st.integers(3, 60))
def test_a_non_gaussian_search_is_never_worse_than_its_starts(seed, d, rows):
    random = np.random.default_rng(seed)
    X = linear_table(random, rows, d, "exponential")
    starts = {f"start {place}": random.permutation(d) for place in range(2)}
    found = search_non_gaussian(X, starts, Run(random))
    *names, last = [entry["start"] for entry in found.report]
    distinct = {tuple(order) for order in starts.values()}
    assert {*names} <= {*starts, "exogenous-first"}
    assert len(names) in (len(distinct), len(distinct) + 1)
    assert last.removesuffix(", searched") in names
    for entry in found.report:
        assert found.total >= entry["after"] >= entry["before"]
    assert np.isfinite(found.total)
    assert np.isfinite(found.weights.data).all()
    assert_forward(found.weights, found.order)


@gate_examples(60)
@given(seeds, st.integers(1, 7), st.integers(1, 9), st.floats(0, 1))
def test_a_consensus_is_acyclic_and_keeps_required_arcs(seed, d, count, threshold):
    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.assess.bootstrapping.resample_fits import Fit
    from cosmodag.data.knowledge import Bounds

    random = np.random.default_rng(seed)
    required = random_dag(random, d)
    bounds = Bounds.of(np.ones((d, d), bool), required, np.zeros((d, d), bool))
    free, bound = (
        BootstrapResult(list(range(d)), list(range(count)), "bootstrap", known)
        for known in (None, bounds)
    )
    for place in range(count):
        arcs = random_dag(random, d)
        for result in (free, bound):
            result.add(Fit(place, arcs, arcs, np.arange(d)))
    assert is_dag(free.consensus(threshold))
    assert (free.arc_probabilities[free.consensus(threshold)] >= threshold).all()
    assert is_dag(bound.consensus(threshold))
    assert bound.consensus(threshold)[required].all()
    assert free.arc_probabilities == pytest.approx(bound.arc_probabilities)
