"""Compiled trials: what a move is worth, and the sweep that makes the best ones."""

from typing import Any

import numpy as np

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.grow import wide
from cosmodag.refinement.search.moves import (
    admissible,
    find_changed,
    find_touched,
    gather,
    losers_first,
    place,
)
from cosmodag.refinement.search.rules import grow_among, local_score, may_be_parent
from cosmodag.refinement.search.state import announce, is_parent, regrow, would_enter
from cosmodag.refinement.search.tree import walk

__all__ = ["DONE", "FULL", "PAUSED", "collect_pairs", "evaluate", "regrow_all", "sweep"]

# More than rounding, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
DONE, PAUSED, FULL = 0, 1, 2


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
def _score_of(rules: Any, worker: Any, w: int) -> float:
    """Score of w among all that come before it, as positions are written in ``key``."""
    m = _all_before(rules, worker, w)
    _, _, parents, residual = grow_among(rules, w, m, worker.scratch)
    return local_score(rules, w, parents, residual)


@borrowing
def _gain_of(rules: Any, state: Any, worker: Any, n: int, best: float) -> float:
    """Sum of what the changed variables gain; given up once it cannot come near ``best``."""
    hope = 0.0
    for i in range(n):
        hope += worker.hope[worker.changed[i]]
    total = 0.0
    for i in range(n):
        w = worker.changed[i]
        total += _score_of(rules, worker, w) - state.score[w]
        hope -= worker.hope[w]
        if total + hope < best - rules.slack:
            return -np.inf
    return total


@borrowing
def _remembered_gain(rules: Any, state: Any, worker: Any, n: int) -> float:
    """Sum of what the touched variables gain, by paths that are mostly known."""
    tree, total = worker.tree, 0.0
    for i in range(n):
        w = worker.changed[i]
        node = walk(rules, tree, worker.key, w, worker.scratch)
        if node < 0:
            return -np.inf
        parents = wide(tree.parents[node])
        total += local_score(rules, w, parents, tree.residual[node]) - state.score[w]
    return total


@borrowing
def _write_keys(worker: Any, count: int, base: float) -> None:
    """Positions as if moved: fractions just after ``base``."""
    for i in range(count):
        s = worker.moved[i]
        worker.old_key[i] = worker.key[s]
        worker.key[s] = base + (i + 1.0) / (count + 1.0)


@borrowing
def _try(rules: Any, state: Any, worker: Any, v: int, u: int, kind: int, best: float) -> float:
    """Tell what a move is worth; anything not above ``best`` where it is not better."""
    worker.stamp[0] += 1
    count = gather(state, worker, v, u, kind)
    if count < 0 or (count == 1 and (kind == 1 or kind == 3)):
        return -np.inf
    if not admissible(rules, state, worker, count, v, u, kind):
        return -np.inf
    remembers = worker.tree.used[0] > 0
    if remembers:
        n = find_touched(state, worker, count, v, u, kind)
    else:
        n = find_changed(rules, state, worker, count, v, u, kind)
        losers_first(worker, n)
    _write_keys(worker, count, worker.key[v] - 1.0 if kind < 2 else worker.key[u])
    if remembers:
        gain = _remembered_gain(rules, state, worker, n)
    else:
        gain = _gain_of(rules, state, worker, n, best)
    for i in range(count):
        worker.key[worker.moved[i]] = worker.old_key[i]
    return gain


@borrowing
def _enters(rules: Any, state: Any, worker: Any, v: int, x: int) -> bool:
    return bool(would_enter(rules, state, v, x, worker.scratch) >= 0.0)


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
        y = wide(state.heard[x, i])
        if n >= len(tails):
            break
        if key[y] > key[x]:
            if is_parent(state, x, y):
                tails[n], heads[n] = x, y
                n += 1
        elif without_arcs and not is_parent(state, y, x) and _enters(rules, state, worker, y, x):
            tails[n], heads[n] = y, x
            n += 1
    if without_arcs:
        for i in range(state.hears_count[x]):
            y = wide(state.hears[x, i])
            later = key[y] > key[x] and not is_parent(state, x, y)
            if n < len(tails) and later and _enters(rules, state, worker, x, y):
                tails[n], heads[n] = x, y
                n += 1
    return n


@borrowing
def evaluate(rules: Any, state: Any, worker: Any, tails: Any, heads: Any) -> float:
    """Find the best move for some pairs; give what it is worth, 0 for none.

    The move is left in ``worker.best``. The state is only read.
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
def regrow_all(rules: Any, state: Any, worker: Any, variables: Any, pool: Any) -> bool:
    """Grow some variables anew; False where scratch or pool is too small: then do it again."""
    done = True
    for w in variables:
        done = done and regrow(rules, state, w, pool, worker.scratch)
    return done


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
