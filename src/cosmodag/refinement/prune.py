"""Parents of every variable among its predecessors in an order."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.compiled import borrowing
from cosmodag.errors import DataError
from cosmodag.refinement.graph import Graph
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.scores import default_penalty
from cosmodag.refinement.search.grow import new_scratch, wide
from cosmodag.refinement.search.rules import Rules, grow_among, local_score, may_be_parent, rules_of
from cosmodag.solve.threads import available_threads, mapper

__all__ = ["check_order", "prune", "prune_by", "scores_on"]

# Longest grow path that scratch is first made for.
FIRST_CAPACITY = 64
# Fewer variables than this are done before another thread has started.
WORTH_THREADS = 256


def prune(
    moments: Moments,
    order: ArrayLike,
    *,
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> Graph:
    r"""Choose the parents of each variable among its predecessors, and refit the weights.

    The local score of v with parents P is

    .. math:: -\tfrac{n}{2} \log \mathrm{var}(v \mid P) - c\,|P|,

    with the variance relative to that of v, so that units do not matter. *Grow* adds the
    predecessor that raises it most until none does, with a smaller penalty (`growing_penalty`), so
    that parents which only matter together get in; *shrink* takes away the parent whose loss lowers
    it least while that raises it. All of it is computed from correlations, in O(d k²) per
    variable with k parents; memory is O(d k) per thread.

    Parameters
    ----------
    moments : Moments
    order : (d,) array of int
        The variables, causes first.
    penalty : float, optional
        c, per arc; by default `default_penalty`.
    support : (d, d) array of bool, optional
        Arcs u → v that may exist, at [u, v].
    required : (d, d) array of bool, optional
        Arcs that are always in; they must agree with the order.
    threads : int, optional
        How many to use; by default all cores.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> y = 2 * x + random.normal(size=500)
    >>> z = random.normal(size=500) - y
    >>> moments = Moments.of(np.column_stack([z, y, x]))
    >>> prune(moments, [2, 1, 0]).matrix().toarray().round(1)
    array([[ 0.,  0.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  2.,  0.]])
    """
    d = moments.variables
    checked = check_order(order, d, required)
    if penalty is None:
        penalty = default_penalty(float(moments.rows.max()), d)
    rules = rules_of(moments, penalty, support, required, None)
    return prune_by(rules, moments, checked, available_threads(threads))


def prune_by(rules: Rules, moments: Moments, order: NDArray[np.int64], threads: int) -> Graph:
    """`prune` under rules that are already made."""
    d = len(order)
    blocks = _blocks(d, threads)
    with mapper(threads if len(blocks) > 1 else 1) as run:
        parts = run(lambda block: _prune_block(rules, order, *block), blocks)
    counts, residuals, scores = np.zeros(d, np.int64), np.ones(d), np.zeros(d)
    for (first, last), part in zip(blocks, parts, strict=True):
        of = order[first:last]
        counts[of], residuals[of], scores[of] = part[0], part[1], part[2]
    heads = np.repeat(order, counts[order])
    tails = np.concatenate([part[3] for part in parts])
    weights = np.concatenate([part[4] for part in parts])
    arranged = np.lexsort((tails, heads))
    heads, tails, weights = heads[arranged], tails[arranged], weights[arranged]
    of_group = moments.group[heads]
    scales = moments.scales[of_group, heads], moments.scales[of_group, tails]
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(weights == 0, 0.0, weights * scales[0] / scales[1])
    return Graph(np.concatenate([[0], np.cumsum(counts)]), tails, weights, residuals, scores)


def scores_on(rules: Rules, order: NDArray[np.int64], first: int, last: int) -> NDArray[np.float64]:
    """Local scores of the variables order[first:last], each with the parents chosen for it."""
    scores: NDArray[np.float64] = _prune_block(rules, order, first, last)[2]
    return scores


def check_order(
    order: ArrayLike, d: int, before: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Refuse what is not an order of d variables, or is against what must come before what."""
    checked = np.array(order, np.int64)
    if checked.shape != (d,) or not np.array_equal(np.sort(checked), np.arange(d)):
        raise DataError(f"An order lists each of 0 … {d - 1} once; this one does not.")
    if before is not None:
        position = np.empty(d, np.int64)
        position[checked] = np.arange(d)
        tails, heads = np.nonzero(before)
        if np.any(position[tails] >= position[heads]):
            raise DataError("The order is against what is required to come before what.")
    return checked


def _blocks(d: int, threads: int) -> list[tuple[int, int]]:
    """Parts of the order; many, as later variables have more predecessors."""
    count = 1 if threads == 1 or d < WORTH_THREADS else 8 * threads
    cuts = np.linspace(0, d, min(count, d) + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def _prune_block(
    rules: Rules, order: NDArray[np.int64], first: int, last: int
) -> tuple[NDArray[Any], ...]:
    """Give counts, residuals, scores, parents and standardised weights of order[first:last]."""
    capacity = min(FIRST_CAPACITY, len(order))
    scratch = new_scratch(len(order), capacity)
    counts = np.zeros(last - first, np.int64)
    residuals, scores = np.ones(last - first), np.zeros(last - first)
    parents, weights = [], []
    at = first
    while at < last:
        room = max(8 * (last - first), 4 * capacity)
        tails, values = np.empty(room, np.int64), np.empty(room)
        done, filled = _prune_some(
            rules, order, at, last, first, counts, residuals, scores, tails, values, scratch
        )
        parents.append(tails[:filled])
        weights.append(values[:filled])
        if scratch.overflow[0]:
            capacity = min(2 * capacity, len(order))
            scratch = new_scratch(len(order), capacity)
        at = done
    return counts, residuals, scores, np.concatenate(parents), np.concatenate(weights)


@borrowing
def _prune_some(
    rules: Any,
    order: Any,
    at: int,
    last: int,
    first: int,
    counts: Any,
    residuals: Any,
    scores: Any,
    tails: Any,
    values: Any,
    s: Any,
) -> tuple[int, int]:
    """Prune order[at:last] as far as there is room; give how far, and the number of arcs."""
    filled = 0
    while at < last:
        v = order[at]
        m = wide(0)
        for i in range(at):
            if may_be_parent(rules, order[i], v):
                s.candidates[m] = order[i]
                m += 1
        k, _, _, residual = grow_among(rules, v, m, s)
        forced = rules.required[rules.required_start[v] : rules.required_start[v + 1]]
        if s.overflow[0] or filled + k + len(forced) > len(tails):
            break
        begin = filled
        for i in range(k):
            if s.keep[i]:
                tails[filled] = s.path[i]
                values[filled] = s.weights[i]
                filled += 1
        for parent in forced:
            known = False
            for i in range(begin, filled):
                known = known or tails[i] == parent
            if not known:
                tails[filled] = parent
                values[filled] = 0.0
                filled += 1
        counts[at - first] = filled - begin
        residuals[at - first] = residual
        scores[at - first] = local_score(rules, v, filled - begin, residual)
        at += 1
    return at, filled
