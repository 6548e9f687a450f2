"""Parents that only the shape of the noise reveals."""

import numpy as np
import pytest

from cosmodag.search import choose_parents
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.entropy.weak_parents import _gains, scores_of, with_weak_parents
from cosmodag.search.moments import Moments
from cosmodag.search.non_gaussian import search_non_gaussian
from cosmodag.search.search_run import Run


def test_scores_are_those_of_known_densities():
    random = np.random.default_rng(0)
    r = random.laplace(size=4_000)
    found = scores_of(r, np.ones(4_000))
    away = np.abs(r) > 1
    assert np.corrcoef(found, np.sign(r))[0, 1] > 0.9
    assert (np.sign(found[away]) == np.sign(r[away])).mean() > 0.99


def test_rows_that_count_twice_are_two_rows():
    r = np.random.default_rng(0).gamma(2.0, size=300)
    counted = np.ones(300)
    counted[:100] = 2
    doubled = scores_of(np.concatenate([r, r[:100]]), np.ones(400))[:300]
    # Not exactly 1: the kernel width depends on the quartiles of the rows without their weights.
    assert np.corrcoef(scores_of(r, counted), doubled)[0, 1] > 0.999


def test_residuals_that_are_equal_up_to_rounding_but_for_a_few_have_scores():
    random = np.random.default_rng(0)
    r = np.append(1e-20 * random.normal(size=180), np.repeat([-1.0, 1.0], 10))
    assert np.isfinite(scores_of(r, np.ones(200))).all()


def weak_table(seed):
    """Exponential noise, and an arc 0 → 2 whose correlation is too small to be significant."""
    X = np.random.default_rng(seed).exponential(size=(200, 3))
    X[:, 1] += 0.8 * X[:, 0]
    X[:, 2] += 0.17 * X[:, 0]
    return X


def arcs(X, **options):
    found = search_non_gaussian(X, {}, Run.seeded(0), **options)
    return found.weights.toarray()


def test_a_weak_parent_is_found_and_its_weight_is_that_of_least_squares():
    missed, seen = 0, 0
    for seed in range(10):
        X = weak_table(seed)
        missed += arcs(X)[0, 2] == 0
        found = arcs(X, weak_parents=True)
        seen += found[0, 2] != 0
        for child in range(3):
            parents = np.flatnonzero(found[:, child])
            if len(parents):
                centred = X - X.mean(axis=0)
                own = np.linalg.lstsq(centred[:, parents], centred[:, child], rcond=None)[0]
                assert np.allclose(found[parents, child], own)
    assert missed >= 5
    assert seen >= 8


def test_chance_adds_almost_nothing():
    added = 0
    for seed in range(20):
        X = np.random.default_rng(seed).exponential(size=(200, 6))
        added += np.count_nonzero(arcs(X, weak_parents=True)) - np.count_nonzero(arcs(X))
    # Among 300 pairs, one in a thousand gains more than the penalty of log 200 by chance.
    assert added <= 3


@pytest.mark.parametrize("rule", ["support", "rows"])
def test_knowledge_and_interventions_hold(rule):
    X = weak_table(1)
    if rule == "support":
        support = np.ones((3, 3), bool)
        support[0, 2] = False
        assert arcs(X, weak_parents=True, constraints=Constraints(support))[0, 2] == 0
        return
    counted = np.ones(X.shape)
    counted[:100, 2] = 0
    garbled = X.copy()
    garbled[:100, 2] = np.random.default_rng(5).normal(size=100) * 9
    kept = arcs(X, weak_parents=True, counted=counted)
    given = arcs(garbled, weak_parents=True, counted=counted)
    assert ((kept != 0) == (given != 0))[:, 2].all()


def test_nothing_is_gained_where_parents_leave_no_residuals():
    basis, others = np.full((4, 1), 0.5), np.array([[1.0], [2.0], [3.0], [5.0]])
    with np.errstate(all="raise"):
        assert _gains(basis, np.zeros(4), others).tolist() == [0.0]


def test_a_stop_is_obeyed_before_every_variable():
    moments = Moments.of(weak_table(0)).with_rows(weak_table(0))
    order = np.arange(3)
    graph = choose_parents(moments, order, penalty=1e6)
    score = ColumnScore.of(moments, "non-gaussian", penalty=1.0)
    for allowed in range(3):
        calls = iter(range(allowed))
        stopped = with_weak_parents(
            score, order, graph, should_stop=lambda calls=calls: next(calls, 9) == 9
        )
        assert not stopped.toarray()[:, allowed:].any()
        assert next(calls, None) is None


def test_a_search_that_is_stopped_at_the_last_variable_says_so():
    def searched(allowed):
        calls.clear()

        def should_stop():
            calls.append(1)
            return len(calls) > allowed

        return search_non_gaussian(
            weak_table(0),
            {},
            Run(np.random.default_rng(0), should_stop=should_stop),
            weak_parents=True,
        )

    calls: list[int] = []
    assert not searched(np.inf).ended_early
    # The last call finds out whether the search was stopped, the one before asks for a variable.
    assert searched(len(calls) - 2).ended_early
