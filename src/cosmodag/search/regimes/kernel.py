"""Compiled scores of one equation over regimes, for many sets of parents."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.compiled import compiled

Floats = NDArray[np.float64]

# Smallest residual variance, as a share of the variance of the variable: values may have been set
# to a constant.
LEAST_VARIANCE = 1e-9
_RIDGE = 1e-10
# Smallest improvement of a score that counts.
_LEAST = 1e-6

# Kinds of change of an equation, as places in `cosmodag.data.regime_table.CHANGES`.
NOISE, CUT, WEIGHTS, SLOPES = range(4)


class TargetRegimes(NamedTuple):
    """Moments of k regimes, and the targets and prices of one variable."""

    rows: Floats  # (k,)
    means: Floats  # (k, d)
    products: Floats  # (k, d, d): about the means of each regime
    stated: NDArray[np.bool_]  # (k,): whether the variable is a known target
    open: NDArray[np.bool_]  # (k,): whether it may be a target
    prices: Floats  # (k,): per target


class Work(NamedTuple):
    """Arrays for the regressions of one variable on up to m − 1 others, in k regimes.

    The variable and the others, its possible parents, are the m *members*. For each regime, ``raw``
    (k, m, m) holds products about the centre of the table, ``sums`` (k, m) sums of values, ``own``
    (k, m, m) products about the means of the regime, and ``apart`` (k,) the residual variance if
    all weights are its own. ``gathered`` and ``totals`` are the sums of ``raw`` and ``sums`` over
    the regimes that share the equation. ``square`` and ``weights`` are for one regression.
    """

    raw: Floats
    sums: Floats
    own: Floats
    apart: Floats
    gathered: Floats
    totals: Floats
    square: Floats
    weights: Floats
    members: NDArray[np.int64]
    targets: NDArray[np.bool_]

    @classmethod
    def of(cls, regimes: int, members: int) -> "Work":
        """Allocate the arrays for a number of regimes and of members."""
        k, m = regimes, members
        return cls(
            raw=np.zeros((k, m, m)),
            sums=np.zeros((k, m)),
            own=np.zeros((k, m, m)),
            apart=np.zeros(k),
            gathered=np.zeros((m, m)),
            totals=np.zeros(m),
            square=np.zeros((m, m)),
            weights=np.zeros(m),
            members=np.zeros(m, np.int64),
            targets=np.zeros(k, np.bool_),
        )


@compiled
def _regress(square: Any, p: int, ridge: float, weights: Any) -> float:
    """Regress the last of p + 1 variables on the others; return its residual sum of squares."""
    for j in range(p):
        square[j, j] += ridge
        for i in range(j + 1, p + 1):
            factor = square[j, i] / square[j, j]
            for other in range(i, p + 1):
                square[i, other] -= factor * square[j, other]
    for j in range(p - 1, -1, -1):
        rest = square[j, p]
        for other in range(j + 1, p):
            rest -= square[j, other] * weights[other]
        weights[j] = rest / square[j, j]
    return float(square[p, p])


@compiled
def _gather(given: TargetRegimes, p: int, work: Work) -> None:
    """Compute the moments of the members, and the residual variance of each regime on its own."""
    rows, means, products = given.rows, given.means, given.products
    for r in range(rows.size):
        for i in range(p + 1):
            a = work.members[i]
            work.sums[r, i] = rows[r] * means[r, a]
            for j in range(p + 1):
                b = work.members[j]
                work.own[r, i, j] = products[r, a, b]
                work.raw[r, i, j] = products[r, a, b] + rows[r] * means[r, a] * means[r, b]
                work.square[i, j] = work.own[r, i, j]
        work.apart[r] = np.inf
        # With fewer rows an equation of its own cannot be estimated.
        if rows[r] > p + 3:
            left = _regress(work.square, p, _RIDGE * rows[r], work.weights)
            work.apart[r] = max(left / rows[r], LEAST_VARIANCE)


@compiled
def _share(p: int, work: Work) -> None:
    """Sum the moments of the regimes that share the equation."""
    for i in range(p + 1):
        work.totals[i] = 0.0
        for j in range(p + 1):
            work.gathered[i, j] = 0.0
    for r in range(work.targets.size):
        if not work.targets[r]:
            for i in range(p + 1):
                work.totals[i] += work.sums[r, i]
                for j in range(p + 1):
                    work.gathered[i, j] += work.raw[r, i, j]


@compiled
def _shared_variance(count: float, p: int, turned: int, work: Work) -> float:
    """Fit the shared equation, after adding or removing the regime `turned`, to `count` rows."""
    sign = 0.0
    if turned >= 0:
        sign = 1.0 if work.targets[turned] else -1.0
    other = max(turned, 0)
    for i in range(p + 1):
        first = work.totals[i] + sign * work.sums[other, i]
        for j in range(i, p + 1):
            second = work.totals[j] + sign * work.sums[other, j]
            product = work.gathered[i, j] + sign * work.raw[other, i, j]
            work.square[i, j] = product - first * second / count
    return max(_regress(work.square, p, _RIDGE * count, work.weights) / count, LEAST_VARIANCE)


@compiled
def _own(rows: Any, r: int, p: int, variance: float, work: Work) -> tuple[float, int]:
    """Penalised log-likelihood of a regime with the best equation of its own, and its kind."""
    n = rows[r]
    price, own = 0.5 * math.log(n), work.own[r]
    left = own[p, p]
    for i in range(p):
        along = own[i, p]
        for j in range(p):
            along -= own[i, j] * work.weights[j]
        left -= work.weights[i] * (own[i, p] + along)
    noise = max(left / n, LEAST_VARIANCE)
    best, kind = -0.5 * n * math.log(noise) - 2 * price, NOISE
    if p:
        value = -0.5 * n * math.log(max(own[p, p] / n, LEAST_VARIANCE)) - 2 * price
        if value > best:
            best, kind = value, CUT
        value = -0.5 * n * math.log(work.apart[r]) - (p + 2) * price
        if value > best:
            best, kind = value, WEIGHTS
        squares = math.log(variance) + work.apart[r] / variance - 1.0
        value = -0.5 * n * squares - (p + 1) * price
        if value > best:
            best, kind = value, SLOPES
    return best, kind


@compiled
def _total(given: TargetRegimes, count: float, p: int, turned: int, work: Work) -> float:
    """Score of the targets, after adding or removing the regime `turned` (−1 for none)."""
    variance = _shared_variance(count, p, turned, work)
    total = -0.5 * count * math.log(variance)
    for r in range(given.rows.size):
        if work.targets[r] != (r == turned):
            total += _own(given.rows, r, p, variance, work)[0] - given.prices[r]
    return total


@compiled
def best_targets(given: TargetRegimes, p: int, work: Work) -> float:
    """Find the best targets of the last of the members given the p others; return their score.

    Targets are added and removed one by one while that raises the score. ``work.members`` is given,
    and ``work.targets`` is written.
    """
    _gather(given, p, work)
    rows, stated = given.rows, given.stated
    count, sharing = 0.0, 0
    for r in range(rows.size):
        work.targets[r] = stated[r]
        if not stated[r]:
            count, sharing = count + rows[r], sharing + 1
    _share(p, work)
    score = _total(given, count, p, -1, work)
    while True:
        best, chosen = score + _LEAST, -1
        for r in range(rows.size):
            if given.open[r] and not stated[r] and (work.targets[r] or sharing > 1):
                sign = 1.0 if work.targets[r] else -1.0
                value = _total(given, count + sign * rows[r], p, r, work)
                if value > best:
                    best, chosen = value, r
        if chosen < 0:
            return score
        joins = work.targets[chosen]
        score, count = best, count + (rows[chosen] if joins else -rows[chosen])
        sharing += 1 if joins else -1
        work.targets[chosen] = not joins
        _share(p, work)


@compiled
def toggled_scores(
    given: TargetRegimes, v: int, parents: Any, allowed: Any, work: Work, scores: Any
) -> None:
    """Write the scores (d,) of v if u is added to its parents, or dropped from them, at [u].

    The score is −∞ if u is not allowed.
    """
    for u in range(scores.size):
        scores[u] = -np.inf
        if allowed[u] and u != v:
            p = 0
            for other in range(scores.size):
                if parents[other] != (other == u):
                    work.members[p] = other
                    p += 1
            work.members[p] = v
            scores[u] = best_targets(given, p, work)


@compiled
def kind_of_change(given: TargetRegimes, r: int, p: int, work: Work) -> int:
    """Find the kind of the best own equation of regime r, given ``work.targets``."""
    _gather(given, p, work)
    _share(p, work)
    count = 0.0
    for other in range(given.rows.size):
        if not work.targets[other]:
            count += given.rows[other]
    return _own(given.rows, r, p, _shared_variance(count, p, -1, work), work)[1]
