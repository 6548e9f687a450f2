"""Targets of regimes: the score, the search, and the rank-based evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.data.regime_table import CHANGES
from cosmodag.search.constraints import Constraints
from cosmodag.search.moments import Moments
from cosmodag.search.regimes.equation import (
    RankEvidence,
    RegimeMoments,
    RegimeScore,
    parents_of,
)
from cosmodag.search.regimes.finding import climb, find_targets, regime_score

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)


def chain(seed=0, plain=300, rows=100, change="noise", noise=None):
    """a → b → c; b changes in regime 1, and c in regime 2."""
    random = np.random.default_rng(seed)
    draw = noise or (lambda n: random.normal(size=n))
    blocks = []
    for regime, n in enumerate((plain, rows, rows)):
        weight = {"weights": -2.0, "slopes": -2.0, "cut": 0.0}.get(change, 1.0)
        weight = weight if regime == 1 else 1.0
        factor = 3.0 if regime == 1 and change in ("noise", "weights") else 1.0
        a = draw(n)
        b = weight * a + factor * 0.7 * draw(n)
        c = -b + draw(n) + 2.0 * (regime == 2)
        blocks.append(np.column_stack([a, b, c]))
    labels = np.repeat(np.arange(3), [plain, rows, rows])
    targets = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]], bool)
    return np.vstack(blocks), labels, targets


def free(targets):
    may_change = np.ones_like(targets)
    may_change[0] = False
    return np.zeros_like(targets), may_change


@pytest.mark.parametrize("change", CHANGES)
def test_targets_and_graph_are_found_together(change):
    X, labels, targets = chain(change=change)
    found = find_targets(X, labels, *free(targets))
    assert np.array_equal(found.targets, targets)
    assert np.array_equal(found.arcs, CHAIN)


@pytest.mark.parametrize("change", CHANGES)
def test_the_kind_of_a_change_is_named(change):
    X, labels, targets = chain(change=change)
    score = regime_score(X, labels, *free(targets))
    kinds = score.changes(1, parents_of(CHAIN, 1), targets[:, 1])
    assert CHANGES[kinds[1]] == change


def test_a_turned_arc_needs_more_targets_and_scores_less():
    X, labels, targets = chain(change="weights")
    score = regime_score(X, labels, *free(targets))
    turned = CHAIN.copy()
    turned[0, 1], turned[1, 0] = False, True
    right, wrong = score.of_graph(CHAIN), score.of_graph(turned)
    assert wrong[1].sum() > right[1].sum()
    assert wrong[0] < right[0]
    assert np.array_equal(climb(score, turned), CHAIN)


def brute_force(score: RegimeScore, v: int, parents: frozenset[int]) -> float:
    """Best score over all sets of targets, from the definition."""
    moments, k = score.moments, len(score.stated)
    best = -np.inf
    for code in range(2**k - 1):  # at least one regime shares the equation
        own = [r for r in range(k) if code >> r & 1]
        if any(not score.open[r, v] for r in own):
            continue
        fixed = RegimeScore(moments, score.stated.copy(), np.zeros_like(score.open), 0.0, 0.0)
        fixed.stated[:, v] = False
        fixed.stated[own, v] = True
        total = fixed.local(v, parents).score - score.price * len(own)
        best = max(best, total - score.penalty * len(parents))
    return best


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(), (0,), (0, 2)]))
def test_the_local_score_is_the_best_over_targets(seed, parents):
    # Single additions and removals need not find the best of all sets, but they do if changes are
    # as clear as these.
    X, labels, targets = chain(seed, plain=60, rows=40)
    score = regime_score(X, labels, *free(targets))
    found = score.local(1, frozenset(parents)).score
    best = brute_force(score, 1, frozenset(parents))
    assert found <= best + 1e-6
    assert found >= best - 3.0


def squares(X, v, parents=()):
    """Residual variance of a regression with an intercept, and its weights."""
    columns = np.column_stack([X[:, list(parents)], np.ones(len(X))])
    weights = np.linalg.lstsq(columns, X[:, v], rcond=None)[0]
    return float(np.mean((X[:, v] - columns @ weights) ** 2)), weights[:-1]


def own_equation(X, v, parents, weights, variance):
    """Penalised likelihood of the best separate equation for the rows of a regime."""
    n, p, price = len(X), len(parents), 0.5 * np.log(len(X))
    rest = X[:, v] - X[:, list(parents)] @ weights
    values = [-0.5 * n * np.log(X[:, v].var()) - 2 * price]
    values.append(-0.5 * n * np.log(rest.var()) - 2 * price)
    if p:
        own, _ = squares(X, v, parents)
        values.append(-0.5 * n * np.log(own) - (p + 2) * price)
        same = np.log(variance) + own / variance - 1
        values.append(-0.5 * n * same - (p + 1) * price)
    return max(values)


@pytest.mark.parametrize("parents", [(), (0,), (0, 2)])
@pytest.mark.parametrize("change", ["noise", "slopes"])
def test_the_score_is_that_of_its_definition(parents, change):
    X, labels, targets = chain(change=change, rows=40)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    score = regime_score(X, labels, targets, np.zeros_like(targets))
    shared = X[labels != 1]
    variance, weights = squares(shared, 1, parents)
    expected = -0.5 * len(shared) * np.log(variance) - score.penalty * len(parents)
    expected += own_equation(X[labels == 1], 1, parents, weights, variance)
    assert score.local(1, frozenset(parents)).score == pytest.approx(expected)


def test_scores_of_a_column_are_those_of_each_set_of_parents():
    X, labels, targets = chain(change="weights")
    score = regime_score(X, labels, *free(targets))
    given, allowed = np.array([True, False, False]), np.array([True, True, True])
    scores = score.toggled(1, given, allowed)
    assert scores[0] == score.local(1, frozenset()).score
    assert scores[2] == score.local(1, frozenset({0, 2})).score
    assert scores[1] == -np.inf


def test_regimes_joined_give_the_moments_of_their_rows():
    X, labels, targets = chain()
    X[labels != 1, 0] = 3.0  # constant among the rows that are used for variable 1
    joined = RegimeMoments.of(X, labels, 3).without(targets)
    direct = Moments.of(X, (~targets[labels]).astype(float))
    for v in range(3):
        first, second = joined.group[v], direct.group[v]
        assert joined.rows[first] == direct.rows[second]
        assert np.allclose(joined.correlations[first], direct.correlations[second])


def test_units_do_not_matter():
    X, labels, targets = chain()
    score, scaled = (
        regime_score(X * factor + offset, labels, *free(targets))
        for factor, offset in ((1.0, 0.0), (np.array([1e-3, 5.0, 1e4]), 7.0))
    )
    assert score.of_graph(CHAIN)[0] == pytest.approx(scaled.of_graph(CHAIN)[0])


def test_evidence_does_not_depend_on_the_shape_of_the_noise():
    random = np.random.default_rng(0)
    false = 0
    for _ in range(40):
        X = random.exponential(size=(500, 1)) ** 1.5
        labels = np.repeat(np.arange(5), 100)
        gains = RankEvidence(X, labels).gains(0, np.array([], int), np.zeros(5, bool))
        false += int((gains > 0).sum())
    assert false <= 6  # of 200; without ranks, about 80 gains are positive


def test_evidence_for_a_change_grows_with_its_rows():
    few, many = (
        RankEvidence(X, labels).gain(1, np.array([0]), targets[:, 1], 1)
        for X, labels, targets in (chain(rows=30), chain(rows=200))
    )
    assert 0 < few < many


def test_a_value_set_to_a_constant_is_a_target():
    X, labels, targets = chain()
    X[labels == 1, 1] = 4.0
    X[labels == 1, 2] = -4.0 + np.random.default_rng(1).normal(size=100)
    found = find_targets(X, labels, *free(targets))
    assert np.array_equal(found.targets, targets)


def test_stated_targets_stay_without_evidence():
    X, labels, targets = chain()
    stated = np.zeros_like(targets)
    stated[2, 0] = True
    found = find_targets(X, labels, stated, np.zeros_like(stated))
    assert np.array_equal(found.targets, stated)


def test_constraints_on_the_graph_are_obeyed():
    X, labels, targets = chain()
    support = ~np.eye(3, dtype=bool)
    support[0, 1] = False
    required = np.zeros((3, 3), bool)
    required[0, 2] = True
    before = np.zeros((3, 3), bool)
    before[2, 1] = True
    found = find_targets(
        X, labels, *free(targets), constraints=Constraints(support, required, before | required)
    )
    assert not found.arcs[0, 1]
    assert found.arcs[0, 2]
    assert not found.arcs[1, 2]


def test_moments_add_up_to_those_of_the_table():
    X, labels, _ = chain()
    moments = RegimeMoments.of(X, labels, 3)
    centred = (X - X.mean(axis=0)) / X.std(axis=0)
    raw = moments.products + moments.rows[:, None, None] * (
        moments.means[:, :, None] * moments.means[:, None, :]
    )
    assert np.allclose(raw.sum(axis=0), centred.T @ centred)
