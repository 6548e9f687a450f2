"""Compiled growing: the parents of one variable among candidates, from correlations.

Grow adds the candidate with the largest gain, the drop of the residual variance of v, while it is
worth the penalty. Of the chosen path P the
Cholesky factor L of its correlations is kept; W = L⁻¹ C[P, ·], and for every candidate j

    left[j] = C[j, j] − Σ_i W[i, j]²   (variance of j given the path),
    along[j] = C[v, j] − Σ_i b_i W[i, j]   (covariance with v given the path),   b = L⁻¹ C[P, v],

so that the gain of j is along[j]² / left[j], and one more step costs O(m k).

Counters begin as ``wide(0)``: for a plain 0 Numba compiles what is called with it once more.

With half the rows h and penalty c per arc, a gain g of a variance s is worth it where
h log(s / (s − g)) > c, that is g > s · (1 − e^(−c/h)); the share in brackets is given.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing

__all__ = ["NEGLIGIBLE", "Scratch", "extend", "intrudes", "listen", "new_scratch", "start", "wide"]

# Shares of a variance below this are rounding: nothing is left to explain, or to explain with.
NEGLIGIBLE = 1e-13
# A type, and untyped here: what it makes stands for an int.
wide: Any = np.int64
BLOCK = 64


class Scratch(NamedTuple):
    """Arrays that one thread overwrites; paths up to ``capacity`` steps fit."""

    whitened: NDArray[np.float64]  # W, (capacity, d)
    left: NDArray[np.float64]
    along: NDArray[np.float64]
    candidates: NDArray[np.int64]
    flags: NDArray[np.bool_]
    path: NDArray[np.int64]
    factor: NDArray[np.float64]  # L, rows one after another
    loading: NDArray[np.float64]  # b
    gain: NDArray[np.float64]
    keep: NDArray[np.bool_]
    inverse: NDArray[np.float64]
    column: NDArray[np.float64]
    weights: NDArray[np.float64]
    projection: NDArray[np.float64]
    overflow: NDArray[np.bool_]  # [0]: a path was cut off
    work: NDArray[np.int64]  # [0]: multiplications so far, roughly


def new_scratch(d: int, capacity: int) -> Scratch:
    """Make room for paths of up to ``capacity`` steps among d candidates."""
    return Scratch(
        np.empty((capacity, d)),
        np.empty(d),
        np.empty(d),
        np.empty(d, np.int64),
        np.empty(d, np.bool_),
        np.empty(capacity, np.int64),
        np.empty(capacity * (capacity + 1) // 2),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.bool_),
        np.empty((capacity, capacity)),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.zeros(1, np.bool_),
        np.zeros(1, np.int64),
    )


@borrowing
def _subtract_rows(target: Any, factors: Any, first: int, rows: Any, k: int, m: int) -> None:
    """Take Σ_i factors[first + i] rows[i] from target; four rows at a time spare memory traffic."""
    i = 0
    while i + 4 <= k:
        f0, f1 = factors[first + i], factors[first + i + 1]
        f2, f3 = factors[first + i + 2], factors[first + i + 3]
        r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for t in range(m):
            target[t] -= f0 * r0[t] + f1 * r1[t] + f2 * r2[t] + f3 * r3[t]
        i += 4
    while i < k:
        f0, r0 = factors[first + i], rows[i]
        for t in range(m):
            target[t] -= f0 * r0[t]
        i += 1


@borrowing
def _take(correlations: Any, m: int, best: int, k: int, gain: float, s: Any) -> None:
    """Make candidate ``best`` step k of the path."""
    first = k * (k + 1) // 2
    root = np.sqrt(s.left[best])
    for i in range(k):
        s.factor[first + i] = s.whitened[i, best]
    s.factor[first + k] = root
    chosen = s.candidates[best]
    s.path[k] = chosen
    s.gain[k] = gain
    s.loading[k] = s.along[best] / root
    row, new = correlations[chosen], s.whitened[k]
    for t in range(m):
        new[t] = row[s.candidates[t]]
    _subtract_rows(new, s.factor, first, s.whitened, k, m)
    scale, b = 1.0 / root, s.loading[k]
    left, along = s.left, s.along
    for t in range(m):
        w = new[t] * scale
        new[t] = w
        left[t] -= w * w
        along[t] -= b * w
    s.left[best] = 0.0
    s.along[best] = 0.0
    s.work[0] += m * (k + 4)


@borrowing
def extend(
    correlations: Any, m: int, k: int, variance: float, share: float, limit: int, s: Any
) -> tuple[int, float]:
    """Grow on from step k; give the length of the path and the variance left."""
    while k < limit and variance > NEGLIGIBLE:
        best = wide(-1)
        gain = variance * share
        left, along = s.left, s.along
        # Few blocks hold a new maximum: the others are passed over by a loop that vectorises.
        for block in range(0, m, BLOCK):
            end, hits = min(block + BLOCK, m), 0
            for t in range(block, end):
                hits += along[t] * along[t] > gain * left[t]
            if hits:
                for t in range(block, end):
                    g = along[t] * along[t]
                    if g > gain * left[t] and left[t] > NEGLIGIBLE:
                        best, gain = t, g / left[t]
        if best < 0:
            break
        if k >= len(s.path):
            s.overflow[0] = True
            break
        _take(correlations, m, best, k, gain, s)
        variance = max(variance - gain, NEGLIGIBLE)
        k += 1
    return k, variance


@borrowing
def start(correlations: Any, v: int, m: int, required: Any, s: Any) -> tuple[int, float]:
    """Begin the path of v with its required parents; give its length and the variance left.

    A required parent that the others determine has no place on the path: its weight is zero.
    """
    row = correlations[v]
    for t in range(m):
        j = s.candidates[t]
        s.left[t] = correlations[j, j]
        s.along[t] = row[j]
    k = wide(0)
    variance = 1.0
    for parent in required:
        for t in range(m):
            if s.candidates[t] == parent and s.left[t] > NEGLIGIBLE:
                if k >= len(s.path):
                    s.overflow[0] = True
                    return k, variance
                gain = s.along[t] * s.along[t] / s.left[t]
                _take(correlations, m, t, k, gain, s)
                # What joins later cannot take the place of a required step.
                s.gain[k] = np.inf
                variance = max(variance - gain, NEGLIGIBLE)
                k += 1
    return k, variance


@borrowing
def intrudes(
    correlations: Any,
    v: int,
    x: int,
    path: Any,
    factor: Any,
    loading: Any,
    gain: Any,
    variance: float,
    share: float,
    limit: int,
    projection: Any,
) -> float:
    """Variance that v's path and x leave, where x would be chosen somewhere on it; −1 if not."""
    row = correlations[x]
    along, left = row[v], row[x]
    k = len(path)
    first, enters = 0, False
    for i in range(k):
        if left <= NEGLIGIBLE:
            break
        enters = enters or along * along > gain[i] * left
        w = row[path[i]]
        for j in range(i):
            w -= factor[first + j] * projection[j]
        w /= factor[first + i]
        first += i + 1
        projection[i] = w
        along -= loading[i] * w
        left -= w * w
    if left <= NEGLIGIBLE or variance <= NEGLIGIBLE:
        return variance if enters else -1.0
    if not enters and (k >= limit or along * along <= variance * share * left):
        return -1.0
    return float(max(variance - along * along / left, NEGLIGIBLE))


@borrowing
def listen(
    correlations: Any,
    v: int,
    m: int,
    path: Any,
    factor: Any,
    loading: Any,
    gain: Any,
    variance: float,
    share: float,
    limit: int,
    s: Any,
) -> None:
    """`intrudes` for all candidates at once: marks those that would enter v's path in ``flags``."""
    row, k = correlations[v], len(path)
    left, along, flags = s.left, s.along, s.flags
    for t in range(m):
        j = s.candidates[t]
        left[t] = correlations[j, j]
        along[t] = row[j]
        flags[t] = False
    first = 0
    for i in range(k):
        new, line, target = s.whitened[i], correlations[path[i]], gain[i]
        for t in range(m):
            new[t] = line[s.candidates[t]]
        for t in range(m):
            flags[t] |= (along[t] * along[t] > target * left[t]) & (left[t] > NEGLIGIBLE)
        _subtract_rows(new, factor, first, s.whitened, i, m)
        scale, b = 1.0 / factor[first + i], loading[i]
        for t in range(m):
            w = new[t] * scale
            new[t] = w
            left[t] -= w * w
            along[t] -= b * w
        first += i + 1
    s.work[0] += m * k * (k + 6) // 2
    if k >= limit or variance <= NEGLIGIBLE:
        return
    target = variance * share
    for t in range(m):
        flags[t] |= (along[t] * along[t] > target * left[t]) & (left[t] > NEGLIGIBLE)
