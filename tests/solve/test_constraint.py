"""Constraints as used by solvers: values, gradients, and agreement of the two forms of each."""

import jax
import numpy as np
import pytest

from cosmodag.graph.constraint import CONSTRAINTS, POLYNOMIAL

EVERY = {**CONSTRAINTS, "polynomial": POLYNOMIAL}
every = pytest.mark.parametrize("name", EVERY)


def cyclic(d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.8, 0.8, (d, d)) * (1 - np.eye(d))


@every
def test_gradients_are_those_of_the_values(name):
    weights = cyclic()
    value, gradient = EVERY[name].evaluator()(weights)
    assert value > 0
    # Central differences: truncation of order step², rounding of order 1e-16 / step.
    step = 1e-6
    for u, v in [(0, 1), (3, 2), (5, 0)]:
        move = np.zeros_like(weights)
        move[u, v] = step
        up, down = EVERY[name].value(weights + move), EVERY[name].value(weights - move)
        assert gradient[u, v] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7)


@every
def test_zero_on_dags(name):
    # The offset keeps the spectral radius of a path of five arcs near 1e-12^(1/6) = 0.01.
    slack = 0.05 if name == "spectral" else 1e-12
    assert EVERY[name].value(np.triu(cyclic(), 1)) <= slack


@every
def test_both_forms_agree(name):
    weights = cyclic(seed=1)
    with jax.enable_x64(True):
        value = EVERY[name].of(jax.numpy.asarray(weights) ** 2)
    assert float(value) == pytest.approx(EVERY[name].value(weights), rel=1e-9)


def test_power_rounds_continue_from_their_state():
    weights = cyclic(seed=2)
    evaluate = CONSTRAINTS["spectral"].evaluator()
    values = [evaluate(weights)[0] for _ in range(20)]
    exact = np.abs(np.linalg.eigvals(weights**2)).max()
    # Fifty rounds and then five at a time: the error falls to the one of the offset.
    assert values[-1] == pytest.approx(exact, rel=1e-9)
