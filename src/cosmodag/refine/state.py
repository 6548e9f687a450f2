"""What an order search knows: the order, and the grow path of every variable in it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refine.grow import Scratch, extend, intrudes, listen, shrink, start
from cosmodag.refine.moments import Moments

__all__ = [
    "Pool",
    "Rules",
    "State",
    "add",
    "announce",
    "grow_among",
    "is_parent",
    "local_score",
    "new_pool",
    "on_path",
    "regrow",
    "would_enter",
]


class Rules(NamedTuple):
    """What is scored, and what is allowed: nothing here changes during a search."""

    correlations: NDArray[np.float64]  # (g, d, d)
    group: NDArray[np.int64]
    half_rows: NDArray[np.float64]  # per group
    limit: NDArray[np.int64]  # of parents, per group
    penalty: float
    gain_share: NDArray[np.float64]  # 1 − exp(−penalty / half_rows): least gain worth an arc
    rise_share: NDArray[np.float64]  # exp(penalty / half_rows) − 1: least rise worth keeping one
    support: NDArray[np.bool_]  # (d, d), or empty where every arc may exist
    before: NDArray[np.bool_]  # (d, d), or empty where every order may
    required_start: NDArray[np.int64]  # (d + 1,)
    required: NDArray[np.int64]
    precision: NDArray[np.float64]  # scale² / σ² per variable; −1 for scale-free scores
    slack: float  # how far below the best a trial may seem to be and still be worth finishing


class Pool(NamedTuple):
    """Records of grow paths, one after another; a new record never overwrites an old one."""

    factors: NDArray[np.float64]  # per path of k steps: L (k(k+1)/2), b (k), gains (k)
    paths: NDArray[np.int32]
    kept: NDArray[np.bool_]
    used: NDArray[np.int64]  # of factors, of paths


class State(NamedTuple):
    """An order, each variable's path in it, and who must hear of whose moves.

    ``hears[v]`` holds v's path and every later variable that would enter it; ``heard[x]`` holds
    every v that hears x, and some that once did. So the variables that a move changes are known
    without looking at the others.
    """

    order: NDArray[np.int64]
    key: NDArray[np.float64]  # position
    length: NDArray[np.int64]
    variance: NDArray[np.float64]  # left by the path, before anything is dropped
    residual: NDArray[np.float64]  # left by the parents kept
    parents: NDArray[np.int64]  # how many
    score: NDArray[np.float64]
    factor_at: NDArray[np.int64]
    path_at: NDArray[np.int64]
    pool: Pool
    hears: NDArray[np.int32]
    hears_count: NDArray[np.int64]
    heard: NDArray[np.int32]
    heard_count: NDArray[np.int64]
    dirty: NDArray[np.bool_]  # to be tried


def new_pool(factors: int, paths: int) -> Pool:
    """Make room for records."""
    return Pool(
        np.empty(factors), np.empty(paths, np.int32), np.empty(paths, np.bool_), np.zeros(2, np.int64)
    )


def rules_of(
    moments: Moments,
    penalty: float,
    support: NDArray[np.bool_] | None,
    required: NDArray[np.bool_] | None,
    before: NDArray[np.bool_] | None,
) -> Rules:
    """Gather what a search obeys; scale-free until ``precision`` is changed."""
    d = moments.variables
    none = np.zeros((0, 0), np.bool_)
    if required is None:
        required_start, tails = np.zeros(d + 1, np.int64), np.zeros(0, np.int64)
    else:
        heads, tails = np.nonzero(np.asarray(required, np.bool_).T)
        required_start = np.searchsorted(heads, np.arange(d + 1)).astype(np.int64)
    return Rules(
        moments.correlations,
        moments.group,
        0.5 * moments.rows,
        np.maximum(np.floor(moments.rows) - 2, 0).astype(np.int64),
        float(penalty),
        -np.expm1(-penalty / (0.5 * moments.rows)),
        np.expm1(penalty / (0.5 * moments.rows)),
        none if support is None else np.ascontiguousarray(support, np.bool_),
        none if before is None else np.ascontiguousarray(before, np.bool_),
        required_start,
        tails.astype(np.int64),
        np.full(d, -1.0),
        np.inf,
    )


def empty_state(order: NDArray[Any], width: int) -> State:
    """State of an order before anything is grown."""
    d = len(order)
    order = np.array(order, np.int64)
    key = np.empty(d)
    key[order] = np.arange(d)
    return State(
        order,
        key,
        np.zeros(d, np.int64),
        np.ones(d),
        np.ones(d),
        np.zeros(d, np.int64),
        np.zeros(d),
        np.zeros(d, np.int64),
        np.zeros(d, np.int64),
        new_pool(0, 0),
        np.empty((d, width), np.int32),
        np.zeros(d, np.int64),
        np.empty((d, width), np.int32),
        np.zeros(d, np.int64),
        np.ones(d, np.bool_),
    )


@borrowing
def local_score(rules: Any, v: int, parents: int, residual: float) -> float:
    """Score of one variable: scale-free, or with the noise variance given."""
    precision = rules.precision[v]
    fit = np.log(residual) if precision < 0 else residual * precision
    return -rules.half_rows[rules.group[v]] * fit - rules.penalty * parents


@borrowing
def may_be_parent(rules: Any, x: int, v: int) -> bool:
    """Tell whether the arc x → v may exist at all."""
    if len(rules.support) and not rules.support[x, v]:
        return False
    return not (len(rules.before) and rules.before[v, x])


@borrowing
def _worth(rules: Any, v: int) -> tuple[int, float, float, int, int, int]:
    """Group, share of a gain, share of a rise, limit, and required parents (from, to) of v."""
    g = rules.group[v]
    first, last = rules.required_start[v], rules.required_start[v + 1]
    limit = max(rules.limit[g], last - first)
    return g, rules.gain_share[g], rules.rise_share[g], limit, first, last


@borrowing
def grow_among(rules: Any, v: int, m: int, s: Any) -> tuple[int, float, int, float]:
    """Grow–shrink of v among the m candidates in scratch.

    Gives the length of the path, the variance it leaves, the parents kept, and what they leave.
    """
    g, share, rise_share, limit, first, last = _worth(rules, v)
    correlations = rules.correlations[g]
    forced, variance = start(correlations, v, m, rules.required[first:last], s)
    k, variance = extend(correlations, m, forced, variance, share, limit, s)
    parents, residual = shrink(k, forced, variance, rise_share, s)
    return k, variance, parents, residual


@borrowing
def on_path(state: Any, v: int, x: int) -> bool:
    """Tell whether x is on the grow path of v."""
    at = state.path_at[v]
    for i in range(at, at + state.length[v]):
        if state.pool.paths[i] == x:
            return True
    return False


@borrowing
def is_parent(state: Any, x: int, v: int) -> bool:
    """Tell whether the pruned graph has the arc x → v."""
    at = state.path_at[v]
    for i in range(at, at + state.length[v]):
        if state.pool.paths[i] == x:
            return bool(state.pool.kept[i])
    return False


@borrowing
def would_enter(rules: Any, state: Any, v: int, x: int, s: Any) -> float:
    """About what v gains by x among its predecessors; −1 where its path does not change."""
    if not may_be_parent(rules, x, v):
        return -1.0
    g, share, _, limit, _, _ = _worth(rules, v)
    k, at, path_at = state.length[v], state.factor_at[v], state.path_at[v]
    size = k * (k + 1) // 2
    factors = state.pool.factors
    left = intrudes(
        rules.correlations[g],
        v,
        x,
        state.pool.paths[path_at : path_at + k],
        factors[at : at + size],
        factors[at + size : at + size + k],
        factors[at + size + k : at + size + 2 * k],
        state.variance[v],
        share,
        limit,
        s.projection,
    )
    if left < 0.0:
        return -1.0
    return max(local_score(rules, v, 0, left) - local_score(rules, v, 0, state.variance[v]), 0.0)


@borrowing
def add(lists: Any, count: Any, v: int, x: int) -> None:
    """Put x on v's list, if there is room and it is not there."""
    n = count[v]
    row = lists[v]
    for i in range(n):
        if row[i] == x:
            return
    if n < len(row):
        row[n] = x
        count[v] = n + 1


@borrowing
def _predecessors(rules: Any, state: Any, v: int, s: Any) -> int:
    m = 0
    for i in range(int(state.key[v])):
        j = state.order[i]
        if may_be_parent(rules, j, v):
            s.candidates[m] = j
            m += 1
    return m


@borrowing
def regrow(rules: Any, state: Any, v: int, pool: Any, s: Any) -> bool:
    """Grow v among all its predecessors, record that in a pool, and hear who would enter.

    Gives False, and changes nothing, where scratch or pool is too small.
    """
    m = _predecessors(rules, state, v, s)
    k, variance, parents, residual = grow_among(rules, v, m, s)
    size = k * (k + 1) // 2
    at, path_at = pool.used[0], pool.used[1]
    full = at + size + 2 * k > len(pool.factors) or path_at + k > len(pool.paths)
    if s.overflow[0] or full:
        return False
    pool.used[0] += size + 2 * k
    pool.used[1] += k
    for i in range(size):
        pool.factors[at + i] = s.factor[i]
    for i in range(k):
        pool.factors[at + size + i] = s.loading[i]
        pool.factors[at + size + k + i] = s.gain[i]
        pool.paths[path_at + i] = s.path[i]
        pool.kept[path_at + i] = s.keep[i]
    state.length[v] = k
    state.variance[v] = variance
    state.residual[v] = residual
    state.parents[v] = parents
    state.score[v] = local_score(rules, v, parents, residual)
    state.factor_at[v] = at
    state.path_at[v] = path_at
    _hear(rules, state, v, variance, k, s)
    return True


@borrowing
def _hear(rules: Any, state: Any, v: int, variance: float, k: int, s: Any) -> None:
    """Write v's list anew: its path, and every later variable that would enter it."""
    count = min(k, state.hears.shape[1])
    for i in range(count):
        state.hears[v, i] = s.path[i]
    m = 0
    for i in range(int(state.key[v]) + 1, len(state.order)):
        j = state.order[i]
        if may_be_parent(rules, j, v):
            s.candidates[m] = j
            m += 1
    g, share, _, limit, _, _ = _worth(rules, v)
    listen(
        rules.correlations[g],
        v,
        m,
        s.path[:k],
        s.factor,
        s.loading,
        s.gain,
        variance,
        share,
        limit,
        s,
    )
    for t in range(m):
        if s.flags[t] and count < state.hears.shape[1]:
            state.hears[v, count] = s.candidates[t]
            count += 1
    state.hears_count[v] = count


@borrowing
def announce(state: Any, v: int) -> None:
    """Put v on the list of everyone it hears."""
    for i in range(state.hears_count[v]):
        add(state.heard, state.heard_count, state.hears[v, i], v)
