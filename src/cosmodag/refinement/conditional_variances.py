"""Compiled top-down order by conditional variances, each given a short list of variables."""

from typing import Any

import numpy as np

from cosmodag.compiled import borrowing, part
from cosmodag.refinement.scores import NEGLIGIBLE

__all__ = ["order_from_the_top"]


@borrowing
def order_from_the_top(
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


@part
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


@part
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
        _join(correlations, v, path[i], 0.0, path, factor, loading, length, variance, weights)


@part
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


@part
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
