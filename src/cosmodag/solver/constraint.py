"""Constraints h(W) = 0 that a solver can impose: each for JAX programs and for NumPy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.acyclicity import exponential_of, truncated_powers_of
from cosmodag.closed_forms import (
    exponential_value_and_gradient,
    truncated_powers_value_and_gradient,
)
from cosmodag.objective import Acyclicity

__all__ = ["CONSTRAINTS", "EXPONENTIAL", "POLYNOMIAL", "Constraint", "polynomial"]

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Constraint:
    """One function h that is zero on DAGs alone.

    Attributes
    ----------
    of
        h(A) for JAX, A = W ∘ W; None where only the other form exists.
    closed_form
        W ↦ h(W) and ∇h(W) in NumPy, float64.
    """

    of: Acyclicity | None
    closed_form: Callable[[Float64], tuple[float, Float64]]

    def value(self, weights: NDArray[np.floating]) -> float:
        """h(W) of one matrix, float64."""
        return self.closed_form(np.asarray(weights, np.float64))[0]


def polynomial(weights: Float64) -> tuple[float, Float64]:
    """NOCURL's own constraint: h(W) = tr (I + W∘W/d)^d − d and ∇h = ((I + W∘W/d)^{d−1})ᵀ ∘ 2W.

    Examples
    --------
    >>> value, gradient = polynomial(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> value, gradient.tolist()
    (0.5, [[0.0, 1.0], [1.0, 0.0]])
    """
    d = len(weights)
    base = np.eye(d) + weights * weights / d
    power = np.linalg.matrix_power(base, d - 1)
    return float((base * power.T).sum() - d), 2 * weights * power.T


EXPONENTIAL = Constraint(exponential_of, exponential_value_and_gradient)
POLYNOMIAL = Constraint(None, polynomial)

CONSTRAINTS = {
    "expm": EXPONENTIAL,
    "truncated": Constraint(truncated_powers_of, truncated_powers_value_and_gradient),
}
"""What `Notears` can be told to use, by name."""
