"""Compiled shrinking: take the least useful parents of a grown path away."""

from typing import Any

import numpy as np

from cosmodag.compiled import borrowing

__all__ = ["shrink"]


@borrowing
def _invert(k: int, s: Any) -> None:
    """L⁻¹ into the rows of ``inverse``, and the regression weights of v on its path."""
    for a in range(k):
        first = a * (a + 1) // 2
        row = s.inverse[a]
        for c in range(a):
            row[c] = 0.0
        for i in range(a):
            f, above = s.factor[first + i], s.inverse[i]
            for c in range(i + 1):
                row[c] -= f * above[c]
        scale = 1.0 / s.factor[first + a]
        for c in range(a):
            row[c] *= scale
        row[a] = scale
    s.weights[:k] = 0.0
    for a in range(k):
        b, row = s.loading[a], s.inverse[a]
        for c in range(a + 1):
            s.weights[c] += b * row[c]


@borrowing
def shrink(k: int, forced: int, variance: float, rise_share: float, s: Any) -> tuple[int, float]:
    """Mark which steps of the path to keep; give how many, and the variance left.

    ``weights`` then holds the regression weights on those kept. The first ``forced`` stay.
    """
    for i in range(k):
        s.keep[i] = True
    _invert(k, s)
    s.work[0] += k * k * k // 6
    # The diagonal of (L Lᵀ)⁻¹ tells what each is worth; its columns are needed for drops only.
    for c in range(k):
        s.projection[c] = 0.0
    for a in range(k):
        row = s.inverse[a]
        for c in range(a + 1):
            s.projection[c] += row[c] * row[c]
    left, full = k, False
    while left > forced:
        worst, rise = -1, np.inf
        for a in range(forced, k):
            if s.keep[a]:
                r = s.weights[a] * s.weights[a] / s.projection[a]
                if r < rise:
                    worst, rise = a, r
        if rise >= variance * rise_share:
            break
        if not full:
            _square(k, s)
            full = True
        s.keep[worst] = False
        variance += rise
        left -= 1
        pivot, weight = s.inverse[worst, worst], s.weights[worst]
        for a in range(k):
            s.column[a] = s.inverse[a, worst]
        row = s.inverse[worst]
        for a in range(k):
            f = s.column[a] / pivot
            s.weights[a] -= f * weight
            line = s.inverse[a]
            if a != worst:
                for c in range(k):
                    line[c] -= f * row[c]
            s.projection[a] = line[a]
        s.weights[worst] = 0.0
    return left, variance


@borrowing
def _square(k: int, s: Any) -> None:
    """Turn L⁻¹ in ``inverse`` into L⁻ᵀ L⁻¹, column by column from the top."""
    for a in range(k):
        # Rows from a on still hold L⁻¹ in their lower part.
        for c in range(a + 1):
            total = 0.0
            for i in range(a, k):
                total += s.inverse[i, a] * s.inverse[i, c]
            s.column[c] = total
        for c in range(a + 1):
            s.inverse[c, a] = s.column[c]
    for a in range(k):
        for c in range(a):
            s.inverse[a, c] = s.inverse[c, a]
