"""Compiled choice of parents among blocks of columns, by residual log-determinants.

A variable is a block of columns of one correlation matrix C. Its first columns T represent it as a
child. As a parent, it is also represented by its first columns: by all of them, or by as many as
raise the score. Given the columns P of its parents, the score of a child is

    −(n/2) log(det cov(T | P) / det cov(T)) − c · |T| · |P| − a · (number of parents):

the Gaussian score if T is one column, and the degenerate Gaussian score if T are the indicators of
a category. The score does not change if the columns of a block are replaced by others that span the
same spaces.

Growing adds columns to a *path*, and orthonormalises them: rows W = L⁻¹ C[path, ·]. Of the
covariances given the path, C − Wᵀ W, only those within each block and those with T are stored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.compiled import compiled, part

# Roles of the other variables while the parents of one are chosen: the `Constraints.rules`, and
# LATER for a variable that could be a parent but comes after the child in the order.
NO_CANDIDATE, CANDIDATE, REQUIRED, LATER = 0, 1, 2, 3
# A column whose variance given the others is below this fraction is treated as collinear with them.
COLLINEAR = 1e-9
# A plain 0 has another type, for which Numba compiles the called functions a second time.
ZERO: Any = np.int64(0)


class Workspace(NamedTuple):
    """Arrays that `choose_blocks` overwrites: functions that allocate take longer to compile.

    The shapes are for d variables with s columns in total and at most w columns each.
    """

    within: NDArray[np.float64]  # (s, w): covariances within each block, given the path
    along: NDArray[np.float64]  # (s, w): covariances with the targets, given the path
    rows: NDArray[np.float64]  # (s, s): W
    small: NDArray[np.float64]  # (2 w, 2 w): covariance of the columns of one block and the targets
    block: NDArray[np.float64]  # (w, w): copy of the covariance of the targets
    logdets: NDArray[np.float64]  # (w + 1,): log-determinants
    table: NDArray[np.float64]  # (s + w, s + w): regression of the targets on the parents
    columns: NDArray[np.int64]  # (s + w,): columns of the regression
    places: NDArray[np.int64]  # (d,): first column of each parent in the regression


def new_workspace(layout: NDArray[np.int64]) -> Workspace:
    """Allocate the arrays for variables with the layout that `choose_blocks` takes."""
    starts = layout[0]
    size, widest = int(starts[-1]), int(np.diff(starts).max(initial=1))
    shapes = (
        (size, widest),
        (size, widest),
        (size, size),
        (2 * widest, 2 * widest),
        (widest, widest),
        widest + 1,
        (size + widest, size + widest),
    )
    arrays: list[Any] = [np.zeros(shape) for shape in shapes]
    arrays += [np.zeros(length, np.int64) for length in (size + widest, len(starts) - 1)]
    return Workspace(*arrays)


@compiled
def choose_blocks(
    correlations: Any, layout: Any, v: int, roles: Any, settings: Any, found: Any, space: Any
) -> float:
    """Grow and shrink the parents of v; return their score.

    The rows of ``layout`` are the first column of each variable, its number of target columns, and
    the minimum number of columns that it has as a parent. ``roles`` has the role of every other
    variable. ``settings`` are half the number of rows; the penalties per parameter and per arc for
    growing; the same for shrinking; and the maximum number of columns of parents. The rows of
    ``found``, which is overwritten, are the number of columns of each variable on the path; the
    number after shrinking; and 1 for each later variable that growing would have preferred.
    """
    d, starts, first, count = len(roles), layout[0], layout[0, v], layout[1, v]
    max_columns = int(min(settings[5], float(starts[d])))
    within, along, logdets = space.within, space.along, space.logdets
    for u in range(d):
        found[0, u] = found[1, u] = found[2, u] = 0
        for s in range(starts[u], starts[u + 1]):
            for t in range(starts[u], starts[u + 1]):
                within[s, t - starts[u]] = correlations[s, t]
            for j in range(count):
                along[s, j] = correlations[s, first + j]
    _prefix_logdets(space, first, ZERO, ZERO, first, count)
    logdet, path_length = logdets[0], ZERO
    while True:
        best, best_width, best_gain, best_logdet = -1, 0, 0.0, logdet
        for u in range(d):
            if roles[u] == REQUIRED and found[0, u] == 0:
                best, best_width, best_gain = u, max(layout[2, u], 1), np.inf
                _prefix_logdets(space, starts[u], ZERO, best_width, first, count)
                best_logdet = logdets[best_width]
                break
        # The second pass finds later variables that gain more than the best candidate.
        for late in range(2 if best < 0 else 0):
            for u in range(d):
                used, width = found[0, u], starts[u + 1] - starts[u]
                if (roles[u] == LATER) != (late == 1) or roles[u] == NO_CANDIDATE or used == width:
                    continue
                width = min(width, used + max_columns - path_length)
                if width <= used:  # required parents alone may exceed the maximum
                    continue
                _prefix_logdets(space, starts[u], used, width, first, count)
                for q in range(max(used + 1, layout[2, u]), width + 1):
                    gain = settings[0] * (logdet - logdets[q]) - settings[1] * count * (q - used)
                    gain -= settings[2] * (used == 0)
                    if gain > best_gain and late:
                        found[2, u] = 1
                    elif gain > best_gain:
                        best, best_width, best_gain, best_logdet = u, q, gain, logdets[q]
        if best < 0:
            break
        for s in range(starts[best] + found[0, best], starts[best] + best_width):
            if within[s, s - starts[best]] > COLLINEAR:
                _add_column(correlations, starts, s, path_length, space, first, count)
                path_length += 1
        found[0, best], logdet = best_width, best_logdet
    return _shrink(correlations, layout, roles, settings, v, found, space)


@part
def _prefix_logdets(space: Any, start: int, used: int, width: int, first: int, count: int) -> None:
    """Log-determinants of the covariance of the targets given the path and columns of a block.

    ``logdets[q]`` is that given the first q columns of the block, for q from ``used``, the number
    of columns on the path, to ``width``.
    """
    within, along, small, new = space.within, space.along, space.small, width - used
    for a in range(new):
        for c in range(new):
            small[a, c] = within[start + used + a, used + c]
        for j in range(count):
            small[a, new + j] = small[new + j, a] = along[start + used + a, j]
    for a in range(count):
        for c in range(count):
            small[new + a, new + c] = along[first + a, c]
    _eliminate(space, new, count, 1.0, used)


@part
def _eliminate(space: Any, width: int, count: int, sign: float, begin: int) -> None:
    """Log-determinants of D − sign · Bᵀ A⁻¹ B, where ``small`` has the blocks [[A, B], [Bᵀ, D]].

    ``logdets[begin + q]`` uses only the first q rows and columns of A, and the first q rows of B.
    """
    size, small, logdets, block = width + count, space.small, space.logdets, space.block
    logdets[begin] = _log_determinant(small, width, count, block)
    for p in range(width):
        pivot = small[p, p]
        if pivot > COLLINEAR:
            for a in range(p + 1, size):
                factor = small[a, p] / pivot
                for c in range(p + 1, size):
                    change = factor * small[p, c]
                    small[a, c] -= change * sign if a >= width and c >= width else change
        logdets[begin + p + 1] = _log_determinant(small, width, count, block)


@part
def _log_determinant(matrix: Any, at: int, count: int, block: Any) -> float:
    """Log-determinant of the diagonal block of ``count`` rows that begins at row ``at``."""
    if count == 1:
        return float(np.log(max(matrix[at, at], COLLINEAR)))
    total = 0.0
    for a in range(count):
        for c in range(count):
            block[a, c] = matrix[at + a, at + c]
    for p in range(count):
        pivot = max(block[p, p], COLLINEAR)
        total += np.log(pivot)
        for a in range(p + 1, count):
            factor = block[a, p] / pivot
            for c in range(p + 1, count):
                block[a, c] -= factor * block[p, c]
    return float(total)


@part
def _add_column(
    correlations: Any, starts: Any, s: int, taken: int, space: Any, first: int, count: int
) -> None:
    """Append column s to the path, and condition the stored covariances on it."""
    rows, within, along = space.rows, space.within, space.along
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


@part
def _shrink(
    correlations: Any, layout: Any, roles: Any, settings: Any, v: int, found: Any, space: Any
) -> float:
    """Drop parents, or their last columns, while that raises the score; return the score."""
    d, half = len(roles), settings[0]
    small, logdets, block = space.small, space.logdets, space.block
    table, places = space.table, space.places
    starts, first, count = layout[0], layout[0, v], layout[1, v]
    penalty, arc_penalty = settings[3] * count, settings[4]
    for a in range(count):
        for c in range(count):
            small[a, c] = correlations[first + a, first + c]
    without_parents = _log_determinant(small, ZERO, count, block)
    for u in range(d):
        found[1, u] = found[0, u]
    while True:
        size = _regress(correlations, starts, first, count, found, space)
        worst, worst_width, least_cost, penalties = -1, 0, 0.0, 0.0
        logdet = _log_determinant(table, size, count, block)
        for u in range(d):
            width = found[1, u]
            if width == 0:
                continue
            penalties += penalty * width + arc_penalty
            # The last columns are dropped first, so they come first in the matrix.
            end = places[u] + width - 1
            for a in range(width):
                for c in range(width):
                    small[a, c] = table[end - a, end - c]
                for j in range(count):
                    small[a, width + j] = small[width + j, a] = table[end - a, size + j]
            for a in range(count):
                for c in range(count):
                    small[width + a, width + c] = table[size + a, size + c]
            _eliminate(space, width, count, -1.0, ZERO)
            for q in range(width):
                if q < layout[2, u] and (q > 0 or roles[u] == REQUIRED):
                    continue
                cost = half * (logdets[width - q] - logdet) - penalty * (width - q)
                cost -= arc_penalty * (q == 0)
                if cost < least_cost:
                    worst, worst_width, least_cost = u, q, cost
        if worst < 0:
            return float(-half * (logdet - without_parents) - penalties)
        found[1, worst] = worst_width


@part
def _regress(correlations: Any, starts: Any, first: int, count: int, found: Any, space: Any) -> Any:
    """Regress the targets on the parents by sweeping; return the parents' number of columns.

    ``table`` becomes the inverse of the parents' correlations, the weights, and the residual
    covariance of the targets; ``places`` the first column of each parent in it. Of a column that is
    collinear with those before it, row and column become zero.
    """
    d, size = len(starts) - 1, ZERO
    table, columns, places = space.table, space.columns, space.places
    for u in range(d):
        places[u] = size
        size += found[1, u]
    for u in range(d):
        for q in range(found[1, u]):
            columns[places[u] + q] = starts[u] + q
    for j in range(count):
        columns[size + j] = first + j
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
    return size
