"""Compiled choice of parents among blocks of columns, by residual log-determinants.

A variable is a block of columns of one correlation matrix C. As a child it is its first columns T,
as a parent all of them. With parents P the child's score is

    −(n/2) log(det cov(T | P) / det cov(T)) − c · |T| · (columns of P):

a Gaussian score for one column, the degenerate Gaussian one for the indicators of a category. It
does not change where the columns of a block are replaced by others that span the same space.

While the path grows, its columns are orthonormalised: rows W = L⁻¹ C[path, ·]. Of the covariances
given the path, C − Wᵀ W, only those within each block and those with T are kept.
"""

from typing import Any

import numpy as np

from cosmodag.compiled import compiled

__all__ = ["CANDIDATE", "LATER", "NO_CANDIDATE", "REQUIRED", "choose_blocks"]

# Roles of the other variables when the parents of one are chosen.
NO_CANDIDATE, CANDIDATE, REQUIRED, LATER = 0, 1, 2, 3
# Columns of which less than this share of the variance is left are collinear with the others.
COLLINEAR = 1e-9


@compiled
def choose_blocks(
    correlations: Any, starts: Any, targets: Any, v: int, roles: Any, settings: Any, found: Any
) -> tuple[int, float]:
    """Grow and shrink the parents of v; give the length of the path and the score.

    ``roles`` says what every other variable is. ``settings``: half the rows, penalty while growing,
    penalty, most columns of parents. Rows of ``found``: the path, required parents first; which of
    the path are parents; and which later variables the path would have taken.
    """
    d, size = len(roles), starts[len(roles)]
    first, count, widest = starts[v], targets[v], 1
    for u in range(d):
        widest = max(widest, starts[u + 1] - starts[u])
    most = int(min(settings[3], float(size)))
    within, along = np.empty((size, widest)), np.empty((size, count))
    for u in range(d):
        found[1, u] = found[2, u] = 0
        for s in range(starts[u], starts[u + 1]):
            for t in range(starts[u], starts[u + 1]):
                within[s, t - starts[u]] = correlations[s, t]
            for j in range(count):
                along[s, j] = correlations[s, first + j]
    rows = np.empty((size, size))
    small = np.empty((widest + count, widest + count))
    waiting = roles.copy()
    now = _left(within, along, first, 0, first, count, small)
    k, taken = 0, 0
    while True:
        best, gain, left = -1, 0.0, now
        for u in range(d):
            if waiting[u] == REQUIRED:
                best = u
        for u in range(d if best < 0 else 0):
            width = starts[u + 1] - starts[u]
            if waiting[u] == CANDIDATE and taken + width <= most:
                after = _left(within, along, starts[u], width, first, count, small)
                worth = settings[0] * (now - after) - settings[1] * count * width
                if worth > gain:
                    best, gain, left = u, worth, after
        for u in range(d if best < 0 or waiting[best] != REQUIRED else 0):
            width = starts[u + 1] - starts[u]
            if waiting[u] == LATER and taken + width <= most:
                after = _left(within, along, starts[u], width, first, count, small)
                worth = settings[0] * (now - after) - settings[1] * count * width
                found[2, u] |= worth > gain
        if best < 0:
            break
        if waiting[best] == REQUIRED:
            width = starts[best + 1] - starts[best]
            left = _left(within, along, starts[best], width, first, count, small)
        waiting[best] = NO_CANDIDATE
        found[0, k] = best
        for s in range(starts[best], starts[best + 1]):
            if within[s, s - starts[best]] > COLLINEAR:
                _take(correlations, starts, s, taken, rows, within, along, first, count)
                taken += 1
        now = left
        k += 1
    return k, _shrink(correlations, starts, roles, settings, first, count, k, found, small)


@compiled
def _left(
    within: Any, along: Any, begin: int, width: int, first: int, count: int, small: Any
) -> float:
    """Log-determinant of the targets' covariance given the path and one more block."""
    for a in range(width):
        for c in range(width):
            small[a, c] = within[begin + a, c]
        for j in range(count):
            small[a, width + j] = small[width + j, a] = along[begin + a, j]
    for a in range(count):
        for c in range(count):
            small[width + a, width + c] = along[first + a, c]
    return _log_determinant(small, width, count, 1.0)


@compiled
def _log_determinant(small: Any, width: int, count: int, sign: float) -> float:
    """Log-determinant of D − sign · Bᵀ A⁻¹ B, for the matrix with A and D on its diagonal."""
    size, total = width + count, 0.0
    for p in range(size):
        pivot = small[p, p]
        if p >= width:
            pivot = max(pivot, COLLINEAR)
            total += np.log(pivot)
        elif pivot <= COLLINEAR:
            continue
        for a in range(p + 1, size):
            factor = small[a, p] / pivot
            for c in range(p + 1, size):
                change = factor * small[p, c]
                small[a, c] -= change * sign if p < width <= a and c >= width else change
    return total


@compiled
def _take(
    correlations: Any,
    starts: Any,
    s: int,
    taken: int,
    rows: Any,
    within: Any,
    along: Any,
    first: int,
    count: int,
) -> None:
    """Put one column at the end of the path, and take what it explains from all others."""
    size = starts[len(starts) - 1]
    for t in range(size):
        rows[taken, t] = correlations[s, t]
    for i in range(taken):
        factor = rows[i, s]
        for t in range(size):
            rows[taken, t] -= factor * rows[i, t]
    scale = 1.0 / np.sqrt(max(rows[taken, s], COLLINEAR))
    for t in range(size):
        rows[taken, t] *= scale
    for u in range(len(starts) - 1):
        for t in range(starts[u], starts[u + 1]):
            for c in range(starts[u + 1] - starts[u]):
                within[t, c] -= rows[taken, t] * rows[taken, starts[u] + c]
            for j in range(count):
                along[t, j] -= rows[taken, t] * rows[taken, first + j]


@compiled
def _shrink(
    correlations: Any,
    starts: Any,
    roles: Any,
    settings: Any,
    first: int,
    count: int,
    k: int,
    found: Any,
    small: Any,
) -> float:
    """Drop the parents whose loss raises the score, the least useful first; give the score."""
    half, price = settings[0], settings[2] * count
    for i in range(k):
        found[1, i] = 1
    alone, _ = _swept(correlations, starts, first, count, 0, found)
    for a in range(count):
        for c in range(count):
            small[a, c] = alone[a, c]
    nothing = _log_determinant(small, 0, count, 1.0)
    while True:
        table, places = _swept(correlations, starts, first, count, k, found)
        inside = len(table) - count
        for a in range(count):
            for c in range(count):
                small[a, c] = table[inside + a, inside + c]
        now = _log_determinant(small, 0, count, 1.0)
        worst, cheapest, parameters = -1, 0.0, 0.0
        for i in range(k):
            width = starts[found[0, i] + 1] - starts[found[0, i]]
            parameters += found[1, i] * width
            if not found[1, i] or roles[found[0, i]] == REQUIRED:
                continue
            begin, end = places[i], places[i + 1]
            for a in range(end - begin):
                for c in range(end - begin):
                    small[a, c] = table[begin + a, begin + c]
                for j in range(count):
                    small[a, end - begin + j] = table[begin + a, inside + j]
                    small[end - begin + j, a] = table[begin + a, inside + j]
            for a in range(count):
                for c in range(count):
                    place = end - begin + a, end - begin + c
                    small[place] = table[inside + a, inside + c]
            without = _log_determinant(small, end - begin, count, -1.0)
            cost = half * (without - now) - price * width
            if cost < cheapest:
                worst, cheapest = i, cost
        if worst < 0:
            return float(-half * (now - nothing) - price * parameters)
        found[1, worst] = 0


@compiled
def _swept(
    correlations: Any, starts: Any, first: int, count: int, k: int, found: Any
) -> tuple[Any, Any]:
    """Regress targets on parents.

    Gives the inverse of the parents' correlations, weights, and residual covariance of the targets
    in one matrix, and where the columns of each parent begin in it. Collinear columns are left out.
    """
    size = 0
    places = np.zeros(k + 1, np.int64)
    for i in range(k):
        if found[1, i]:
            size += starts[found[0, i] + 1] - starts[found[0, i]]
        places[i + 1] = size
    columns = np.empty(size + count, np.int64)
    at = 0
    for i in range(k):
        if found[1, i]:
            for s in range(starts[found[0, i]], starts[found[0, i] + 1]):
                columns[at] = s
                at += 1
    for j in range(count):
        columns[size + j] = first + j
    table = np.empty((size + count, size + count))
    for a in range(size + count):
        for c in range(size + count):
            table[a, c] = correlations[columns[a], columns[c]]
    for p in range(size):
        pivot = table[p, p]
        if pivot <= COLLINEAR:
            for a in range(size + count):
                table[a, p] = table[p, a] = 0.0
            continue
        for c in range(size + count):
            table[p, c] = table[p, c] / pivot if c != p else 1.0 / pivot
        for a in range(size + count):
            if a != p:
                factor = table[a, p]
                table[a, p] = -factor / pivot
                for c in range(size + count):
                    if c != p:
                        table[a, c] -= factor * table[p, c]
    return table, places
