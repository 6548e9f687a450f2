"""Held-out log densities: against densities computed by hand, in units, and without far cells."""

import numpy as np
import pytest
from scipy import stats

from cosmodag.evidence.design import Entering
from cosmodag.evidence.held_out import Density, HeldOut
from cosmodag.evidence.row_folds import FOLDS, row_folds

LINES, CURVES = Density(Entering()), Density(Entering(form="curves"))
ARC = np.array([[False, True], [False, False]])
EMPTY = np.zeros((2, 2), bool)


def pair(n=600, slope=2.0, seed=0):
    x, e = np.random.default_rng(seed).normal(size=(2, n))
    return np.column_stack([x, slope * x + 0.5 * e])


def test_lines_have_the_density_of_a_regression_on_the_other_folds():
    X = pair()
    folds = row_folds(X)
    expected = np.zeros(len(X))
    for fold in range(FOLDS):
        seen, held = X[folds != fold], X[folds == fold]
        found = stats.linregress(seen[:, 0], seen[:, 1])
        residuals = seen[:, 1] - found.intercept - found.slope * seen[:, 0]
        fitted = found.intercept + found.slope * held[:, 0]
        expected[folds == fold] = stats.norm.logpdf(held[:, 1], fitted, residuals.std())
    floor = 0.99 * np.exp(expected)
    low, high = np.quantile(X[:, 1], [0.25, 0.75])
    floor += 0.01 * stats.cauchy.pdf(X[:, 1], np.median(X[:, 1]), (high - low) / 2)
    found = HeldOut(X).of_variable(1, np.array([0]), LINES)
    assert np.allclose(found, np.log(floor), atol=1e-4)


@pytest.mark.parametrize("density", [LINES, CURVES, Density(Entering(scores=True))])
def test_units_shift_every_density_alike_and_decide_nothing(density):
    X = pair()
    scaled = X * np.array([10.0, 0.01])
    gains = HeldOut(X).rows(ARC, density) - HeldOut(X).rows(EMPTY, density)
    others = HeldOut(scaled).rows(ARC, density) - HeldOut(scaled).rows(EMPTY, density)
    assert np.allclose(gains, others, atol=1e-6)
    shift = HeldOut(X).rows(ARC, density) - HeldOut(scaled).rows(ARC, density)
    assert np.allclose(shift, np.log(0.1), atol=1e-6)


def test_normal_scores_are_a_density_in_the_units_of_the_table():
    X = np.exp(pair())
    on_scores = HeldOut(X).rows(ARC, Density(Entering(scores=True))).mean()
    by_logs = (HeldOut(np.log(X)).rows(ARC, LINES) - np.log(X).sum(axis=1)).mean()
    assert abs(on_scores - by_logs) < 0.25
    assert HeldOut(X).rows(ARC, LINES).mean() < by_logs - 1


def test_noise_that_depends_on_the_cause_is_seen():
    x, e = np.random.default_rng(1).normal(size=(2, 800))
    X = np.column_stack([x, x + np.exp(0.8 * x) * e])
    held_out = HeldOut(X)
    gains = held_out.rows(ARC, Density(Entering(), "uneven")) - held_out.rows(ARC, LINES)
    assert gains.mean() > 5 * gains.std() / np.sqrt(len(X))
    scaled = held_out.noise(ARC, Density(Entering(), "uneven"))[:, 1]
    assert abs(np.corrcoef(np.abs(scaled), x)[0, 1]) < 0.2


def test_the_density_of_a_far_cell_is_bounded_below():
    X = pair()
    X[3, 1] = 200.0
    found = HeldOut(X).of_variable(1, np.array([0]), LINES)
    assert found.argmin() == 3
    assert -20 < found[3] < -10  # a normal density has its logarithm below -1000


def test_entries_that_were_set_are_not_used():
    X = pair()
    counted = np.ones(X.shape)
    counted[:100, 1] = 0
    X[:100, 1] = 50.0
    found = HeldOut(X, counted).of_variable(1, np.array([0]), LINES)
    assert (found[:100] == 0).all()
    assert found[100:].mean() == pytest.approx(stats.norm.logpdf(0, 0, 0.5) - 0.5, abs=0.1)
