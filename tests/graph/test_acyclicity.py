"""The four acyclicity functions: definitions, gradients, and comparisons between them."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from cosmodag.graph.acyclicity import (
    exponential_of,
    in_domain,
    log_determinant_of,
    spectral_radius_of,
    truncated_powers_of,
)
from cosmodag.graph.closed_forms import (
    exponential_value_and_gradient,
    log_determinant_value_and_gradient,
    spectral_radius_value_and_gradient,
    truncated_powers_value_and_gradient,
)


def exponential(weights):
    return exponential_of(jnp.square(weights))


def log_determinant(weights, s=1.0):
    return log_determinant_of(jnp.square(weights), s)


def truncated_powers(weights):
    return truncated_powers_of(jnp.square(weights))


# name: (JAX, NumPy) as functions of W, for the three functions without state
STATELESS: dict[str, tuple[Callable, Callable]] = {
    "exponential": (jax.jit(exponential), exponential_value_and_gradient),
    "log_determinant": (jax.jit(log_determinant), log_determinant_value_and_gradient),
    "truncated_powers": (jax.jit(truncated_powers), truncated_powers_value_and_gradient),
}
EXACT = ["exponential", "truncated_powers"]

sizes = st.sampled_from([1, 2, 3, 5, 8])
seeds = st.integers(0, 2**32 - 1)


def random_dag(d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(-2, 2, (d, d)) * (rng.random((d, d)) < rng.random()), k=1)
    shuffled = rng.permutation(d)
    return weights[np.ix_(shuffled, shuffled)]


def random_cyclic(d: int, seed: int, radius: float | None = None) -> np.ndarray:
    """A DAG plus a cycle through some of its vertices; W ∘ W has the given spectral radius."""
    rng = np.random.default_rng(seed)
    weights = random_dag(d, seed)
    cycle = rng.permutation(d)[: rng.integers(1, d + 1)]
    weights[cycle, np.roll(cycle, -1)] = rng.uniform(0.5, 2, len(cycle))
    if radius is not None:
        weights *= np.sqrt(radius / true_radius(weights))
    return weights


def true_radius(weights: np.ndarray) -> float:
    return np.abs(np.linalg.eigvals(weights**2)).max()


def ring(d: int, weight: float) -> np.ndarray:
    return weight * np.roll(np.eye(d), 1, axis=1)


def finite_differences(function: Callable, weights: np.ndarray, step: float = 1e-5) -> np.ndarray:
    slopes = np.empty_like(weights)
    for index in np.ndindex(weights.shape):
        move = np.zeros_like(weights)
        move[index] = step
        slopes[index] = (function(weights + move) - function(weights - move)) / (2 * step)
    return slopes


@given(sizes, seeds)
def test_exponential_is_its_definition(d: int, seed: int) -> None:
    weights = random_cyclic(d, seed)
    value, gradient = exponential_value_and_gradient(weights)
    exact = expm(weights**2)
    # rtol for the rounding in SciPy; atol because tr e^A − d cancels to d rounding errors of e^A.
    assert value == pytest.approx(np.trace(exact) - d, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, exact.T * 2 * weights, rtol=1e-11, atol=1e-11)


@given(sizes, seeds, st.floats(0.5, 2))
def test_log_determinant_is_its_definition(d: int, seed: int, s: float) -> None:
    weights = random_cyclic(d, seed, radius=0.9 * s)
    value, gradient = log_determinant_value_and_gradient(weights, s)
    shifted = s * np.eye(d) - weights**2
    sign, log_determinant_value = np.linalg.slogdet(shifted)
    assert sign == 1
    assert value == pytest.approx(d * np.log(s) - log_determinant_value, rel=1e-10, abs=1e-12)
    slopes = 2 * weights * np.linalg.inv(shifted).T
    # Both inverses are rounded, and the condition number is up to about 1e4.
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-11 * np.abs(slopes).max())


@given(sizes, seeds)
def test_truncated_powers_is_its_definition(d: int, seed: int) -> None:
    """With zero tolerance, the sum ends at the first power of two that is at least d."""
    weights = random_cyclic(d, seed)
    value, gradient = truncated_powers_value_and_gradient(weights, tolerance=0.0)
    powers = [np.linalg.matrix_power(weights**2, i) for i in range(1 << (d - 1).bit_length())]
    expected = sum(np.trace(weights**2 @ power) for power in powers)
    slopes = sum((i + 1) * power.T for i, power in enumerate(powers)) * 2 * weights
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)


def test_truncated_powers_stop_when_powers_are_small() -> None:
    """In a ring of 20 arcs of weight ½, (1/4)¹⁶ < 1e-6: the cycle of 20 arcs is not detected."""
    assert truncated_powers_value_and_gradient(ring(20, 0.5))[0] == 0
    assert truncated_powers_value_and_gradient(ring(16, 0.5))[0] == 16 * 0.25**16
    assert truncated_powers_value_and_gradient(ring(20, 0.5), tolerance=1e-12)[0] > 0


@settings(max_examples=50)
@given(sizes, seeds)
def test_spectral_radius_converges_to_the_eigenvalue(d: int, seed: int) -> None:
    """The offset changes the radius, so the comparison is with that of the offset matrix."""
    weights = random_cyclic(d, seed)
    start = (np.ones(d), np.ones(d))
    # Adding the identity keeps the eigenvectors and prevents the iteration from oscillating.
    damped = np.sqrt(0.5 * weights**2 + 0.5 * np.eye(d))
    value = spectral_radius_value_and_gradient(damped, start, rounds=5000)[0]
    exact = np.abs(np.linalg.eigvals(damped**2 + 1e-6)).max()
    # A nearly defective leading eigenvalue is only accurate to about the root of the rounding.
    assert value == pytest.approx(exact, rel=1e-3)


@given(sizes, seeds, st.sampled_from(["exponential", "log_determinant", "truncated_powers"]))
def test_a_dag_has_value_and_gradient_zero(d: int, seed: int, name: str) -> None:
    value, gradient = STATELESS[name][1](random_dag(d, seed))
    slack = 0 if name in EXACT else 1e-10  # a factorisation with pivoting has rounding errors
    assert abs(value) <= slack
    assert np.abs(gradient).max() <= slack


@settings(max_examples=40)
@given(st.sampled_from([1, 6]), seeds, st.sampled_from(EXACT))
def test_a_dag_has_value_and_gradient_zero_in_single_precision(
    d: int, seed: int, name: str
) -> None:
    value, gradient = jax.value_and_grad(STATELESS[name][0])(random_dag(d, seed).astype("f4"))
    assert value == 0
    assert not np.any(gradient)


@given(sizes, seeds)
def test_functions_are_positive_on_cycles_and_ordered_as_their_series(d: int, seed: int) -> None:
    """A closed walk of k arcs counts 1/k!, 1/k and 1 in the three functions, which orders them."""
    weights = random_cyclic(d, seed, radius=0.5)
    # With spectral radius ½, the series converges, and the geometric one is its upper bound.
    geometric = np.trace(np.linalg.inv(np.eye(d) - weights**2)) - d
    by_exponential = exponential_value_and_gradient(weights)[0]
    by_determinant = log_determinant_value_and_gradient(weights)[0]
    by_powers = truncated_powers_value_and_gradient(weights, tolerance=0.0)[0]
    assert 0 < by_exponential <= by_determinant * (1 + 1e-9)
    assert by_determinant <= geometric * (1 + 1e-9)
    assert 0 < by_powers <= geometric * (1 + 1e-9)


@given(sizes, seeds)
def test_spectral_radius_distinguishes_cycles_from_short_dags(d: int, seed: int) -> None:
    """A two-level DAG has A² = 0 and a radius of about √offset; a cycle has that of its weights."""
    start = (np.ones(d), np.ones(d))
    two_levels = np.zeros((d, d))
    two_levels[: d // 2, d // 2 :] = random_dag(d, seed)[: d // 2, d // 2 :]
    at_rest = spectral_radius_value_and_gradient(two_levels, start, rounds=1000)[0]
    cyclic = spectral_radius_value_and_gradient(random_cyclic(d, seed, 1.0), start, rounds=1000)[0]
    # A is a ½d × ½d block of entries ≤ 4: ρ ≤ √(offset · Σ A) + d · offset < 0.01 for d ≤ 8.
    assert 0 < at_rest < 0.01
    # Weights on a cycle are at least ½ in magnitude: the geometric mean of squares is at least ¼.
    assert cyclic > 0.24


def test_spectral_radius_of_a_long_chain_is_large_though_it_is_a_dag() -> None:
    """As the docstring says, the offset closes the chain."""
    chain = np.diag(np.ones(30), k=1)
    start = (np.ones(31), np.ones(31))
    value = spectral_radius_value_and_gradient(chain, start, rounds=2000)[0]
    assert value == pytest.approx(1e-6 ** (1 / 31), rel=0.1)


@pytest.mark.parametrize("name", STATELESS)
@pytest.mark.parametrize("d", [1, 4, 7])
def test_gradients_match_finite_differences(name: str, d: int) -> None:
    weights = random_cyclic(d, seed=d, radius=0.6)
    weights += 0.05 * np.random.default_rng(d).normal(size=(d, d))
    value_and_gradient = partial(STATELESS[name][1], **_no_tolerance(name))
    slopes = finite_differences(lambda w: value_and_gradient(w)[0], weights)
    # Central differences have errors of step² and rounding / step, both about 1e-10 × curvature.
    np.testing.assert_allclose(value_and_gradient(weights)[1], slopes, rtol=1e-6, atol=1e-7)


def test_spectral_gradient_matches_finite_differences_once_converged() -> None:
    """The gradient treats u and v as constants, which is exact at the eigenvectors."""
    weights = random_cyclic(5, seed=3) + 0.3 * np.random.default_rng(3).random((5, 5))
    function = partial(
        spectral_radius_value_and_gradient, state=(np.ones(5), np.ones(5)), rounds=300
    )
    slopes = finite_differences(lambda w: function(w)[0], weights)
    np.testing.assert_allclose(function(weights)[1], slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", STATELESS)
@pytest.mark.parametrize("d", [1, 5])
def test_jax_in_double_precision_is_numpy(name: str, d: int) -> None:
    weights = random_cyclic(d, seed=7, radius=0.7)
    on_jax, on_numpy = STATELESS[name]
    with jax.enable_x64(True):
        value, gradient = jax.value_and_grad(on_jax)(weights)
    expected = on_numpy(weights)
    assert float(value) == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-11, atol=1e-14)


def test_jax_spectral_radius_in_double_precision_is_numpy() -> None:
    """From uniform vectors, whose gradient is zero: u and v count as constants in both."""
    weights = random_cyclic(5, seed=7)
    with jax.enable_x64(True):
        value, gradient = jax.value_and_grad(lambda w: spectral_radius_of(w**2))(jnp.array(weights))
    expected, slopes, _ = spectral_radius_value_and_gradient(weights, (np.ones(5), np.ones(5)))
    assert float(value) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11)


def test_keeping_the_state_improves_the_spectral_radius() -> None:
    weights = random_cyclic(8, seed=11) + 0.3 * np.random.default_rng(11).random((8, 8))
    state = (np.ones(8), np.ones(8))
    exact = np.abs(np.linalg.eigvals(weights**2 + 1e-6)).max()
    errors = []
    for _ in range(40):
        value, _, state = spectral_radius_value_and_gradient(weights, state)
        errors.append(abs(value - exact))
    assert errors[-1] < 1e-3 * errors[0]


@pytest.mark.parametrize("name", STATELESS)
def test_batches_under_vmap_and_jit(name: str) -> None:
    """Lanes need different numbers of squarings and doublings, and must not affect each other."""
    function = STATELESS[name][0]
    radii = [1e-6, 0.05, 0.5, 0.95]
    batch = np.stack([random_cyclic(6, seed, radius) for seed, radius in enumerate(radii)])
    with jax.enable_x64(True):
        values, gradients = jax.jit(jax.vmap(jax.value_and_grad(function)))(batch)
        for lane, weights in enumerate(batch):
            value, gradient = jax.value_and_grad(function)(weights)
            assert float(values[lane]) == pytest.approx(float(value), rel=1e-12)
            np.testing.assert_allclose(gradients[lane], gradient, rtol=1e-11, atol=1e-14)


def test_a_lane_with_nan_does_not_affect_other_lanes() -> None:
    batch = np.stack([np.full((3, 3), np.nan), ring(3, 0.5), np.full((3, 3), np.inf)])
    for function, _ in STATELESS.values():
        values = jax.vmap(function)(batch.astype(np.float32))
        assert np.isfinite(values).tolist() == [False, True, False]
        assert float(values[1]) == pytest.approx(float(function(batch[1])), rel=1e-6)


def test_tiny_cycles_are_resolved_in_single_precision() -> None:
    """Computed literally, tr e^A − d would be zero below d · 6e-8."""
    weights = ring(2, 1e-3).astype(np.float32)
    assert float(exponential(weights)) == pytest.approx(1e-12, rel=1e-5)


def test_large_weights_are_scaled_and_squared() -> None:
    weights = ring(2, 5.0)
    assert exponential_value_and_gradient(weights)[0] == pytest.approx(2 * np.cosh(25) - 2)
    assert float(exponential(weights.astype("f4"))) == pytest.approx(2 * np.cosh(25) - 2, rel=1e-4)


def test_integer_weights_are_accepted() -> None:
    for function, _ in STATELESS.values():
        assert float(function(np.array([[0, 1], [0, 0]]))) == 0


def test_log_determinant_has_a_gradient_in_s() -> None:
    weights = random_cyclic(4, seed=2, radius=0.5)
    with jax.enable_x64(True):
        slope = float(jax.grad(log_determinant, argnums=1)(weights, 0.9))
        ahead, behind = (float(log_determinant(weights, 0.9 + step)) for step in (1e-6, -1e-6))
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)


@given(sizes, seeds, st.floats(0.1, 2), st.floats(0.5, 2))
def test_the_domain_is_a_spectral_radius_below_s(
    d: int, seed: int, relative: float, s: float
) -> None:
    if abs(relative - 1) < 0.02:
        relative = 0.9  # at the boundary the inverse is dominated by rounding
    weights = random_cyclic(d, seed, radius=relative * s)
    assert in_domain(weights, s) == (relative < 1)


def test_the_domain_in_jax_and_in_batches() -> None:
    batch = jnp.stack([ring(3, 0.9), ring(3, 1.1), ring(3, 1.0), jnp.full((3, 3), jnp.nan)])
    inside = jax.vmap(in_domain)(batch)
    assert inside.tolist() == [True, False, False, False]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_dag_is_in_the_domain_though_zeros_of_its_inverse_round_below_zero(dtype: type) -> None:
    """Graphs like the paper's, with four arcs per vertex and weights of ±½ to ±2."""
    rng = np.random.default_rng(0)
    least = 0.0
    for _ in range(20):
        weights = rng.uniform(0.5, 2, (30, 30)) * np.triu(rng.random((30, 30)) < 8 / 29, k=1)
        shuffled = rng.permutation(30)
        weights = weights[np.ix_(shuffled, shuffled)].astype(dtype)
        least = min(least, np.linalg.inv(np.eye(30, dtype=dtype) - weights**2).min())
        assert in_domain(weights)
    assert least < 0  # otherwise, the test would show nothing


def test_slack_forgives_small_negative_entries() -> None:
    weights = np.diag([1.001, 0.0])  # the inverse has an entry of 1 / (1 − 1.002) ≈ −500
    assert not in_domain(weights, slack=499)
    assert in_domain(weights, slack=501)


def test_a_singular_matrix_is_outside_the_domain() -> None:
    weights = ring(2, 1.0)
    assert not in_domain(weights)
    value, gradient = log_determinant_value_and_gradient(weights)
    assert value == np.inf
    assert np.isnan(gradient).all()


def _no_tolerance(name: str) -> dict[str, float]:
    return {"tolerance": 0.0} if name == "truncated_powers" else {}
