"""Findings about time series: change points, wandering and repetition, with few false alarms."""

import numpy as np
import pytest
from scipy import stats

from cosmodag.data.diagnose import before_fit
from cosmodag.data.diagnose.series import (
    _levene,
    changing_series,
    periods,
    residuals_follow,
)

NAMES = ["a", "b", "c", "d"]


def autoregression(seed, n=300, d=4, memory=0.5):
    X = np.random.default_rng(seed).normal(size=(n, d))
    for t in range(1, n):
        X[t] += memory * X[t - 1]
    return X


def findings(X):
    return {one.name: one.columns for one in changing_series(X, list(range(4)), NAMES)}


def test_stationary_series_give_no_finding_and_one_changed_column_gives_one():
    seeds = range(15)
    assert [findings(autoregression(seed)) for seed in seeds] == [{}] * 15
    found = []
    for seed in seeds:
        X = autoregression(seed)
        X[150:, 2] += 3.0
        found.append(any("c" in columns for columns in findings(X).values()))
    assert sum(found) >= 13


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda X, t: X + np.cumsum(X), "unit_root"),
        (lambda X, t: X + 1.5 * (t > 0.4) * (t < 0.8), "changing_mean"),
        (lambda X, t: X * (1 + 3 * (t > 0.5)), "changing_variance"),
        (lambda X, t: X + 2 * np.sin(2 * np.pi * 300 * t / 12), "season"),
    ],
)
def test_what_changes_over_time_is_found_and_named(change, name):
    told = []
    for seed in range(5):
        X = autoregression(seed, memory=0.2)
        X[:, 1] = change(X[:, 1], np.arange(300) / 300)
        told.append("b" in findings(X).get(name, ()))
    assert sum(told) >= 4


def test_the_length_of_a_season_is_found():
    X = autoregression(0, n=365 * 3, d=1)
    X[:, 0] += 2 * np.sin(2 * np.pi * np.arange(len(X)) / 7)
    assert periods(X)[0] == pytest.approx(7, abs=0.05)


def test_rows_in_time_may_follow_one_another():
    X = autoregression(1)
    assert "rows_follow" in {one.name for one in before_fit(X, NAMES)}
    assert "rows_follow" not in {one.name for one in before_fit(X, NAMES, in_time=True)}


def test_the_finding_on_dependent_rows_names_lags():
    (found,) = [one for one in before_fit(autoregression(2), NAMES) if one.name == "rows_follow"]
    assert "--lags" in found.sentence
    assert "lags=1" in found.sentence


def test_residuals_with_memory_ask_for_more_lags():
    (found,) = residuals_follow(autoregression(3), [0, 1, 2, 3], NAMES, 1)
    assert found.name == "few_lags"
    assert "--lags" in found.sentence


def test_the_correlation_of_alternating_residuals_is_the_strongest_not_the_largest():
    (found,) = residuals_follow(autoregression(3, memory=-0.5), [0, 1, 2, 3], NAMES, 1)
    assert "strongest correlation -0." in found.sentence


def test_the_test_of_variances_is_levenes():
    random = np.random.default_rng(0)
    parts = [random.normal(scale=scale, size=(40, 2)) for scale in (1.0, 1.3, 0.8)]
    for v, found in enumerate(_levene(parts)):
        expected = stats.levene(*(part[:, v] for part in parts), center="median").pvalue
        assert found == pytest.approx(expected, rel=1e-9)
    assert _levene([np.ones((5, 1)), np.ones((5, 1))]) == [1.0]
