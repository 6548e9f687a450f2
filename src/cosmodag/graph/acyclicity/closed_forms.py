"""The acyclicity functions of `cosmodag.graph.acyclicity` in NumPy float64, each with its gradient.

SciPy's optimisers need a value and a gradient at once, one problem at a time, in double precision;
a closed form on the host needs no compiled program.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from cosmodag.graph.acyclicity import matrix_series as series

__all__ = [
    "exponential_value_and_gradient",
    "log_determinant_value_and_gradient",
    "spectral_radius_value_and_gradient",
    "truncated_powers_value_and_gradient",
]

Float64: TypeAlias = NDArray[np.float64]


def exponential_value_and_gradient(weights: ArrayLike) -> tuple[float, Float64]:
    """NOTEARS: h(W) = tr e^{W∘W} − d and ∇h = (e^{W∘W})ᵀ ∘ 2W.

    Examples
    --------
    >>> value, gradient = exponential_value_and_gradient([[0.0, 1.0], [0.5, 0.0]])
    >>> round(value, 3), gradient.round(3).tolist()
    (0.255, [[0.0, 0.521], [1.042, 0.0]])

    On every DAG the gradient is zero as well as the value.

    >>> exponential_value_and_gradient([[0.0, 3.0], [0.0, 0.0]])[1].tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    weights, squares = _squares(weights)
    norm = min(squares.sum(axis=0).max(), squares.sum(axis=1).max())
    halvings = max(int(np.frexp(norm / series.expm1_reach)[1]), 0)
    expm1 = series.expm1_near_zero(squares * 0.5**halvings)
    for _ in range(halvings):
        expm1 = series.square_expm1(expm1)
    return float(np.trace(expm1)), 2 * weights * (expm1.T + np.eye(len(weights)))


def log_determinant_value_and_gradient(weights: ArrayLike, s: float = 1.0) -> tuple[float, Float64]:
    """DAGMA: h(W) = −log det(sI − W∘W) + d log s and ∇h = 2W ∘ (sI − W∘W)^{−T}.

    One factorisation gives both. A singular matrix gives an infinite value and a gradient of NaN;
    `cosmodag.graph.acyclicity.in_domain` tests whether W is in the domain.

    Examples
    --------
    >>> value, gradient = log_determinant_value_and_gradient([[0.0, 0.5], [1.0, 0.0]])
    >>> round(value, 3), gradient.round(3).tolist()
    (0.288, [[0.0, 1.333], [0.667, 0.0]])
    """
    weights, squares = _squares(weights)
    factors, pivots, _ = lapack.dgetrf(s * np.eye(len(weights)) - squares)
    inverse, is_singular = lapack.dgetri(factors, pivots)
    if is_singular:
        return float("inf"), np.full_like(weights, np.nan)
    value = -np.log(np.abs(np.diagonal(factors)) / s).sum()
    return float(value), 2 * weights * inverse.T


def truncated_powers_value_and_gradient(
    weights: ArrayLike, tolerance: float = 1e-6
) -> tuple[float, Float64]:
    """TMPI: h(W) = tr Σ_{i=1..k} (W∘W)ⁱ and ∇h = (Σ i·(W∘W)^{i−1})ᵀ ∘ 2W.

    Examples
    --------
    >>> value, gradient = truncated_powers_value_and_gradient([[0.0, 1.0], [1.0, 0.0]])
    >>> value, gradient.tolist()
    (2.0, [[0.0, 4.0], [4.0, 0.0]])
    """
    weights, squares = _squares(weights)
    identity = np.eye(len(weights))
    sums = series.Doubling(squares, identity, identity, 1)
    while sums.count < len(weights) and sums.power.max() >= tolerance:
        sums = series.double(sums)
    return float((squares * sums.sum.T).sum()), 2 * weights * sums.gradient


def spectral_radius_value_and_gradient(
    weights: ArrayLike, state: tuple[Any, Any], *, rounds: int = 5, offset: float = 1e-6
) -> tuple[float, Float64, tuple[Float64, Float64]]:
    """NOBEARS: h(W) = vᵀBu / vᵀu with B = W∘W + offset, ∇h = 2W ∘ (vuᵀ) / vᵀu, and the new (v, u).

    Examples
    --------
    >>> start = (np.ones(2), np.ones(2))
    >>> value, gradient, state = spectral_radius_value_and_gradient([[0, 1], [1, 0]], start)
    >>> round(value, 4), gradient.round(4).tolist()
    (1.0, [[0.0, 1.0], [1.0, 0.0]])
    """
    weights, squares = _squares(weights)
    positive = squares + offset
    left, right = series.power_rounds(positive, *state, rounds)
    overlap = left @ right
    gradient = 2 * weights * np.outer(left, right) / overlap
    return float(left @ positive @ right / overlap), gradient, (left, right)


def _squares(weights: ArrayLike) -> tuple[Float64, Float64]:
    weights = np.asarray(weights, dtype=np.float64)
    return weights, weights * weights
