"""Compiled choice of parents: grow and shrink the parents of one variable.

The path P is the list of columns added so far. L is the Cholesky factor of the correlations of the
path; W = L⁻¹ C[P, ·] and b = L⁻¹ C[P, v] are stored. For every other column j

    left[j]  = C[j, j] − Σ_i W[i, j]²     (variance of j given the path),
    along[j] = C[v, j] − Σ_i b_i W[i, j]  (covariance of v and j given the path),

so that adding j lowers the variance of v by along[j]² / left[j], and one step costs O(d k).
With h half the number of rows and c the penalty, lowering a variance s by g raises the score if
h log(s / (s − g)) > c, that is, if g exceeds the share 1 − exp(−c / h) of s.
"""

from typing import Any

import numpy as np

from cosmodag.runtime.compiled import inlined, part
from cosmodag.search.gaussian_scores import NEGLIGIBLE

# Counters are initialised as ``wide(0)``: a plain 0 has another type, for which Numba would compile
# the called functions a second time.
wide: Any = np.int64
# Columns in a chunk of the search for the maximum: most chunks hold no new maximum.
CHUNK = 64


@inlined
def extend(work: Any, k: int, best: int, count: int, left: Any, along: Any) -> float:
    """Add column ``best`` to a path of k columns; return its entry of b.

    ``work[k]`` holds the correlations of the column and is overwritten by its row of W. ``left``
    and ``along`` are updated for ``count`` columns.
    """
    new, i = work[k], wide(0)
    while i + 4 <= k:
        r0, r1, r2, r3 = work[i], work[i + 1], work[i + 2], work[i + 3]
        f0, f1, f2, f3 = r0[best], r1[best], r2[best], r3[best]
        for t in range(count):
            new[t] -= f0 * r0[t] + f1 * r1[t] + f2 * r2[t] + f3 * r3[t]
        i += 4
    while i < k:
        r0 = work[i]
        f0 = r0[best]
        for t in range(count):
            new[t] -= f0 * r0[t]
        i += 1
    root = np.sqrt(left[best])
    scale, b = 1.0 / root, along[best] / root
    for t in range(count):
        w = new[t] * scale
        new[t] = w
        left[t] -= w * w
        along[t] -= b * w
    left[best] = 0.0
    along[best] = 0.0
    return b


@part
def grow(
    correlations: Any,
    unit: float,
    v: int,
    forced: int,
    before: int,
    everyone: int,
    share: float,
    limit: int,
    work: Any,
    factor: Any,
    ints: Any,
) -> tuple[int, float]:
    """Grow the path of v; return its length (−1 if it does not fit ``work``) and residual variance.

    ``ints[0]`` lists columns: first the ``forced`` required parents, then up to place ``before``
    the columns that may be added, then up to place ``everyone`` columns that come after v in the
    order. Columns of the last group that a step would have preferred (blockers) are marked in
    ``ints[1]``. The path, as places in that list, is written to ``ints[2]``. The last four rows of
    ``work`` are left, along, b and the gains. Correlations are given in units of ``unit``.
    """
    columns, marks, path = ints[0], ints[1], ints[2]
    room = work.shape[0] - 4
    left, along = work[room], work[room + 1]
    loading, gains = work[room + 2], work[room + 3]
    row = correlations[v]
    for t in range(everyone):
        j = columns[t]
        left[t] = correlations[j, j] * unit
        along[t] = row[j] * unit
        marks[t] = 0
    k, variance = 0, 1.0
    must = 0
    while k < limit and (variance > NEGLIGIBLE or must < forced):
        best, gain = -1, variance * share
        if must < forced:
            if left[must] > NEGLIGIBLE:
                best, gain = must, along[must] * along[must] / left[must]
            must += 1
            if best < 0:
                continue
        else:
            for chunk in range(forced, before, CHUNK):
                end, hits = min(chunk + CHUNK, before), 0
                for t in range(chunk, end):
                    hits += along[t] * along[t] > gain * left[t]
                if hits:
                    for t in range(chunk, end):
                        square = along[t] * along[t]
                        if square > gain * left[t] and left[t] > NEGLIGIBLE:
                            best, gain = t, square / left[t]
            for t in range(before, everyone):
                marks[t] |= (along[t] * along[t] > gain * left[t]) & (left[t] > NEGLIGIBLE)
            if best < 0:
                break
        # Add the best column.
        if k >= room:
            return -1, variance
        new, own = work[k], factor[k]
        source = correlations[columns[best]]
        for t in range(everyone):
            new[t] = source[columns[t]] * unit
        for i in range(k):
            own[i] = work[i, best]
        own[k] = np.sqrt(left[best])
        loading[k] = extend(work, k, best, everyone, left, along)
        path[k], gains[k] = best, gain
        variance = max(variance - gain, NEGLIGIBLE)
        k += 1
    return k, variance


@part
def shrink(
    k: int, forced: int, variance: float, share: float, work: Any, factor: Any, ints: Any
) -> tuple[int, float]:
    """Drop the least useful columns of a path of k; return the number kept, and the variance.

    ``ints[3]`` marks the columns that are kept: the first ``forced``, and every column whose
    removal would raise the variance by at least ``share`` times the variance. Their weights are
    written to the last row of ``work``.
    """
    room = work.shape[0] - 4
    keep, loading, weights = ints[3], work[room + 2], work[room + 3]
    # ``factor[room:]`` holds L⁻¹ and, once a column has been dropped, L⁻ᵀ L⁻¹.
    inverse = factor[room:]
    for a in range(k):
        own, row = factor[a], inverse[a]
        for c in range(k):
            row[c] = 0.0
        for i in range(a):
            f, above = own[i], inverse[i]
            for c in range(i + 1):
                row[c] -= f * above[c]
        scale = 1.0 / own[a]
        for c in range(a):
            row[c] *= scale
        row[a] = scale
        keep[a] = 1
        weights[a] = 0.0
    for a in range(k):
        b, row = loading[a], inverse[a]
        for c in range(a + 1):
            weights[c] += b * row[c]
    diagonal = factor[2 * room]
    for c in range(k):
        diagonal[c] = 0.0
    for a in range(k):
        row = inverse[a]
        for c in range(a + 1):
            diagonal[c] += row[c] * row[c]
    left, full = k, False
    while left > forced:
        worst, rise = -1, np.inf
        for a in range(forced, k):
            if keep[a] and weights[a] * weights[a] < rise * diagonal[a]:
                worst, rise = a, weights[a] * weights[a] / diagonal[a]
        if rise >= variance * share:
            break
        if not full:
            full = True
            for a in range(k):
                for c in range(a + 1):
                    total = 0.0
                    for i in range(a, k):
                        total += inverse[i, a] * inverse[i, c]
                    diagonal[c] = total
                for c in range(a + 1):
                    inverse[c, a] = diagonal[c]
            for a in range(k):
                for c in range(a):
                    inverse[a, c] = inverse[c, a]
                diagonal[a] = inverse[a, a]
        keep[worst] = 0
        variance += rise
        left -= 1
        pivot, weight, row = inverse[worst, worst], weights[worst], inverse[worst]
        for a in range(k):
            if a != worst:
                line = inverse[a]
                f = line[worst] / pivot
                weights[a] -= f * weight
                for c in range(k):
                    line[c] -= f * row[c]
                diagonal[a] = line[a]
        weights[worst] = 0.0
    return left, variance
