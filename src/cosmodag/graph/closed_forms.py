"""The acyclicity functions of `cosmodag.graph.acyclicity` in NumPy float64, each with its gradient.

SciPy's optimisers need value and gradient together, for one problem at a time, in double precision.
These closed forms need no compiled program.

The power series at the end of the file use only operators, so the JAX functions call them too.
Entry [u, v] of Aᵏ is the sum of the weights of all walks of k arcs from u to v, so cycles show on
the diagonal. For A ≥ 0 nothing is subtracted, hence nothing cancels: the diagonal of a DAG is
exactly zero, and a tiny diagonal is accurate.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

Float64: TypeAlias = NDArray[np.float64]


def exponential_value_and_gradient(weights: ArrayLike) -> tuple[float, Float64]:
    """NOTEARS: h(W) = tr e^{W∘W} − d and ∇h = (e^{W∘W})ᵀ ∘ 2W.

    >>> value, gradient = exponential_value_and_gradient([[0.0, 1.0], [0.5, 0.0]])
    >>> round(value, 3), gradient.round(3).tolist()
    (0.255, [[0.0, 0.521], [1.042, 0.0]])

    On every DAG, both the value and the gradient are zero.

    >>> exponential_value_and_gradient([[0.0, 3.0], [0.0, 0.0]])[1].tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    weights, squares = _squares(weights)
    norm = min(squares.sum(axis=0).max(), squares.sum(axis=1).max())
    halvings = max(int(np.frexp(norm / EXPM1_MAX_NORM)[1]), 0)
    expm1 = expm1_near_zero(squares * 0.5**halvings)
    for _ in range(halvings):
        expm1 = square_expm1(expm1)
    return float(np.trace(expm1)), 2 * weights * (expm1.T + np.eye(len(weights)))


def log_determinant_value_and_gradient(weights: ArrayLike, s: float = 1.0) -> tuple[float, Float64]:
    """DAGMA: h(W) = −log det(sI − W∘W) + d log s and ∇h = 2W ∘ (sI − W∘W)^{−T}.

    One factorisation gives both. For a singular matrix the value is infinite and the gradient NaN.
    `cosmodag.graph.acyclicity.in_domain` tests whether W is in the domain.

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

    >>> value, gradient = truncated_powers_value_and_gradient([[0.0, 1.0], [1.0, 0.0]])
    >>> value, gradient.tolist()
    (2.0, [[0.0, 4.0], [4.0, 0.0]])
    """
    weights, squares = _squares(weights)
    identity = np.eye(len(weights))
    sums = Doubling(squares, identity, identity, 1)
    while sums.count < len(weights) and sums.power.max() >= tolerance:
        sums = double(sums)
    return float((squares * sums.sum.T).sum()), 2 * weights * sums.gradient


def spectral_radius_value_and_gradient(
    weights: ArrayLike, state: tuple[Any, Any], *, rounds: int = 5, offset: float = 1e-6
) -> tuple[float, Float64, tuple[Float64, Float64]]:
    """NOBEARS: h(W) = vᵀBu / vᵀu with B = W∘W + offset, ∇h = 2W ∘ (vuᵀ) / vᵀu, and (v, u).

    The state (v, u) is updated by `rounds` power iterations, and returned for the next call.

    >>> start = (np.ones(2), np.ones(2))
    >>> value, gradient, state = spectral_radius_value_and_gradient([[0, 1], [1, 0]], start)
    >>> round(value, 4), gradient.round(4).tolist()
    (1.0, [[0.0, 1.0], [1.0, 0.0]])
    """
    weights, squares = _squares(weights)
    positive = squares + offset
    left, right = power_iteration(positive, *state, rounds)
    overlap = left @ right
    gradient = 2 * weights * np.outer(left, right) / overlap
    return float(left @ positive @ right / overlap), gradient, (left, right)


def _squares(weights: ArrayLike) -> tuple[Float64, Float64]:
    weights = np.asarray(weights, dtype=np.float64)
    return weights, weights * weights


Array: TypeAlias = Any
"""A NumPy or a JAX array."""

EXPM1_MAX_NORM = 0.8
"""Largest norm for which `expm1_near_zero` is accurate to rounding error."""


def expm1_near_zero(matrix: Array) -> Array:
    """Compute e^A − I by its Taylor series, for A of norm at most `EXPM1_MAX_NORM`.

    The degree is 9 in single and 16 in double precision, with relative errors of 3e-8 and 6e-17.
    The polynomial is evaluated in blocks of powers (Paterson and Stockmeyer), which takes 4 and 6
    matrix products.
    """
    block = 3 if matrix.dtype.itemsize <= 4 else 4
    powers = [matrix]
    while len(powers) < block:
        powers.append(powers[-1] @ matrix)
    total = _taylor_block(powers, start=block * (block - 1))
    for start in range(block * (block - 2), -1, -block):
        total = _taylor_block(powers, start) + powers[-1] @ total
    return total


def _taylor_block(powers: list[Array], start: int) -> Array:
    """Terms start + 1 … start + block of the series, divided by A^start."""
    return sum(power / math.factorial(start + k) for k, power in enumerate(powers, start=1))


def square_expm1(expm1: Array) -> Array:
    """Compute e^{2A} − I from e^A − I."""
    return 2 * expm1 + expm1 @ expm1


class Doubling(NamedTuple):
    """Sums of the first j powers of A; all but the count have shape (d, d)."""

    power: Array  # A^j
    sum: Array  # I + A + … + A^{j−1}
    gradient: Array  # of tr(A + … + A^j): (I + 2A + … + jA^{j−1})ᵀ
    count: Array  # j


def double(sums: Doubling) -> Doubling:
    """Extend sums of the first j powers to the first 2j, in three matrix products (TMPI).

    The published update replaces one of the products by f' − f + P − P': the same powers, j to
    2j − 1, but with a subtraction.
    """
    power, total, gradient, count = sums
    next_powers = power @ total
    return Doubling(
        power @ power,
        total + next_powers,
        gradient + power.T @ gradient + count * next_powers.T,
        2 * count,
    )


def power_iteration(matrix: Array, left: Array, right: Array, rounds: int) -> tuple[Array, Array]:
    """Iterate towards the leading left and right eigenvectors, in O(d²) per round."""
    for _ in range(rounds):
        left, right = _unit(left @ matrix), _unit(matrix @ right)
    return left, right


def _unit(vector: Array) -> Array:
    return vector / (vector @ vector) ** 0.5
