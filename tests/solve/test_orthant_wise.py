"""OWL-QN minimises smooth functions plus a one-norm, and stays inside their domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from cosmodag.solve.minimisers.full_batch import minimise_orthant_wise


@given(seed=st.integers(0, 2**16), price=st.floats(0.001, 2.0))
def test_it_solves_the_lasso(seed, price):
    random = np.random.default_rng(seed)
    n, m = 60, 12
    x = random.normal(size=(n, m))
    y = x @ (random.normal(size=m) * (random.random(m) < 0.4)) + 0.1 * random.normal(size=n)

    def smooth(w):
        residual = x @ w - y
        return 0.5 * float(residual @ residual) / n, x.T @ residual / n

    start = random.normal(size=m)
    found = minimise_orthant_wise(smooth, start, np.full(m, price), tolerance=1e-14)
    lasso = Lasso(alpha=price, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(x, y)
    # The search ends at slopes below 1e-5, and the curvature of this problem is about one.
    np.testing.assert_allclose(found.x, lasso.coef_, atol=1e-4)
    assert np.array_equal(found.x == 0, np.abs(found.x) < 1e-9)


def rosenbrock(x):
    bends = x[1:] - x[:-1] ** 2
    value = float(np.sum(100 * bends**2 + (1 - x[:-1]) ** 2))
    gradient = np.zeros_like(x)
    gradient[1:] += 200 * bends
    gradient[:-1] -= 400 * x[:-1] * bends + 2 * (1 - x[:-1])
    return value, gradient


def test_without_prices_it_is_plain_bfgs():
    found = minimise_orthant_wise(rosenbrock, np.zeros(6), np.zeros(6), tolerance=0.0)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
    assert found.iterations < 200


def test_it_is_no_worse_than_split_variables_with_bounds():
    prices = np.r_[np.full(4, 0.3), 0.0, 0.0]
    found = minimise_orthant_wise(rosenbrock, np.zeros(6), prices)

    def split(z):
        value, gradient = rosenbrock(z[:6] - z[6:])
        return (
            value + prices @ (z[:6] + z[6:]),
            np.concatenate([prices + gradient, prices - gradient]),
        )

    bounded = minimize(split, np.zeros(12), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 12)
    assert found.value == pytest.approx(bounded.fun, abs=1e-4)


def test_it_steps_back_from_the_border_of_the_domain():
    def barrier(x):
        """−log(1 − x) − x/2, defined for x < 1, with its minimum at −1."""
        inside = x[0] < 1
        return (float(-np.log(1 - x[0]) - x[0] / 2) if inside else np.inf), 1 / (1 - x) - 0.5

    found = minimise_orthant_wise(barrier, np.array([0.999]), np.zeros(1), tolerance=0.0)
    assert found.x[0] == pytest.approx(-1, abs=1e-3)


def test_it_ends_when_stopped_at_a_limit_or_at_a_minimum():
    calls = iter([False, False, True])
    found = minimise_orthant_wise(
        rosenbrock, np.zeros(6), np.zeros(6), is_stopped=lambda: next(calls)
    )
    assert found.iterations == 2
    assert minimise_orthant_wise(rosenbrock, np.zeros(6), np.zeros(6), max_iter=3).iterations == 3
    assert minimise_orthant_wise(rosenbrock, np.ones(6), np.zeros(6)).iterations == 0

    def wrong(x):
        return float(x @ x), -2 * x

    assert minimise_orthant_wise(wrong, np.ones(2), np.zeros(2)).x.tolist() == [1.0, 1.0]
