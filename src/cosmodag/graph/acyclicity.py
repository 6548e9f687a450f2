"""Measures of acyclicity: four functions h that are zero on DAGs and grow with cycles.

COSMO needs none of them. The methods it is compared with minimise a score subject to h = 0.

=================== ======================= ============== ===================================
function            method                  cost           zero on a DAG
=================== ======================= ============== ===================================
exponential_of      NOTEARS                 O(d³)          exactly
log_determinant_of  DAGMA                   O(d³)          to rounding
truncated_powers_of TMPI                    O(d³ log k)    exactly
spectral_radius_of  NOBEARS                 O(d²)          no: an offset keeps it above zero
=================== ======================= ============== ===================================

Each is a JAX function of one non-negative matrix A, with a closed-form gradient, for use with
`jax.jit` and `jax.vmap`: A = W ∘ W, or A = Σ w² for models with several weights per arc.
`cosmodag.graph.closed_forms` has the same functions of W in NumPy float64, as pairs of value and
gradient for SciPy's optimisers.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from cosmodag.graph.closed_forms import (
    EXPM1_MAX_NORM,
    Doubling,
    double,
    expm1_near_zero,
    power_iteration,
    square_expm1,
)


def in_domain(weights: ArrayLike, s: ArrayLike = 1.0, slack: float = 0.0) -> jax.Array:
    """Whether sI − W∘W is an M-matrix: no entry of its inverse is negative.

    An entry counts as negative if it is below −slack by more than the rounding error: if the
    inverse of a DAG has large entries, its zeros may be computed as slightly negative. The result
    is false for a singular or non-finite matrix.

    >>> bool(in_domain(jnp.array([[0.0, 0.9], [1.0, 0.0]])))
    True
    >>> bool(in_domain(jnp.array([[0.0, 1.1], [1.0, 0.0]])))
    False
    """
    inverse = jnp.linalg.inv(_shifted(_floating(jnp.square(weights)), s))
    size = abs(inverse)
    rounding = 16 * len(inverse) * float(np.finfo(inverse.dtype).eps) * size.max()
    return ((inverse >= -(slack + rounding)) & (size < jnp.inf)).all()


def exponential_of(matrix: ArrayLike) -> jax.Array:
    """NOTEARS: h(A) = tr e^A − d, with ∇h = (e^A)ᵀ.

    A closed walk of k arcs contributes 1/k! times the product of its weights in A.

    >>> round(float(exponential_of(jnp.array([[0.0, 1.0], [1.0, 0.0]]))), 3)  # 2 cosh(1) − 2
    1.086
    >>> float(exponential_of(jnp.array([[0.0, 9.0], [0.0, 0.0]])))
    0.0
    """
    return _exponential(_floating(matrix))


def log_determinant_of(matrix: ArrayLike, s: ArrayLike = 1.0) -> jax.Array:
    """DAGMA: h(A) = −log det(sI − A) + d log s, with ∇h = (sI − A)^{−T}.

    It is meaningful only where `in_domain` holds, that is, where the spectral radius of A is below
    s. There, h ≥ 0 is zero only on DAGs, and unbounded towards the boundary.

    >>> round(float(log_determinant_of(jnp.array([[0.0, 0.25], [1.0, 0.0]]))), 3)  # −log(1 − 1/4)
    0.288
    """
    matrix = _floating(matrix)
    return _log_determinant(matrix, jnp.asarray(s, matrix.dtype))


def truncated_powers_of(matrix: ArrayLike, tolerance: float = 1e-6) -> jax.Array:
    """TMPI: h(A) = tr Σ_{i=1..k} Aⁱ with k found by doubling, and ∇h = (Σ i·A^{i−1})ᵀ.

    The sum stops at the first k = 1, 2, 4, 8 … for which all entries of Aᵏ are below the tolerance,
    or k ≥ d. It does not detect longer cycles, whose weight is then below the tolerance.

    >>> float(truncated_powers_of(jnp.array([[0.0, 1.0], [1.0, 0.0]])))  # walks of one and two arcs
    2.0
    """
    return _truncated_powers(_floating(matrix), tolerance)


def spectral_radius_of(matrix: ArrayLike, *, rounds: int = 5, offset: float = 1e-6) -> jax.Array:
    """NOBEARS: h(A), the spectral radius of B = A + offset, by power iteration.

    After `rounds` iterations of v ← Bᵀv and u ← Bu (normalised) from uniform vectors, which are
    never orthogonal to the leading eigenvectors, h = vᵀBu / vᵀu. The gradient treats u and v as
    constants, ∇h = vuᵀ / vᵀu.

    The offset makes B positive, so that the iteration converges on a DAG too. It also keeps h above
    zero there: by at least d·offset, and by far more if paths are long (a chain of d arcs of weight
    1, closed by the offset alone, has a spectral radius near offset^{1/d}).

    >>> round(float(spectral_radius_of(jnp.array([[0.0, 1.0], [1.0, 0.0]]))), 4)
    1.0
    """
    with jax.default_matmul_precision("highest"):
        positive = _floating(matrix) + offset
        d = len(positive)
        uniform = jnp.full(d, d**-0.5, positive.dtype)
        fixed = jax.lax.stop_gradient(positive)
        left, right = power_iteration(fixed, uniform, uniform, rounds)
        return left @ positive @ right / (left @ right)


@jax.custom_vjp
def _exponential(matrix: jax.Array) -> jax.Array:
    return _exponential_forward(matrix)[0]


@jax.jit
def _exponential_forward(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    with jax.default_matmul_precision("highest"):
        norm = jnp.minimum(matrix.sum(axis=0).max(), matrix.sum(axis=1).max())
        halvings = jnp.maximum(jnp.frexp(norm / EXPM1_MAX_NORM)[1], 0)
        small = expm1_near_zero(matrix * 0.5**halvings)
        expm1 = jax.lax.fori_loop(0, halvings, lambda _, half: square_expm1(half), small)
        return jnp.trace(expm1), expm1


def _exponential_backward(expm1: jax.Array, cotangent: jax.Array) -> tuple[jax.Array]:
    return (cotangent * (expm1.T + jnp.eye(len(expm1), dtype=expm1.dtype)),)


_exponential.defvjp(_exponential_forward, _exponential_backward)


@jax.custom_vjp
def _log_determinant(matrix: jax.Array, s: jax.Array) -> jax.Array:
    return _log_determinant_forward(matrix, s)[0]


@jax.jit
def _log_determinant_forward(matrix: jax.Array, s: jax.Array) -> tuple[jax.Array, Any]:
    factors, pivots = jax.scipy.linalg.lu_factor(_shifted(matrix, s))
    return -jnp.log(jnp.abs(jnp.diagonal(factors)) / s).sum(), (factors, pivots, s)


@jax.jit
def _log_determinant_backward(residuals: Any, cotangent: jax.Array) -> tuple[jax.Array, jax.Array]:
    factors, pivots, s = residuals
    identity = jnp.eye(len(factors), dtype=factors.dtype)
    inverse = jax.scipy.linalg.lu_solve((factors, pivots), identity)
    return cotangent * inverse.T, cotangent * (len(factors) / s - jnp.trace(inverse))


_log_determinant.defvjp(_log_determinant_forward, _log_determinant_backward)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _truncated_powers(matrix: jax.Array, tolerance: float) -> jax.Array:
    return _truncated_powers_forward(matrix, tolerance)[0]


@jax.jit
def _truncated_powers_forward(matrix: jax.Array, tolerance: float) -> tuple[jax.Array, jax.Array]:
    def unfinished(sums: Doubling) -> Any:
        return (sums.count < len(matrix)) & (sums.power.max() >= tolerance)

    with jax.default_matmul_precision("highest"):
        identity = jnp.eye(len(matrix), dtype=matrix.dtype)
        first = Doubling(matrix, identity, identity, jnp.ones((), matrix.dtype))
        sums: Doubling = jax.lax.while_loop(unfinished, double, first)
    return (matrix * sums.sum.T).sum(), sums.gradient


def _truncated_powers_backward(
    tolerance: float, gradient: jax.Array, cotangent: jax.Array
) -> tuple[jax.Array]:
    return (cotangent * gradient,)


_truncated_powers.defvjp(_truncated_powers_forward, _truncated_powers_backward)


def _shifted(matrix: jax.Array, s: ArrayLike) -> jax.Array:
    return jnp.asarray(s, matrix.dtype) * jnp.eye(len(matrix), dtype=matrix.dtype) - matrix


def _floating(matrix: ArrayLike) -> jax.Array:
    return jnp.asarray(matrix, jnp.result_type(matrix, 0.0))
