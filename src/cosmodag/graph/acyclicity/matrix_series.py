"""Series of powers of a non-negative matrix, for the acyclicity constraints.

Entry [u, v] of Aᵏ sums the weights of all walks of k arcs from u to v, so closed walks, and with
them cycles, show on the diagonal. For A ≥ 0 there is no subtraction and hence no cancellation: a
diagonal that should be zero is exactly zero, and a tiny one is accurate.

The code uses only operators, so it runs on NumPy arrays and inside JAX programs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Doubling", "double", "expm1_near_zero", "expm1_reach", "power_rounds", "square_expm1"]

Array: TypeAlias = Any
"""A NumPy or a JAX array."""

expm1_reach = 0.8
"""Norm up to which `expm1_near_zero` is exact to rounding."""


def expm1_near_zero(matrix: Array) -> Array:
    """Sum e^A − I by its Taylor series, for A of norm at most `expm1_reach`.

    Degrees 9 in single and 16 in double precision have relative errors of 3e-8 and 6e-17. The
    polynomial is grouped into blocks of powers (Paterson and Stockmeyer), which takes 4 and 6
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

    power: Array
    """A^j."""
    sum: Array
    """I + A + … + A^{j−1}."""
    gradient: Array
    """Gradient of tr(A + … + A^j): (I + 2A + … + jA^{j−1})ᵀ."""
    count: Array
    """j."""


def double(sums: Doubling) -> Doubling:
    """Extend sums of the first j powers to the first 2j, in three matrix products (TMPI).

    The published update has f' − f + P − P' in place of one of the products: the same powers, j to
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


def power_rounds(matrix: Array, left: Array, right: Array, rounds: int) -> tuple[Array, Array]:
    """Power iteration towards the leading left and right eigenvectors, O(d²) per round."""
    for _ in range(rounds):
        left, right = _unit(left @ matrix), _unit(matrix @ right)
    return left, right


def _unit(vector: Array) -> Array:
    return vector / (vector @ vector) ** 0.5
