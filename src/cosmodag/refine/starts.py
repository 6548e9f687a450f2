"""Orders to start a search from, without learning anything."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.compiled import borrowing
from cosmodag.refine.grow import NEGLIGIBLE
from cosmodag.refine.moments import Moments
from cosmodag.refine.scores import default_penalty

__all__ = ["equal_variance_order", "respecting", "variance_order"]

# Conditioning on all predecessors is worth its noise while there are this many rows for each.
ROWS_PER_VARIABLE = 4
FIRST_ROOM = 48


def variance_order(moments: Moments) -> NDArray[np.int64]:
    """Variables by rising variance; ties by index.

    Examples
    --------
    >>> variance_order(Moments.of([[0.0, 1.0, 2.0], [3.0, 2.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    return np.argsort(moments.own_scales, kind="stable").astype(np.int64)


def respecting(order: ArrayLike, before: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Nearest order to a given one in which u comes before v wherever ``before[u, v]``.

    Of the variables free to come next, the one that comes first in the given order does.

    Examples
    --------
    >>> before = np.zeros((3, 3), bool)
    >>> before[2, 0] = True
    >>> respecting([0, 1, 2], before).tolist()
    [1, 2, 0]
    """
    given = np.array(order, np.int64)
    if before is None:
        return given
    place = np.empty(len(given), np.int64)
    place[given] = np.arange(len(given))
    waiting = np.count_nonzero(before, axis=0)
    free = [int(place[v]) for v in np.flatnonzero(waiting == 0)]
    heapq.heapify(free)
    found = []
    while free:
        v = given[heapq.heappop(free)]
        found.append(v)
        for w in np.flatnonzero(before[v]):
            waiting[w] -= 1
            if waiting[w] == 0:
                heapq.heappush(free, int(place[w]))
    return np.array(found, np.int64)


def equal_variance_order(
    moments: Moments,
    *,
    exact: bool | None = None,
    penalty: float | None = None,
    before: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    r"""Order from the top down: next comes the variable of least variance given those in order.

    With errors of equal variance this is consistent (Chen, Drton and Wang 2019). Two ways to
    condition:

    - *exact*, on all variables in order, by a Cholesky factorisation that chooses its pivots:
      O(d³/3), a second at d = 1,000. Variables that those before determine follow by their
      variance.
    - *sparse*, on those that explain more than the penalty per arc at the time they join, the
      useless dropped again whenever the list has doubled: O(d² k²) for lists of k. Not the same
      order, and a better one where rows are few: conditioning on m of n rows' worth of variables
      leaves n − m rows to tell variances apart.

    Parameters
    ----------
    moments : Moments
    exact : bool, optional
        Which way; by default exact where there are four rows per variable, and one set of rows.
    penalty : float, optional
        Of the sparse way; by default `default_penalty`.
    before : (d, d) array of bool, optional
        Variables that must come before others.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.normal(size=500), random.normal(size=500)
    >>> equal_variance_order(Moments.of(np.column_stack([0.9 * x + noise, x]))).tolist()
    [1, 0]
    """
    d = moments.variables
    if exact is None:
        exact = len(moments.rows) == 1 and moments.rows[0] >= ROWS_PER_VARIABLE * d
    waiting = np.zeros(d, np.int64)
    rules = np.zeros((0, 0), np.bool_)
    if before is not None:
        waiting[:] = np.count_nonzero(before, axis=0)
        rules = np.ascontiguousarray(before, np.bool_)
    if exact:
        return _exact(moments, rules, waiting)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    return _sparse(moments, penalty, rules, waiting)


def _exact(
    moments: Moments, before: NDArray[np.bool_], waiting: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Pivoted Cholesky factorisation of the covariance, smallest pivot first."""
    scales = moments.own_scales
    d = len(scales)
    correlations = moments.correlations[0]
    left = np.diag(correlations).copy()
    whitened = np.empty((d, d))
    order, used = [], 0
    placed = np.zeros(d, bool)
    for _ in range(d):
        conditional = np.where(left > NEGLIGIBLE, left * scales**2, 0.0)
        conditional[placed | (waiting > 0)] = np.inf
        # Those determined by others come by their variance.
        smallest = np.flatnonzero(conditional == conditional.min())
        v = int(smallest[np.argmin(scales[smallest])])
        order.append(v)
        placed[v] = True
        if len(before):
            waiting -= before[v]
        if left[v] > NEGLIGIBLE:
            column = whitened[:used, v].copy()
            row = correlations[v] - column @ whitened[:used]
            row /= np.sqrt(left[v])
            whitened[used] = row
            used += 1
            left -= row * row
    return np.array(order, np.int64)


def _sparse(
    moments: Moments, penalty: float, before: NDArray[np.bool_], waiting: NDArray[np.int64]
) -> NDArray[np.int64]:
    d = moments.variables
    room = min(FIRST_ROOM, d)
    while True:
        order = np.empty(d, np.int64)
        done = _order_from_the_top(
            moments.correlations,
            moments.group,
            -np.expm1(-2.0 * penalty / moments.rows),
            np.expm1(2.0 * penalty / moments.rows),
            np.maximum(moments.rows - 2, 0).astype(np.int64),
            moments.own_scales**2,
            before,
            waiting.copy(),
            np.empty((d, room), np.int64),
            np.empty((d, room * (room + 1) // 2)),
            np.empty((d, room)),
            np.zeros(d, np.int64),
            np.full(d, 8, np.int64),
            np.ones(d),
            np.empty(room),
            np.empty((room, room)),
            np.empty(room),
            np.zeros(d, np.bool_),
            order,
        )
        if done:
            return order
        room = min(2 * room, d)


@borrowing
def _order_from_the_top(
    correlations: Any,
    group: Any,
    gain_share: Any,
    rise_share: Any,
    limit: Any,
    squares: Any,
    before: Any,
    waiting: Any,
    path: Any,
    factor: Any,
    loading: Any,
    length: Any,
    tidy_at: Any,
    variance: Any,
    projection: Any,
    inverse: Any,
    weights: Any,
    placed: Any,
    order: Any,
) -> bool:
    """Fill ``order``; False where a list is too short. See `equal_variance_order`."""
    d = len(order)
    for position in range(d):
        chosen, least = -1, np.inf
        for v in range(d):
            if not placed[v] and waiting[v] == 0:
                value = variance[v] * squares[v]
                if chosen < 0 or value < least:
                    chosen, least = v, value
        order[position] = chosen
        placed[chosen] = True
        if len(before):
            for v in range(d):
                if before[chosen, v]:
                    waiting[v] -= 1
        for v in range(d):
            g = group[v]
            if placed[v] or variance[v] <= NEGLIGIBLE or length[v] >= limit[g]:
                continue
            if not _join(
                correlations[g],
                v,
                chosen,
                gain_share[g],
                path[v],
                factor[v],
                loading[v],
                length,
                variance,
                projection,
            ):
                continue
            if length[v] >= tidy_at[v] or length[v] == path.shape[1]:
                _tidy(
                    correlations[g],
                    v,
                    rise_share[g],
                    path[v],
                    factor[v],
                    loading[v],
                    length,
                    variance,
                    inverse,
                    weights,
                )
                tidy_at[v] = max(8, 2 * length[v])
                if length[v] == path.shape[1] and length[v] < d:
                    return False
    return True


@borrowing
def _join(
    correlations: Any,
    v: int,
    x: int,
    share: float,
    path: Any,
    factor: Any,
    loading: Any,
    length: Any,
    variance: Any,
    projection: Any,
) -> bool:
    """Put x at the end of v's list if it explains enough; tell whether it does."""
    k, first = length[v], 0
    along, left = correlations[v, x], correlations[x, x]
    for i in range(k):
        w = correlations[x, path[i]]
        for j in range(i):
            w -= factor[first + j] * projection[j]
        w /= factor[first + i]
        first += i + 1
        projection[i] = w
        along -= loading[i] * w
        left -= w * w
    if left <= NEGLIGIBLE or along * along <= variance[v] * share * left:
        return False
    root = np.sqrt(left)
    for i in range(k):
        factor[first + i] = projection[i]
    factor[first + k] = root
    path[k] = x
    loading[k] = along / root
    variance[v] = max(variance[v] - loading[k] * loading[k], NEGLIGIBLE)
    length[v] = k + 1
    return True


@borrowing
def _tidy(
    correlations: Any,
    v: int,
    share: float,
    path: Any,
    factor: Any,
    loading: Any,
    length: Any,
    variance: Any,
    inverse: Any,
    weights: Any,
) -> None:
    """Drop from v's list what the others make useless, and factorise what stays."""
    k = length[v]
    _gauss_jordan(correlations, path, k, inverse)
    for a in range(k):
        weights[a] = 0.0
        for c in range(k):
            weights[a] += inverse[a, c] * correlations[path[c], v]
    while k > 0:
        worst, rise = -1, np.inf
        for a in range(k):
            r = weights[a] * weights[a] / inverse[a, a]
            if r < rise:
                worst, rise = a, r
        if rise >= variance[v] * share:
            break
        variance[v] += rise
        k = _remove(path, k, worst, inverse, weights)
    length[v] = 0
    variance[v] = 1.0
    for i in range(k):
        _join(
            correlations, v, path[i], 0.0, path, factor, loading, length, variance, weights
        )


@borrowing
def _remove(path: Any, k: int, worst: int, inverse: Any, weights: Any) -> int:
    """Take one variable out of an inverse and the weights, and close the gap."""
    pivot, weight = inverse[worst, worst], weights[worst]
    for a in range(k):
        if a != worst:
            f = inverse[a, worst] / pivot
            weights[a] -= f * weight
            for c in range(k):
                if c != worst:
                    inverse[a, c] -= f * inverse[worst, c]
    for a in range(worst, k - 1):
        path[a] = path[a + 1]
        weights[a] = weights[a + 1]
        for c in range(k):
            inverse[a, c] = inverse[a + 1, c]
    for a in range(k):
        for c in range(worst, k - 1):
            inverse[a, c] = inverse[a, c + 1]
    return k - 1


@borrowing
def _gauss_jordan(correlations: Any, path: Any, k: int, inverse: Any) -> None:
    """Invert the correlations of a list in place; they are positive definite."""
    for a in range(k):
        for c in range(k):
            inverse[a, c] = correlations[path[a], path[c]]
    for p in range(k):
        pivot = 1.0 / inverse[p, p]
        inverse[p, p] = 1.0
        for c in range(k):
            inverse[p, c] *= pivot
        for a in range(k):
            if a != p:
                f = inverse[a, p]
                inverse[a, p] = 0.0
                for c in range(k):
                    inverse[a, c] -= f * inverse[p, c]
