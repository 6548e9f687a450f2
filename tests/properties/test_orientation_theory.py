"""The paper's lemmas and theorems, each as a property of random graphs and priorities.

Tests that need exact differences use priorities that are multiples of 1/1024, whose sums and
differences are exact in floating point.
"""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from property_examples import gate_examples, hard_orientation, seeds, smooth_orientation
from scipy.special import expit

from cosmodag.graph.closed_forms import exponential_value_and_gradient
from cosmodag.graph.dags import is_dag
from cosmodag.model.orientation import (
    log_acyclicity_bound,
    priorities_of,
    temperature_for,
)

sizes = st.sampled_from([1, 2, 3, 5, 8, 12])  # few, because every shape is compiled
shifts = st.floats(1e-6, 1e3)
ratios = st.floats(1e-3, 50)  # ε / t
exact_numbers = st.integers(-4096, 4096).map(lambda k: k / 1024)


def acyclicity_of(orientation: np.ndarray) -> float:
    """h(S) = tr e^S − d, accurate to a few rounding errors, because nothing large is subtracted."""
    return exponential_value_and_gradient(np.sqrt(orientation))[0]


def exact_priorities(d: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, d, elements=exact_numbers)


def random_dag(d: int, seed: int) -> np.ndarray:
    """Draw a DAG with a random density and order, and weights from 1e-300 to 1e3 in size."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(d, d)) * 10.0 ** rng.uniform(-300, 3, size=(d, d))
    weights *= np.triu(rng.random((d, d)) < rng.random(), k=1)
    shuffled = rng.permutation(d)
    return weights[np.ix_(shuffled, shuffled)]


@given(sizes, seeds, shifts)
def test_lemma_1_every_dag_has_priorities(d: int, seed: int, shift: float) -> None:
    weights = random_dag(d, seed)
    with jax.enable_x64(True):
        priorities, strengths = priorities_of(weights, shift)
        rebuilt = strengths * hard_orientation(priorities, shift)
    np.testing.assert_array_equal(rebuilt, weights)


@given(sizes.flatmap(exact_priorities), seeds, shifts)
def test_lemma_1_all_priorities_give_a_dag(p: np.ndarray, seed: int, shift: float) -> None:
    strengths = np.random.default_rng(seed).normal(size=(len(p), len(p)))
    assert is_dag(strengths * hard_orientation(p, shift))


@given(sizes.flatmap(exact_priorities), st.integers(1, 2048).map(lambda k: k / 1024))
def test_theorem_1_limit_of_the_smooth_orientation(p: np.ndarray, shift: float) -> None:
    """Off the diagonal, the limit is 1, 1/2 or 0 above, at or below the shift."""
    differences = p[None, :] - p[:, None]
    limit = np.where(differences > shift, 1, np.where(differences == shift, 0.5, 0))
    with jax.enable_x64(True):
        # The distance from the shift is at least 1/1024, so σ is within e^{−97} of its limit.
        cold = smooth_orientation(p, 1e-5, shift)
    np.testing.assert_allclose(cold, limit, rtol=1e-15, atol=1e-40)


@given(sizes, seeds, shifts)
def test_theorem_1_every_dag_is_a_limit(d: int, seed: int, shift: float) -> None:
    """The step between priorities exceeds ε, so that the limit is 1 on every arc."""
    weights = random_dag(d, seed)
    with jax.enable_x64(True):
        priorities, strengths = priorities_of(weights, shift)
        # The step may exceed ε by a single rounding error; t is far below that.
        limit = strengths * smooth_orientation(priorities, 1e-22 * shift, shift)
    np.testing.assert_array_equal(limit, weights)


@given(
    sizes.flatmap(lambda d: arrays(np.float64, d, elements=st.floats(-30, 30))),
    st.floats(1e-3, 1e2),
    ratios,
)
def test_theorem_2_the_bound_holds(p: np.ndarray, spread: float, ratio: float) -> None:
    """With the paper's diagonal σ(−ε/t), hence also with a zero diagonal; at temperature 1."""
    with jax.enable_x64(True):
        orientation = np.array(smooth_orientation(spread * p, 1.0, ratio))
    without_diagonal = acyclicity_of(orientation)
    np.fill_diagonal(orientation, expit(-ratio))
    acyclicity = acyclicity_of(orientation)
    bound = log_acyclicity_bound(1.0, ratio, len(p))
    assert without_diagonal <= acyclicity
    assert np.log(acyclicity) <= bound + 1e-12  # attained by equal priorities, up to rounding


@given(sizes, ratios)
def test_theorem_2_equal_priorities_reach_the_bound(d: int, ratio: float) -> None:
    acyclicity = acyclicity_of(np.full((d, d), expit(-ratio)))
    assert np.log(acyclicity) == pytest.approx(log_acyclicity_bound(1.0, ratio, d), abs=1e-12)


@given(sizes.flatmap(exact_priorities), st.floats(-300, 3), st.floats(1e-4, 1e2))
def test_temperature_for_keeps_its_promise(p: np.ndarray, exponent: float, shift: float) -> None:
    tolerance = 10.0**exponent
    temperature = min(temperature_for(tolerance, shift, len(p)), 1e6)
    with jax.enable_x64(True):
        orientation = np.asarray(smooth_orientation(p, temperature, shift))
    assert acyclicity_of(orientation) <= tolerance * (1 + 1e-12)


@given(sizes.flatmap(exact_priorities), ratios, st.data())
def test_appendix_the_product_along_a_closed_walk_is_bounded(
    p: np.ndarray, ratio: float, data: st.DataObject
) -> None:
    """The product of S along a closed walk of n arcs is at most αⁿ."""
    walk = data.draw(st.lists(st.integers(0, len(p) - 1), min_size=1, max_size=15))
    with jax.enable_x64(True):
        orientation = np.asarray(smooth_orientation(p, 1.0, ratio))
    product = np.prod(orientation[walk, np.roll(walk, -1)])
    assert product <= expit(-ratio) ** len(walk) * (1 + 1e-12)


@gate_examples(30)
@given(st.floats(1e-3, 1.0), st.floats(1e-3, 1.0))
def test_initialisation_the_slope_is_steepest_where_the_difference_is_the_shift(
    temperature: float, shift: float
) -> None:
    def slope(difference: float) -> float:
        s = smooth_orientation(np.array([0.0, difference]), temperature, shift)[0, 1]
        return float(s * (1 - s))

    with jax.enable_x64(True):
        steepest = slope(shift)
        assert steepest == pytest.approx(0.25)
        assert steepest > slope(shift + 0.1 * temperature)
        assert steepest > slope(shift - 0.1 * temperature)
