"""Compiled moves of an order search: who moves, whose paths change, what it is worth.

For a variable v and a later one u, four moves put u before v: u goes before v, alone (0) or with
its ancestors in between (1); or v goes after u, alone (2) or with its descendants in between (3).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refine.grow import Scratch, new_scratch
from cosmodag.refine.state import (
    announce,
    grow_among,
    is_parent,
    local_score,
    may_be_parent,
    on_path,
    regrow,
    would_enter,
)

__all__ = ["Worker", "collect_pairs", "evaluate", "new_worker", "place", "regrow_all", "sweep"]

# More than rounding, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
# Most variables that move together.
TOGETHER = 100

DONE, PAUSED, FULL = 0, 1, 2


class Worker(NamedTuple):
    """What one thread overwrites while it tries moves."""

    scratch: Scratch
    key: NDArray[np.float64]  # positions, with those of a tried move written in
    mark: NDArray[np.int64]  # stamp of the move a variable takes part in
    hit: NDArray[np.int64]  # stamp of the move that changes a variable's path
    stamp: NDArray[np.int64]
    moved: NDArray[np.int64]
    changed: NDArray[np.int64]
    loses: NDArray[np.int64]  # stamp of the move that takes a member of a variable's path away
    old_key: NDArray[np.float64]
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    hope: NDArray[np.float64]  # what a variable may gain at most, about
    best: NDArray[np.int64]  # tail, head, kind of the best move


def new_worker(key: NDArray[np.float64], capacity: int, width: int) -> Worker:
    """Make what one thread needs."""
    d = len(key)
    return Worker(
        new_scratch(d, capacity),
        key.copy(),
        np.zeros(d, np.int64),
        np.zeros(d, np.int64),
        np.zeros(1, np.int64),
        np.empty(d, np.int64),
        np.empty(d, np.int64),
        np.zeros(d, np.int64),
        np.empty(d),
        np.empty(2 * width, np.int64),
        np.empty(2 * width, np.int64),
        np.zeros(d),
        np.zeros(3, np.int64),
    )


@borrowing
def _sort_by_key(items: Any, count: int, key: Any) -> None:
    """Insertion sort: few items, nearly sorted."""
    for i in range(1, count):
        item = items[i]
        j = i - 1
        while j >= 0 and key[items[j]] > key[item]:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item


@borrowing
def _gather(state: Any, worker: Any, v: int, u: int, kind: int) -> int:
    """Write down what moves, in order; give how many, or −1 for too many."""
    stamp, moved, mark, key = worker.stamp[0], worker.moved, worker.mark, worker.key
    low, high = key[v], key[u]
    moved[0] = u if kind < 2 else v
    mark[moved[0]] = stamp
    count = 1
    if kind == 0 or kind == 2:
        return 1
    at = 0
    while at < count:
        w = moved[at]
        at += 1
        if kind == 1:
            first = state.path_at[w]
            for i in range(first, first + state.length[w]):
                a = state.pool.paths[i]
                if state.pool.kept[i] and key[a] > low and mark[a] != stamp:
                    if count >= TOGETHER:
                        return -1
                    mark[a] = stamp
                    moved[count] = a
                    count += 1
        else:
            for i in range(state.heard_count[w]):
                a = state.heard[w, i]
                if key[a] > key[w] and key[a] < high and mark[a] != stamp and is_parent(state, w, a):
                    if count >= TOGETHER:
                        return -1
                    mark[a] = stamp
                    moved[count] = a
                    count += 1
    _sort_by_key(moved, count, key)
    return count


@borrowing
def _admissible(rules: Any, state: Any, worker: Any, count: int, v: int, u: int, kind: int) -> bool:
    """Tell whether a move respects what must stay before what."""
    if not len(rules.before):
        return True
    stamp, key = worker.stamp[0], worker.key
    for i in range(count):
        s = worker.moved[i]
        if kind < 2:
            for at in range(int(key[v]), int(key[s])):
                w = state.order[at]
                if worker.mark[w] != stamp and rules.before[w, s]:
                    return False
        else:
            for at in range(int(key[s]) + 1, int(key[u]) + 1):
                w = state.order[at]
                if worker.mark[w] != stamp and rules.before[s, w]:
                    return False
    return True


@borrowing
def _consider(
    rules: Any, state: Any, worker: Any, s: int, w: int, kind: int, n: int
) -> int:
    """Note whose path changes as s and w change places."""
    stamp = worker.stamp[0]
    gainer, loser = (w, s) if kind < 2 else (s, w)
    if on_path(state, loser, gainer):
        worker.loses[loser] = stamp
        n = _note(worker, loser, n)
    gain = would_enter(rules, state, gainer, loser, worker.scratch)
    if gain >= 0.0:
        n = _note(worker, gainer, n)
        if worker.hope[gainer] == 0.0:  # it may also do without the parents it has
            worker.hope[gainer] = rules.penalty * state.parents[gainer]
        worker.hope[gainer] += gain
    return n


@borrowing
def _note(worker: Any, w: int, n: int) -> int:
    """Add w to those whose paths change, once."""
    if worker.hit[w] == worker.stamp[0]:
        return n
    worker.hit[w] = worker.stamp[0]
    worker.hope[w] = 0.0
    worker.changed[n] = w
    return n + 1


@borrowing
def _losers_first(worker: Any, n: int) -> None:
    """Put the variables that may gain least first: a hopeless move is then seen early."""
    changed, hope = worker.changed, worker.hope
    for i in range(1, n):
        w = changed[i]
        j = i - 1
        while j >= 0 and hope[changed[j]] > hope[w]:
            changed[j + 1] = changed[j]
            j -= 1
        changed[j + 1] = w


@borrowing
def _find_changed(
    rules: Any, state: Any, worker: Any, count: int, v: int, u: int, kind: int
) -> int:
    """Write down whose paths a move changes; give how many."""
    stamp, key, mark = worker.stamp[0], worker.key, worker.mark
    low, high = key[v], key[u]
    n = 0
    for i in range(count):
        s = worker.moved[i]
        for direction in range(2):
            if direction == 0:
                row, size = state.heard[s], state.heard_count[s]
            else:
                row, size = state.hears[s], state.hears_count[s]
            for t in range(size):
                w = row[t]
                if mark[w] == stamp or key[w] < low or key[w] > high:
                    continue
                if (key[w] > key[s]) == (kind < 2):
                    continue
                n = _consider(rules, state, worker, s, w, kind, n)
    return n


@borrowing
def _all_before(rules: Any, worker: Any, w: int) -> int:
    """Candidates of w: all that come before it, as positions are written in ``key``."""
    key, candidates = worker.key, worker.scratch.candidates
    at, m = key[w], 0
    if len(rules.support) or len(rules.before):
        for j in range(len(key)):
            if key[j] < at and may_be_parent(rules, j, w):
                candidates[m] = j
                m += 1
        return m
    # Without a branch, which would be guessed wrong every other time.
    for j in range(len(key)):
        candidates[m] = j
        m += key[j] < at
    return m


@borrowing
def _gain_of(rules: Any, state: Any, worker: Any, n: int, best: float) -> float:
    """Sum of what the changed variables gain; given up once it cannot come near ``best``."""
    hope = 0.0
    for i in range(n):
        hope += worker.hope[worker.changed[i]]
    total = 0.0
    for i in range(n):
        w = worker.changed[i]
        m = _all_before(rules, worker, w)
        _, _, parents, residual = grow_among(rules, w, m, worker.scratch)
        total += local_score(rules, w, parents, residual) - state.score[w]
        hope -= worker.hope[w]
        if total + hope < best - rules.slack:
            return -np.inf
    return total


@borrowing
def _write_keys(worker: Any, count: int, base: float) -> None:
    """Positions as if moved: fractions just after ``base``."""
    for i in range(count):
        s = worker.moved[i]
        worker.old_key[i] = worker.key[s]
        worker.key[s] = base + (i + 1.0) / (count + 1.0)


@borrowing
def _try(
    rules: Any, state: Any, worker: Any, v: int, u: int, kind: int, best: float
) -> float:
    """What a move is worth; anything not above ``best`` where it is not better."""
    worker.stamp[0] += 1
    count = _gather(state, worker, v, u, kind)
    if count < 0 or (count == 1 and (kind == 1 or kind == 3)):
        return -np.inf
    if not _admissible(rules, state, worker, count, v, u, kind):
        return -np.inf
    n = _find_changed(rules, state, worker, count, v, u, kind)
    _losers_first(worker, n)
    _write_keys(worker, count, worker.key[v] - 1.0 if kind < 2 else worker.key[u])
    gain = _gain_of(rules, state, worker, n, best)
    for i in range(count):
        worker.key[worker.moved[i]] = worker.old_key[i]
    return gain


@borrowing
def collect_pairs(rules: Any, state: Any, worker: Any, x: int, without_arcs: bool) -> int:
    """Pairs (v, later u) of x with another: arcs, and those where u would enter v's path."""
    key, tails, heads = state.key, worker.tails, worker.heads
    n = 0
    first = state.path_at[x]
    for i in range(first, first + state.length[x]):
        if state.pool.kept[i] and n < len(tails):
            tails[n], heads[n] = state.pool.paths[i], x
            n += 1
    for i in range(state.heard_count[x]):
        y = state.heard[x, i]
        if n >= len(tails):
            break
        if key[y] > key[x]:
            if is_parent(state, x, y):
                tails[n], heads[n] = x, y
                n += 1
        elif without_arcs and not is_parent(state, y, x):
            if would_enter(rules, state, y, x, worker.scratch) >= 0.0:
                tails[n], heads[n] = y, x
                n += 1
    if without_arcs:
        for i in range(state.hears_count[x]):
            y = state.hears[x, i]
            if n < len(tails) and key[y] > key[x] and not is_parent(state, x, y):
                if would_enter(rules, state, x, y, worker.scratch) >= 0.0:
                    tails[n], heads[n] = x, y
                    n += 1
    return n


@borrowing
def evaluate(rules: Any, state: Any, worker: Any, tails: Any, heads: Any) -> float:
    """Find the best move for some pairs; give what it is worth, 0 for none, and leave it in
    ``worker.best``. The state is only read.
    """
    best, found = LEAST_IMPROVEMENT, False
    for i in range(len(tails)):
        v, u = tails[i], heads[i]
        for kind in range(4):
            gain = _try(rules, state, worker, v, u, kind, best)
            if worker.scratch.overflow[0]:
                return 0.0
            if gain > best:
                best, found = gain, True
                worker.best[0], worker.best[1], worker.best[2] = v, u, kind
    return best if found else 0.0


@borrowing
def place(rules: Any, state: Any, worker: Any) -> int:
    """Make the move in ``worker.best``: order and positions only.

    Gives how many paths it changes; they are in ``worker.changed``, to be grown anew.
    """
    worker.stamp[0] += 1
    v, u, kind = worker.best
    key = worker.key
    count = _gather(state, worker, v, u, kind)
    n = _find_changed(rules, state, worker, count, v, u, kind)
    first, last, stamp = int(key[v]), int(key[u]), worker.stamp[0]
    line = worker.scratch.candidates
    at = count if kind < 2 else 0
    for i in range(first, last + 1):
        w = state.order[i]
        if worker.mark[w] != stamp:
            line[at] = w
            at += 1
    begin = 0 if kind < 2 else at
    for i in range(count):
        line[begin + i] = worker.moved[i]
    for i in range(first, last + 1):
        w = line[i - first]
        state.order[i] = w
        state.key[w] = i
        key[w] = i
    return n


@borrowing
def regrow_all(rules: Any, state: Any, worker: Any, variables: Any, pool: Any) -> bool:
    """Grow some variables anew; False where scratch or pool is too small: then do it again."""
    for w in variables:
        if not regrow(rules, state, w, pool, worker.scratch):
            return False
    return True


@borrowing
def sweep(
    rules: Any, state: Any, worker: Any, turn: Any, first: int, without_arcs: bool, budget: int
) -> tuple[int, int, int, int, int]:
    """Try the dirty variables one after another, from ``turn[first]`` on, and make the best moves.

    Gives the place reached, why it stopped (DONE; PAUSED, the budget of work is spent; FULL,
    something is too small), how many variables in ``worker.changed`` are still to be grown anew,
    the number of moves, and how many variables were tried.
    """
    moves, tried = 0, 0
    worker.scratch.work[0] = 0
    for at in range(first, len(turn)):
        x = turn[at]
        if not state.dirty[x]:
            continue
        if worker.scratch.work[0] > budget:
            return at, PAUSED, 0, moves, tried
        n = collect_pairs(rules, state, worker, x, without_arcs)
        gain = evaluate(rules, state, worker, worker.tails[:n], worker.heads[:n])
        if worker.scratch.overflow[0]:
            return at, FULL, 0, moves, tried
        tried += 1
        state.dirty[x] = gain > 0.0
        if gain <= 0.0:
            continue
        n = place(rules, state, worker)
        moves += 1
        if not regrow_all(rules, state, worker, worker.changed[:n], state.pool):
            return at + 1, FULL, n, moves, tried
        for i in range(n):
            announce(state, worker.changed[i])
            state.dirty[worker.changed[i]] = True
    return len(turn), DONE, 0, moves, tried
