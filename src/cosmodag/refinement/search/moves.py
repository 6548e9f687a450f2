"""Compiled moves of an order search: who moves, whose paths change, what it is worth.

For a variable v and a later one u, four moves put u before v: u goes before v, alone (0) or with
its ancestors in between (1); or v goes after u, alone (2) or with its descendants in between (3).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.grow import Scratch, new_scratch, wide
from cosmodag.refinement.search.state import is_parent, on_path, would_enter
from cosmodag.refinement.search.tree import Tree

__all__ = [
    "Worker",
    "admissible",
    "find_changed",
    "find_touched",
    "gather",
    "losers_first",
    "new_worker",
    "place",
    "place_apart",
]

# Most variables that move together.
TOGETHER = 100


class Worker(NamedTuple):
    """What one thread overwrites while it tries moves."""

    scratch: Scratch
    tree: Tree
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


def new_worker(key: NDArray[np.float64], capacity: int, width: int, tree: Tree) -> Worker:
    """Make what one thread needs."""
    d = len(key)
    return Worker(
        new_scratch(d, capacity),
        tree,
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
    """Sort by insertion: items are few, and nearly sorted."""
    for i in range(1, count):
        item = items[i]
        j = i - 1
        while j >= 0 and key[items[j]] > key[item]:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item


@borrowing
def gather(state: Any, worker: Any, v: int, u: int, kind: int) -> int:
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
                between = key[w] < key[a] < high and mark[a] != stamp
                if between and is_parent(state, w, a):
                    if count >= TOGETHER:
                        return -1
                    mark[a] = stamp
                    moved[count] = a
                    count += 1
    _sort_by_key(moved, count, key)
    return count


@borrowing
def admissible(rules: Any, state: Any, worker: Any, count: int, v: int, u: int, kind: int) -> bool:
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
def _consider(rules: Any, state: Any, worker: Any, s: int, w: int, kind: int, n: int) -> int:
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
def losers_first(worker: Any, n: int) -> None:
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
def find_changed(rules: Any, state: Any, worker: Any, count: int, v: int, u: int, kind: int) -> int:
    """Write down whose paths a move changes; give how many."""
    stamp, key, mark = worker.stamp[0], worker.key, worker.mark
    low, high = key[v], key[u]
    n = wide(0)
    for i in range(count):
        s = worker.moved[i]
        for direction in range(2):
            if direction == 0:
                row, size = state.heard[s], state.heard_count[s]
            else:
                row, size = state.hears[s], state.hears_count[s]
            for t in range(size):
                w = wide(row[t])
                if mark[w] == stamp or key[w] < low or key[w] > high:
                    continue
                if (key[w] > key[s]) == (kind < 2):
                    continue
                n = _consider(rules, state, worker, s, w, kind, n)
    return int(n)


@borrowing
def find_touched(state: Any, worker: Any, count: int, v: int, u: int, kind: int) -> int:
    """Write down whose paths a move may change, without looking; give how many."""
    stamp, key, mark = worker.stamp[0], worker.key, worker.mark
    low, high = key[v], key[u]
    n = wide(0)
    for i in range(count):
        s = worker.moved[i]
        at = key[s]
        for t in range(state.heard_count[s]):
            w = wide(state.heard[s, t])
            inside = mark[w] != stamp and low <= key[w] <= high
            if inside and (key[w] < at) == (kind < 2):
                n = _note(worker, w, n)
        for t in range(state.hears_count[s]):
            w = wide(state.hears[s, t])
            inside = mark[w] != stamp and low <= key[w] <= high
            if inside and (key[w] < at) == (kind < 2):
                n = _note(worker, s, n)
                break
    return int(n)


@borrowing
def place_apart(rules: Any, state: Any, worker: Any, touched: Any) -> int:
    """`place` where a move touches nothing touched before, and say what it touches; −1 if not."""
    v, u, kind = worker.best
    if state.key[v] > state.key[u]:
        return -1
    worker.stamp[0] += 1
    count = gather(state, worker, v, u, kind)
    if count < 0 or not admissible(rules, state, worker, count, v, u, kind):
        return -1
    n = find_changed(rules, state, worker, count, v, u, kind)
    for i in range(count):
        if touched[worker.moved[i]]:
            return -1
    for i in range(n):
        if touched[worker.changed[i]]:
            return -1
    for i in range(count):
        touched[worker.moved[i]] = True
    for i in range(n):
        touched[worker.changed[i]] = True
    return place(rules, state, worker)


@borrowing
def place(rules: Any, state: Any, worker: Any) -> int:
    """Make the move in ``worker.best``: order and positions only.

    Gives how many paths it changes; they are in ``worker.changed``, to be grown anew.
    """
    worker.stamp[0] += 1
    v, u, kind = worker.best
    key = worker.key
    count = gather(state, worker, v, u, kind)
    n = find_changed(rules, state, worker, count, v, u, kind)
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
