"""What an order search knows: the order, and the grow path of every variable in it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.grow import intrudes, listen, wide
from cosmodag.refinement.search.rules import grow_among, local_score, may_be_parent, worth

__all__ = [
    "Pool",
    "State",
    "announce",
    "empty_state",
    "is_parent",
    "new_pool",
    "on_path",
    "regrow",
    "would_enter",
]


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
    kept, used = np.empty(paths, np.bool_), np.zeros(2, np.int64)
    return Pool(np.empty(factors), np.empty(paths, np.int32), kept, used)


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
def on_path(state: Any, v: int, x: int) -> bool:
    """Tell whether x is on the grow path of v."""
    at = state.path_at[v]
    found = False
    for i in range(at, at + state.length[v]):
        found |= state.pool.paths[i] == x
    return found


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
    g, share, _, limit, _, _ = worth(rules, v)
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
    none = wide(0)
    return max(
        local_score(rules, v, none, left) - local_score(rules, v, none, state.variance[v]), 0.0
    )


@borrowing
def _add(lists: Any, count: Any, v: int, x: int) -> None:
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
    m = wide(0)
    for i in range(int(state.key[v]) + 1, len(state.order)):
        j = state.order[i]
        if may_be_parent(rules, j, v):
            s.candidates[m] = j
            m += 1
    g, share, _, limit, _, _ = worth(rules, v)
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
        _add(state.heard, state.heard_count, state.hears[v, i], v)
