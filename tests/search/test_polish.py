"""Polished parents are nearly optimal if there are few variables, and never worse than before."""

from itertools import chain, combinations

import numpy as np
import pytest

from cosmodag import simulate
from cosmodag.search import Moments, choose_parents
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import SCORES, default_penalty, gaussian_total
from cosmodag.search.polish import polish


def best_total(moments, order, penalty):
    """Total score of the best parents of every variable, by trying each subset."""
    correlations, total = moments.correlations[0], 0.0
    for place, v in enumerate(order):
        earlier = list(order[:place])
        subsets = chain.from_iterable(combinations(earlier, k) for k in range(place + 1))
        total += max(score_of(correlations, v, list(s), moments.rows[0], penalty) for s in subsets)
    return total


def score_of(correlations, v, parents, rows, penalty):
    left = 1.0
    if parents:
        among, along = correlations[np.ix_(parents, parents)], correlations[parents, v]
        left -= along @ np.linalg.solve(among, along)
    return -rows / 2 * np.log(left) - penalty * len(parents)


@pytest.mark.parametrize("seed", range(6))
def test_few_variables_get_nearly_their_best_parents(seed):
    data = simulate.load("n60_d7_ER3_gauss", seed=seed)
    moments, order = Moments.of(data.X), np.random.default_rng(seed).permutation(7)
    penalty = default_penalty(60, 7)
    first = choose_parents(moments, order, penalty=penalty)
    found = polish(moments, order, first, score="gaussian", penalty=penalty)
    # Not always optimal, but within half the penalty of an arc.
    missed = best_total(moments, order, penalty) - gaussian_total(moments, found, penalty)
    assert -1e-6 < missed < penalty / 2


@pytest.mark.parametrize("score", ["gaussian", "equal-variance"])
@pytest.mark.parametrize("is_counted", [False, True])
def test_it_obeys_is_never_worse_and_has_least_squares_weights(score, is_counted):
    data = simulate.load("n80_d15_ER4_gauss", seed=4)
    random = np.random.default_rng(0)
    counted = random.random((80, 15)) < 0.7 if is_counted else None
    moments, order = Moments.of(data.X, counted), random.permutation(15)
    places = np.argsort(order)
    support = random.random((15, 15)) < 0.6
    required = np.zeros((15, 15), bool)
    required[order[0], order[5]] = required[order[3], order[9]] = True
    support |= required
    given = {"constraints": Constraints(support, required)}
    first = choose_parents(moments, order, penalty=4.0, **given)
    found = polish(moments, order, first, score=score, penalty=4.0, **given)
    arcs = found.adjacency().toarray()
    assert SCORES[score].total(moments, found, 4.0) >= SCORES[score].total(moments, first, 4.0)
    assert not (arcs & ~support).any()
    assert not (required & ~arcs).any()
    assert np.all(places[:, None][np.nonzero(arcs)[0], 0] < places[np.nonzero(arcs)[1]])
    weights = found.matrix().toarray()
    for v in range(15):
        rows = slice(None) if counted is None else counted[:, v]
        parents = np.flatnonzero(arcs[:, v])
        table = data.X[rows] - data.X[rows].mean(axis=0)
        expected = np.linalg.lstsq(table[:, parents], table[:, v])[0]
        np.testing.assert_allclose(weights[parents, v], expected, rtol=1e-6, atol=1e-8)


def test_constant_and_copied_columns_do_no_harm():
    random = np.random.default_rng(0)
    x = random.normal(size=50)
    table = np.column_stack([x, x, np.ones(50), x + random.normal(size=50)])
    moments, order = Moments.of(table), np.arange(4)
    required = np.zeros((4, 4), bool)
    required[2, 3] = True
    first = choose_parents(moments, order, constraints=Constraints(required=required))
    found = polish(
        moments,
        order,
        first,
        score="gaussian",
        penalty=4.0,
        constraints=Constraints(required=required),
    )
    assert found.adjacency().toarray()[2, 3]
    assert np.isfinite(found.weights).all()


def test_a_copied_column_does_not_prevent_the_others_from_better_parents():
    data = simulate.load("n200_d30_ER4_gauss", seed=1)
    order, gains = np.argsort(data.X.var(axis=0)), []
    for table, on in [(data.X, order), (np.column_stack([data.X, data.X[:, 0]]), [*order, 30])]:
        moments = Moments.of(table)
        first = choose_parents(moments, on, penalty=5.3)
        found = polish(moments, np.array(on), first, score="gaussian", penalty=5.3)
        gains.append(gaussian_total(moments, found, 5.3) - gaussian_total(moments, first, 5.3))
    assert gains[0] > 1
    assert gains[1] == pytest.approx(gains[0])
