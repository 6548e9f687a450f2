"""Two populations are found whatever the shape of the noise, and skewed noise is none."""

import numpy as np
import pytest

from cosmodag.data.diagnose import before_fit
from cosmodag.data.diagnose.mixtures import mixture_advantage, shifted_rows

NAMES = list("abcde")


def residuals(seed, shape="normal"):
    random = np.random.default_rng(seed)
    return random.normal(size=(1000, 8)) if shape == "normal" else random.laplace(size=(1000, 8))


@pytest.mark.parametrize(("shape", "shift"), [("normal", 1.2), ("laplace", 2.2)])
def test_a_fifth_of_shifted_rows_is_found(shape, shift):
    X = residuals(0, shape)
    assert shifted_rows(X, any_shape=True) == []
    X[::5] += shift
    (found,) = shifted_rows(X, any_shape=True)
    assert (found.name, found.severity) == ("several_populations", "warning")
    assert 0.1 < mixture_advantage(X)[1] < 0.35


def test_dependent_skewed_residuals_are_not_tested_in_a_graph_chosen_by_variances():
    noise = np.random.default_rng(1).exponential(size=(1000, 4))
    turned = noise @ np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    assert shifted_rows(turned, any_shape=True) != []
    assert shifted_rows(turned, any_shape=False) == []


def names_found(X):
    return {one.name: one.severity for one in before_fit(X, NAMES[: X.shape[1]])}


def test_grouped_and_sorted_files_are_a_notice_and_series_a_warning():
    random = np.random.default_rng(3)
    group = random.integers(0, 4, 400)
    X = random.normal(size=(400, 4))
    X[:, 3] = group
    X[:, 0] += 2 * (group == 1)
    X[:, 1] += X[:, 0]
    grouped = names_found(X[np.argsort(group)])
    assert grouped["sorted_rows"] == "notice"
    assert "rows_follow" not in grouped
    for row in range(1, 400):
        X[row, :3] += 0.6 * X[row - 1, :3]
    X[:, 3] = np.arange(400) // 100  # years of a series
    assert names_found(X)["rows_follow"] == "warning"
