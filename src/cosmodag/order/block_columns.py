"""Compiled choice of parents among blocks of columns, by residual log-determinants.

A variable is a block of columns of one correlation matrix C. As a child it is its first columns T,
as a parent its first columns too: all of them, or as many as the data pay for. With columns P of
the parents the child's score is

    −(n/2) log(det cov(T | P) / det cov(T)) − c · |T| · |P| − a · (number of parents):

a Gaussian score for one column, the degenerate Gaussian one for the indicators of a category. It
does not change where the columns of a block are replaced by others that span the same spaces.

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
    correlations: Any, layout: Any, v: int, roles: Any, settings: Any, found: Any
) -> float:
    """Grow and shrink the parents of v; give the score.

    Rows of ``layout``: where the columns of each variable start, its number of target columns, and
    the fewest columns with which it is a parent. ``roles`` says what every other variable is.
    ``settings``: half the rows; prices of a parameter and of an arc while growing; the same
    finally; most columns of parents. Rows of ``found``: how many columns of each variable are on
    the path; of each parent; and which later variables the path would have taken.
    """
    d, starts, first, count = len(roles), layout[0], layout[0, v], layout[1, v]
    size, widest = starts[d], 1
    for u in range(d):
        widest = max(widest, starts[u + 1] - starts[u])
    most = int(min(settings[5], float(size)))
    within, along = np.empty((size, widest)), np.empty((size, count))
    for u in range(d):
        found[0, u] = found[1, u] = found[2, u] = 0
        for s in range(starts[u], starts[u + 1]):
            for t in range(starts[u], starts[u + 1]):
                within[s, t - starts[u]] = correlations[s, t]
            for j in range(count):
                along[s, j] = correlations[s, first + j]
    rows = np.empty((size, size))
    small, left = np.empty((widest + count, widest + count)), np.empty(widest + 1)
    left[0] = 0.0
    _nested(within, along, starts[v], 0, 0, first, count, small, left)
    now, taken = left[0], 0
    while True:
        best, to, gain, reached = -1, 0, 0.0, now
        for u in range(d):
            has, width = found[0, u], starts[u + 1] - starts[u]
            is_needed = roles[u] == REQUIRED and has == 0
            if is_needed:
                best, to, gain = u, max(layout[2, u], 1), np.inf
                _nested(within, along, starts[u], 0, to, first, count, small, left)
                reached = left[to]
                break
        for late in range(2 if best < 0 else 0):
            for u in range(d):
                has, width = found[0, u], starts[u + 1] - starts[u]
                if (roles[u] == LATER) != (late == 1) or roles[u] == NO_CANDIDATE or has == width:
                    continue
                width = min(width, has + most - taken)
                _nested(within, along, starts[u], has, width, first, count, small, left)
                for q in range(max(has + 1, layout[2, u]), width + 1):
                    worth = settings[0] * (now - left[q]) - settings[1] * count * (q - has)
                    worth -= settings[2] * (has == 0)
                    if worth > gain and late:
                        found[2, u] = 1
                    elif worth > gain:
                        best, to, gain, reached = u, q, worth, left[q]
        if best < 0:
            break
        for s in range(starts[best] + found[0, best], starts[best] + to):
            if within[s, s - starts[best]] > COLLINEAR:
                _take(correlations, starts, s, taken, rows, within, along, first, count)
                taken += 1
        found[0, best], now = to, reached
    return _shrink(correlations, layout, roles, settings, v, found, small, left)


@compiled
def _nested(
    within: Any,
    along: Any,
    start: int,
    has: int,
    to: int,
    first: int,
    count: int,
    small: Any,
    left: Any,
) -> None:
    """Log-determinants of the targets' covariance given the path and more columns of a block.

    ``left[q]`` is that with the first q columns of the block, for q from ``has`` to ``to``.
    """
    for a in range(has, to):
        for c in range(has, to):
            small[a - has, c - has] = within[start + a, c]
        for j in range(count):
            small[a - has, to - has + j] = small[to - has + j, a - has] = along[start + a, j]
    for a in range(count):
        for c in range(count):
            small[to - has + a, to - has + c] = along[first + a, c]
    _eliminate(small, to - has, count, 1.0, left[has:])


@compiled
def _eliminate(small: Any, width: int, count: int, sign: float, left: Any) -> None:
    """Log-determinants of D − sign · Bᵀ A⁻¹ B, for the matrix with A and D on its diagonal.

    ``left[q]`` is that where A and B have their first q columns and rows only.
    """
    size = width + count
    left[0] = _log_determinant(small, width, count)
    for p in range(width):
        pivot = small[p, p]
        if pivot > COLLINEAR:
            for a in range(p + 1, size):
                factor = small[a, p] / pivot
                for c in range(p + 1, size):
                    change = factor * small[p, c]
                    small[a, c] -= change * sign if a >= width and c >= width else change
        left[p + 1] = _log_determinant(small, width, count)


@compiled
def _log_determinant(small: Any, at: int, count: int) -> float:
    """Log-determinant of the block of a matrix that begins at a place of the diagonal."""
    if count == 1:
        return float(np.log(max(small[at, at], COLLINEAR)))
    block, total = small[at : at + count, at : at + count].copy(), 0.0
    for p in range(count):
        pivot = max(block[p, p], COLLINEAR)
        total += np.log(pivot)
        for a in range(p + 1, count):
            factor = block[a, p] / pivot
            for c in range(p + 1, count):
                block[a, c] -= factor * block[p, c]
    return float(total)


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
    size = rows.shape[1]
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
    layout: Any,
    roles: Any,
    settings: Any,
    v: int,
    found: Any,
    small: Any,
    left: Any,
) -> float:
    """Drop parents, or their last columns, while that raises the score; give the score."""
    d, half = len(roles), settings[0]
    starts, first, count = layout[0], layout[0, v], layout[1, v]
    price, arc = settings[3] * count, settings[4]
    for a in range(count):
        for c in range(count):
            small[a, c] = correlations[first + a, first + c]
    nothing = _log_determinant(small, 0, count)
    for u in range(d):
        found[1, u] = found[0, u]
    while True:
        table, places = _swept(correlations, starts, first, count, found)
        inside = len(table) - count
        now, worst, to, cheapest, total = 0.0, -1, 0, 0.0, 0.0
        now = _log_determinant(table, inside, count)
        for u in range(d):
            width = found[1, u]
            if width == 0:
                continue
            total += price * width + arc
            # Columns are given up from the last: the order of the matrix is reversed.
            end = places[u] + width - 1
            for a in range(width):
                for c in range(width):
                    small[a, c] = table[end - a, end - c]
                for j in range(count):
                    small[a, width + j] = small[width + j, a] = table[end - a, inside + j]
            for a in range(count):
                for c in range(count):
                    small[width + a, width + c] = table[inside + a, inside + c]
            _eliminate(small, width, count, -1.0, left)
            for q in range(width):
                if q < layout[2, u] and (q > 0 or roles[u] == REQUIRED):
                    continue
                cost = half * (left[width - q] - now) - price * (width - q) - arc * (q == 0)
                if cost < cheapest:
                    worst, to, cheapest = u, q, cost
        if worst < 0:
            return float(-half * (now - nothing) - total)
        found[1, worst] = to


@compiled
def _swept(correlations: Any, starts: Any, first: int, count: int, found: Any) -> tuple[Any, Any]:
    """Regress targets on parents.

    Gives the inverse of the parents' correlations, weights, and residual covariance of the targets
    in one matrix, and where the columns of each parent begin in it. Collinear columns are left out.
    """
    d, size = len(starts) - 1, 0
    places = np.zeros(d, np.int64)
    for u in range(d):
        places[u] = size
        size += found[1, u]
    columns = np.empty(size + count, np.int64)
    for u in range(d):
        for q in range(found[1, u]):
            columns[places[u] + q] = starts[u] + q
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
