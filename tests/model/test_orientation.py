"""Orientation matrices and the bound; tests of the theory are in properties/."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from cosmodag.errors import DataError
from cosmodag.model import orientation
from cosmodag.model.orientation import (
    host_orientation_rows,
    log_acyclicity_bound,
    priorities_of,
    smooth_orientation_rows,
    temperature_for,
)

# One compiled program each, instead of one for each of about ten operations.
smooth_orientation = jax.jit(orientation.smooth_orientation)
hard_orientation = jax.jit(orientation.hard_orientation)


def some_priorities(d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=d)


def test_smooth_orientation_is_definition_1_off_the_diagonal() -> None:
    p = some_priorities()
    expected = expit((p[None, :] - p[:, None] - 0.1) / 0.3)
    np.fill_diagonal(expected, 0)
    with jax.enable_x64(True):
        # Tolerance for a few rounding errors in float64.
        np.testing.assert_allclose(smooth_orientation(p, 0.3, 0.1), expected, rtol=1e-14)


@pytest.mark.parametrize("batch", [3, 6])
def test_batches_of_priorities_are_as_mapped(batch: int) -> None:
    """Also if the batch is as large as the number of variables, where shapes cannot tell."""
    p = np.random.default_rng(1).normal(size=(batch, 6))
    mapped = jax.vmap(lambda one: orientation.smooth_orientation(one, 0.3, 0.1))(p)
    np.testing.assert_array_equal(orientation.smooth_orientation(p, 0.3, 0.1), mapped)
    hard = jax.vmap(lambda one: orientation.hard_orientation(one, 0.1))(p)
    np.testing.assert_array_equal(orientation.hard_orientation(p, 0.1), hard)


def test_smooth_orientation_and_gradient_are_finite_at_the_coldest_temperature() -> None:
    p = 100 * some_priorities(20).astype(np.float32)
    smooth, pullback = jax.vjp(lambda p: smooth_orientation(p, 5e-4, 5e-3), p)
    (gradient,) = pullback(jnp.ones_like(smooth))
    assert np.isfinite(smooth).all()
    assert np.isfinite(gradient).all()
    assert set(np.unique(smooth)) == {0.0, 1.0}


def test_gradient_reaches_priorities_at_the_coldest_temperature() -> None:
    """At p_v − p_u = ε the slope has its maximum, 1 / 4t."""
    shift, temperature = 5e-3, 5e-4
    p = jnp.array([0.0, shift])
    slope = jax.grad(lambda p: smooth_orientation(p, temperature, shift)[0, 1])(p)
    np.testing.assert_allclose(slope, [-500, 500], rtol=1e-5)  # float32


def test_gradient_is_the_closed_form() -> None:
    """∂p_v = Σ_u Q_uv − Σ_u Q_vu with Q = G ∘ H ∘ S ∘ (1 − S) / t."""
    rng = np.random.default_rng(1)
    p, strengths, upstream = rng.normal(size=5), rng.normal(size=(5, 5)), rng.normal(size=(5, 5))
    temperature, shift = 0.4, 0.2

    def loss(p: jax.Array) -> jax.Array:
        return (upstream * (strengths * smooth_orientation(p, temperature, shift))).sum()

    with jax.enable_x64(True):
        gradient = np.asarray(jax.grad(loss)(p))
        smooth = np.asarray(smooth_orientation(p, temperature, shift))
    flow = upstream * strengths * smooth * (1 - smooth) / temperature
    np.testing.assert_allclose(gradient, flow.sum(axis=0) - flow.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_that_of_the_priorities(dtype: type) -> None:
    with jax.enable_x64(True):
        p = some_priorities().astype(dtype)
        assert smooth_orientation(p, np.float64(0.1), np.float64(0.1)).dtype == dtype


def test_integer_priorities_are_accepted() -> None:
    np.testing.assert_array_equal(
        smooth_orientation(np.array([0, 1]), 0.1, 0.5), smooth_orientation([0.0, 1.0], 0.1, 0.5)
    )


def test_hard_orientation_includes_a_difference_of_exactly_the_shift() -> None:
    assert hard_orientation(np.array([0.0, 0.25, 0.375]), 0.25).tolist() == [
        [False, True, True],
        [False, False, False],
        [False, False, False],
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_priorities_of_a_chain_survive_rounding(dtype: type) -> None:
    """With p = ε·π, as in the paper, 0.3 − 0.2 < 0.1 would lose an arc."""
    chain = np.diag(np.ones(40, dtype), k=1)
    priorities, strengths = priorities_of(chain, 0.1)
    assert priorities.dtype == strengths.dtype == dtype
    np.testing.assert_array_equal((strengths * hard_orientation(priorities, 0.1)), chain)


def test_priorities_of_does_not_share_memory_with_its_input() -> None:
    weights = np.triu(np.ones((3, 3)), k=1)
    strengths = priorities_of(weights, 0.1)[1]
    strengths[0, 1] = 7
    assert weights[0, 1] == 1


def test_priorities_of_a_cyclic_graph_is_an_error() -> None:
    with pytest.raises(DataError, match="cycle"):
        priorities_of(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1)


@pytest.mark.parametrize("shift", [0.0, -1.0, math.nan, math.inf])
def test_the_shift_must_be_positive_and_finite(shift: float) -> None:
    with pytest.raises(DataError, match="shift must be a positive, finite number"):
        priorities_of(np.zeros((2, 2)), shift)


@pytest.mark.parametrize("d", [1, 3, 30, 500])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 1.0, 5.0, 20.0])
def test_log_bound_is_the_formula_where_the_formula_can_be_computed(d: int, ratio: float) -> None:
    alpha = 1 / (1 + math.exp(ratio))
    expected = math.log(math.expm1(d * alpha))
    assert log_acyclicity_bound(1.0, ratio, d) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_log_bound_neither_overflows_nor_underflows() -> None:
    assert log_acyclicity_bound(1e6, 1.0, 10**6) == pytest.approx(5e5, rel=1e-5)
    # dα ≈ d·e^{−ε/t}, far below the smallest double
    assert log_acyclicity_bound(1e-3, 10.0, 100) == pytest.approx(math.log(100) - 1e4, rel=1e-14)


def test_log_bound_increases_with_temperature_and_size() -> None:
    by_temperature = [log_acyclicity_bound(t, 1e-2, 30) for t in np.geomspace(1e-6, 1e3, 200)]
    by_size = [log_acyclicity_bound(1e-3, 1e-2, d) for d in range(1, 200)]
    assert (np.diff(by_temperature) > 0).all()
    assert (np.diff(by_size) > 0).all()


@pytest.mark.parametrize("tolerance", [5e-324, 1e-300, 1e-30, 1e-8, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("d", [10, 500, 10**6])
def test_temperature_for_inverts_the_bound(tolerance: float, d: int) -> None:
    temperature = temperature_for(tolerance, 6e-3, d)
    # Rounding of ε/t, up to 740, gives errors of about 1e-13, in both directions: 1e-11 is enough.
    bound = log_acyclicity_bound(temperature, 6e-3, d)
    assert bound == pytest.approx(math.log(tolerance), abs=1e-11)


def test_a_tolerance_that_every_temperature_meets_gives_infinity() -> None:
    just_below_the_limit = 0.999 * math.expm1(5)
    assert temperature_for(1.001 * math.expm1(5), 0.1, 10) == math.inf
    assert math.isfinite(temperature_for(just_below_the_limit, 0.1, 10))


@pytest.mark.parametrize("tolerance", [0.0, -1e-3, math.nan, math.inf])
def test_the_tolerance_must_be_positive_and_finite(tolerance: float) -> None:
    with pytest.raises(DataError, match="acyclicity_tolerance"):
        temperature_for(tolerance, 0.1, 10)


@pytest.mark.parametrize(("first", "height"), [(0, 9), (4, 3)])
def test_the_host_orients_as_jax_does(first, height):
    p = np.random.default_rng(2).normal(size=9).astype(np.float32)
    given = {"temperature": 0.3, "shift": 0.2, "first": first, "height": height}
    mine, theirs = host_orientation_rows(p, **given), smooth_orientation_rows(p, **given)
    assert mine.dtype == np.float32
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-7)
