"""Acyclicity constraints h(W) = 0 for solvers, each in JAX and in NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.acyclicity import (
    exponential_of,
    spectral_radius_of,
    truncated_powers_of,
)
from cosmodag.graph.closed_forms import (
    exponential_value_and_gradient,
    spectral_radius_value_and_gradient,
    truncated_powers_value_and_gradient,
)

__all__ = [
    "CONSTRAINTS",
    "EXPONENTIAL",
    "POLYNOMIAL",
    "Acyclicity",
    "Constraint",
    "ValueAndGradient",
]

Float64 = NDArray[np.float64]
Acyclicity = Callable[[jax.Array], jax.Array]
"""h(A) of a non-negative matrix A: zero if A is a DAG, positive otherwise."""

ValueAndGradient = Callable[[Float64], tuple[float, Float64]]

# Power iterations of NOBEARS: per step, which its authors found sufficient if the vectors are kept
# between steps, and for a single evaluation.
_ROUNDS, _ROUNDS_ALONE = 5, 50
# With NOBEARS' own offset, 1e-6, h is above 0.1 even on DAGs with paths of a few arcs.
_OFFSET = 1e-12


@dataclass(frozen=True)
class Constraint:
    """A function h that is zero only on DAGs."""

    of: Acyclicity  # h(A) in JAX, with A = W ∘ W
    # Makes a function W ↦ (h(W), ∇h(W)) in NumPy float64, which may keep state between calls.
    evaluator: Callable[[], ValueAndGradient]

    def value(self, weights: NDArray[np.floating]) -> float:
        """h(W) of one matrix, in float64."""
        return self.evaluator()(np.asarray(weights, np.float64))[0]


def _polynomial(weights: Float64) -> tuple[float, Float64]:
    """NOCURL's own constraint: h(W) = tr (I + W∘W/d)^d − d and ∇h = ((I + W∘W/d)^{d−1})ᵀ ∘ 2W.

    >>> value, gradient = _polynomial(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> value, gradient.tolist()
    (0.5, [[0.0, 1.0], [1.0, 0.0]])
    """
    d = len(weights)
    base = np.eye(d) + weights * weights / d
    power = np.linalg.matrix_power(base, d - 1)
    return float((base * power.T).sum() - d), 2 * weights * power.T


def _polynomial_of(matrix: jax.Array) -> jax.Array:
    """NOCURL's h in JAX: tr (I + A/d)^d − d."""
    d = len(matrix)
    power = jnp.linalg.matrix_power(jnp.eye(d, dtype=matrix.dtype) + matrix / d, d)
    return jnp.trace(power) - d


class _SpectralRadius:
    """NOBEARS' h and ∇h in NumPy; the eigenvectors are kept between evaluations."""

    def __init__(self) -> None:
        self._vectors: Any = None

    def __call__(self, weights: Float64) -> tuple[float, Float64]:
        rounds = _ROUNDS
        if self._vectors is None:
            uniform = np.full(len(weights), len(weights) ** -0.5)
            self._vectors, rounds = (uniform, uniform), _ROUNDS_ALONE
        value, gradient, self._vectors = spectral_radius_value_and_gradient(
            weights, self._vectors, rounds=rounds, offset=_OFFSET
        )
        return value, gradient


# In JAX without vectors that are kept between steps, and hence with more iterations.
_SPECTRAL_RADIUS_OF = partial(spectral_radius_of, rounds=_ROUNDS_ALONE, offset=_OFFSET)

EXPONENTIAL = Constraint(exponential_of, lambda: exponential_value_and_gradient)
POLYNOMIAL = Constraint(_polynomial_of, lambda: _polynomial)

CONSTRAINTS = {
    "expm": EXPONENTIAL,
    "truncated": Constraint(truncated_powers_of, lambda: truncated_powers_value_and_gradient),
    "spectral": Constraint(_SPECTRAL_RADIUS_OF, _SpectralRadius),
}
"""Constraints of `Notears` by name."""
