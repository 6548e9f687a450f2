"""Better parents on a given order: what growing and shrinking alone leaves to be found.

Where rows are few and effects cancel, grow–shrink ends at parents that no single step improves on
its way but others do: an order search then works around it by moving variables, which it may not
where the order is bound. Here each variable is looked at once more, from the parents it has and
from all its predecessors, by dropping, adding and exchanging.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled
from cosmodag.refinement.graph import RegressionGraph
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.scores import noise_variances, total_of

__all__ = ["POLISHED_UP_TO", "polish"]

POLISHED_UP_TO = 100
"""Variables up to which it costs little beside a search: O(d² k) for each variable."""

_PIVOT = 1e-9
_LEAST = 1e-6


def polish(
    moments: Moments,
    order: NDArray[Any],
    graph: RegressionGraph,
    *,
    score: str,
    penalty: float,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
) -> RegressionGraph:
    """Improve the parents of every variable among its predecessors; never a worse total.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        Causes first.
    graph : RegressionGraph
        On that order.
    score : {"gaussian", "equal-variance"}
    penalty : float
        Per arc.
    support, required : (d, d) arrays of bool, optional
        Arcs that may exist, and arcs that are always in.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> from cosmodag.order import choose_parents
    >>> data = simulate.load("n200_d30_ER4_gauss", seed=1)
    >>> moments, order = Moments.of(data.X), np.argsort(data.X.var(axis=0))
    >>> first = choose_parents(moments, order, penalty=5.3)
    >>> better = polish(moments, order, first, score="gaussian", penalty=5.3)
    >>> total_of("gaussian", moments, better, 5.3) > total_of("gaussian", moments, first, 5.3)
    True
    """
    d = moments.variables
    places = np.empty(d, np.int64)
    places[order] = np.arange(d)
    allowed = places[:, None] < places
    if support is not None:
        allowed &= support
    forced = np.zeros((d, d), bool) if required is None else required
    squares = moments.own_scales**2
    precision = np.full(d, -1.0)
    if score == "equal-variance":
        rows = moments.own_rows
        precision = squares / max(
            float(rows @ noise_variances(moments, graph)) / rows.sum(), 1e-300
        )
    arcs = graph.adjacency().toarray()
    weights, residuals = np.zeros((d, d)), np.ones(d)
    _polish_all(
        moments.correlations,
        moments.group,
        0.5 * moments.rows,
        squares > 0,
        allowed | forced,
        forced,
        float(penalty),
        precision,
        arcs,
        weights,
        residuals,
    )
    found = _graph_of(moments, graph, arcs, weights, residuals, penalty)
    better = total_of(score, moments, found, penalty) > total_of(score, moments, graph, penalty)
    return found if better else graph


def _graph_of(
    moments: Moments,
    graph: RegressionGraph,
    arcs: NDArray[np.bool_],
    weights: NDArray[np.float64],
    residuals: NDArray[np.float64],
    penalty: float,
) -> RegressionGraph:
    heads, tails = np.nonzero(arcs.T)
    group = moments.group[heads]
    down = moments.scales[group, tails]
    scaled = weights[tails, heads] * moments.scales[group, heads] / np.where(down > 0, down, 1.0)
    return replace(
        graph,
        starts=np.searchsorted(heads, np.arange(len(arcs) + 1)).astype(np.int64),
        parents=tails.astype(np.int64),
        weights=scaled,
        residuals=residuals,
        scores=-0.5 * moments.own_rows * np.log(residuals) - penalty * arcs.sum(axis=0),
    )


@compiled
def _score(half: float, penalty: float, precision: float, parents: int, residual: float) -> float:
    left = max(residual, 1e-12)
    fit = np.log(left) if precision < 0 else left * precision
    return float(-half * fit - penalty * parents)


@compiled
def _sweep(a: Any, p: int, back: bool) -> None:
    """Take a variable into the regression of all others, or out of it again."""
    size = a.shape[0]
    pivot = a[p, p]
    for i in range(size):
        if i != p:
            f = a[i, p] / pivot
            for j in range(size):
                if j != p:
                    a[i, j] -= f * a[p, j]
    sign = -1.0 if back else 1.0
    for i in range(size):
        if i != p:
            a[i, p] *= sign / pivot
            a[p, i] *= sign / pivot
    a[p, p] = -1.0 / pivot


@compiled
def _cheapest(a: Any, inside: Any, forced: Any, m: int) -> tuple[int, float]:
    """Find the parent whose loss costs least, and what it costs."""
    best, least = -1, np.inf
    for i in range(m):
        if inside[i] and not forced[i]:
            rise = -a[i, m] * a[i, m] / a[i, i]
            if rise < least:
                best, least = i, rise
    return best, least


@compiled
def _dearest(a: Any, inside: Any, m: int) -> tuple[int, float]:
    """Find the candidate that explains most of what is left, and how much."""
    best, most = -1, 0.0
    for i in range(m):
        if not inside[i] and a[i, i] > _PIVOT:
            gain = a[i, m] * a[i, m] / a[i, i]
            if gain > most:
                best, most = i, gain
    return best, most


@compiled
def _improve(
    a: Any,
    inside: Any,
    forced: Any,
    m: int,
    half: float,
    penalty: float,
    precision: float,
    limit: int,
) -> float:
    """Drop, add and exchange while that raises the score; give the score."""
    count = 0
    for i in range(m):
        count += inside[i]
    now = _score(half, penalty, precision, count, a[m, m])
    while True:
        drop, rise = _cheapest(a, inside, forced, m)
        add, gain = _dearest(a, inside, m)
        dropped = added = -np.inf
        if drop >= 0:
            dropped = _score(half, penalty, precision, count - 1, a[m, m] + rise)
        if add >= 0 and count < limit:
            added = _score(half, penalty, precision, count + 1, a[m, m] - gain)
        if max(dropped, added) > now + _LEAST:
            chosen = drop if dropped >= added else add
            _sweep(a, chosen, inside[chosen])
            count += -1 if inside[chosen] else 1
            inside[chosen] = not inside[chosen]
            now = max(dropped, added)
            continue
        best_out, best_in, best = -1, -1, now + _LEAST
        for i in range(m):
            if inside[i] and not forced[i]:
                _sweep(a, i, True)
                inside[i] = False
                other, gain = _dearest(a, inside, m)
                if other >= 0 and other != i:
                    exchanged = _score(half, penalty, precision, count, a[m, m] - gain)
                    if exchanged > best:
                        best_out, best_in, best = i, other, exchanged
                inside[i] = True
                _sweep(a, i, False)
        if best_out < 0:
            return now
        _sweep(a, best_out, True)
        _sweep(a, best_in, False)
        inside[best_out], inside[best_in] = False, True
        now = best


@compiled
def _polish_all(
    correlations: Any,
    group: Any,
    half_rows: Any,
    varies: Any,
    allowed: Any,
    forced: Any,
    penalty: float,
    precision: Any,
    arcs: Any,
    weights: Any,
    residuals: Any,
) -> None:
    """Write better arcs, their standardised weights and what they leave of each variance."""
    d = len(group)
    names = np.empty(d, np.int64)
    for v in range(d):
        if not varies[v]:
            continue
        c, half = correlations[group[v]], half_rows[group[v]]
        limit = int(max(2.0 * half - 2.0, 0.0))
        m = 0
        for u in range(d):
            if allowed[u, v] and (c[u, u] > 0 or forced[u, v]):
                names[m] = u
                m += 1
        must = np.empty(m, np.bool_)
        for i in range(m):
            must[i] = forced[names[i], v] and c[names[i], names[i]] > 0
        best_score, best_left = -np.inf, 1.0
        best = np.zeros(m, np.bool_)
        slope = np.zeros(m)
        for attempt in range(2):
            if attempt == 1 and 4 * m > 2.0 * half:
                continue
            a = np.empty((m + 1, m + 1))
            for i in range(m + 1):
                x = names[i] if i < m else v
                for j in range(m + 1):
                    a[i, j] = c[x, names[j] if j < m else v]
            inside = np.zeros(m, np.bool_)
            for i in range(m):
                wanted = attempt == 1 or must[i] or arcs[names[i], v]
                if wanted and a[i, i] > _PIVOT:
                    _sweep(a, i, False)
                    inside[i] = True
            score = _improve(a, inside, must, m, half, penalty, precision[v], limit)
            if score > best_score + _LEAST:
                best_score, best_left = score, max(a[m, m], 1e-12)
                for i in range(m):
                    best[i] = inside[i]
                    slope[i] = a[i, m] if inside[i] else 0.0
        for u in range(d):
            arcs[u, v] = forced[u, v]
        for i in range(m):
            if best[i]:
                arcs[names[i], v] = True
                weights[names[i], v] = slope[i]
        residuals[v] = best_left
