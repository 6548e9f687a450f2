"""Compiled moves: what each is worth, and the sweep that makes the best of each variable.

For an arc v → u four moves put u before v: u goes before v, alone (0) or with its ancestors in
between (1); or v goes after u, alone (2) or with its descendants in between (3).
"""

from typing import Any

import numpy as np

from cosmodag.compiled import borrowing
from cosmodag.order.records import HEADER, renew

__all__ = ["sweep"]

# More than rounding, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
# Most variables that move together.
TOGETHER = 100


@borrowing
def gather(state: Any, v: int, u: int, kind: int) -> int:
    """Write down what moves, in order; give how many, or −1 where the move is not possible."""
    notes, links, key = state.notes, state.links, state.keys[0]
    current, mark, moved = links[1], links[4], links[6]
    state.counters[1] += 1
    stamp = state.counters[1]
    low, high = key[v], key[u]
    moved[0] = u if kind < 2 else v
    mark[moved[0]] = stamp
    count, at = 1, 0
    while at < count and (kind == 1 or kind == 3):
        w = moved[at]
        at += 1
        first, last = 0, links[3, w]
        if kind == 1:
            first = current[w] + HEADER
            last = first + notes[current[w] + 1]
        for i in range(first, last):
            if kind == 1:
                a = notes[i]
                inside = key[a] > low
            else:
                a = state.heard[w, i]
                inside = False
                if key[w] < key[a] < high:
                    for t in range(
                        current[a] + HEADER, current[a] + HEADER + notes[current[a] + 1]
                    ):
                        inside |= notes[t] == w
            if inside and mark[a] != stamp:
                if count >= TOGETHER:
                    return -1
                mark[a] = stamp
                moved[count] = a
                count += 1
    # Sort by position: they are few, and nearly sorted.
    for i in range(1, count):
        item, spot = moved[i], i
        while spot > 0 and key[moved[spot - 1]] > key[item]:
            moved[spot] = moved[spot - 1]
            spot -= 1
        moved[spot] = item
    if len(state.before):
        order = links[0]
        for i in range(count):
            s = moved[i]
            if kind < 2:
                for place in range(int(low), int(key[s])):
                    w = order[place]
                    if mark[w] != stamp and state.before[w, s]:
                        return -1
            else:
                for place in range(int(key[s]) + 1, int(high) + 1):
                    w = order[place]
                    if mark[w] != stamp and state.before[s, w]:
                        return -1
    return count


@borrowing
def touched_by(state: Any, count: int, v: int, u: int, kind: int) -> tuple[int, float]:
    """Write down the variables whose record does not hold after a move.

    These are the variables that hear of what moves past them, and the moved that lose a member of
    their path or meet a listener. Gives how many they are, and about what they gain at most. Those
    that may gain least come first, so that a hopeless move is recognised early.
    """
    notes, reals, links, key = state.notes, state.reals, state.links, state.keys[0]
    current, mark, hit, moved, changed = links[1], links[4], links[5], links[6], links[7]
    hope, penalty = state.keys[2], state.settings[3]
    stamp = state.counters[1]
    low, high = key[v], key[u]
    n, total = 0, 0.0
    for i in range(count):
        s = moved[i]
        record, at = current[s], key[s]
        middle = record + HEADER + notes[record + 2]
        for side in range(2):
            if side == 0:
                first, last = 0, links[3, s]
            elif kind < 2:
                first, last = record + HEADER, middle
            else:
                first, last = middle, middle + notes[record + 3]
            for t in range(first, last):
                w = np.int64(state.heard[s, t] if side == 0 else notes[t])
                place = key[w]
                if mark[w] == stamp or place < low or place > high or (place < at) != (kind < 2):
                    continue
                one = w if side == 0 else s
                if hit[one] != stamp:
                    hit[one] = stamp
                    hope[one] = 0.0
                    changed[n] = one
                    n += 1
                if (side == 0) == (kind < 2):
                    if hope[one] == 0.0:  # it may also do without the parents it has
                        hope[one] = penalty[one] * notes[current[one] + 1]
                    if side == 1:
                        hope[one] += reals[t]
                    else:
                        own = current[one] + HEADER + notes[current[one] + 2]
                        for q in range(own, own + notes[current[one] + 3]):
                            if notes[q] == s:
                                hope[one] += reals[q]
    for i in range(n):
        w = changed[i]
        total += hope[w]
        spot = i
        while spot > 0 and hope[changed[spot - 1]] > hope[w]:
            changed[spot] = changed[spot - 1]
            spot -= 1
        changed[spot] = w
    return n, total


@borrowing
def move(state: Any, v: int, u: int, kind: int, least: float, is_made: bool) -> float:
    """Try a move, or make it; give what it is worth.

    A trial is given up, with −inf, once it cannot come near ``least``. Kind 4 moves nothing, and
    renews all records for the order as it stands.
    """
    links, key, old_key = state.links, state.keys[0], state.keys[1]
    order, mark, moved, changed = links[0], links[4], links[6], links[7]
    count, n, hope, low, high = 0, len(order), 0.0, 0, -1
    if kind == 4:
        for i in range(n):
            changed[i] = order[i]
    else:
        count = gather(state, v, u, kind)
        if count < 0 or (count == 1 and (kind == 1 or kind == 3)):
            return -np.inf
        n, hope = touched_by(state, count, v, u, kind)
        if hope < least and not is_made:
            return -np.inf
        low, high = int(key[v]), int(key[u])
    base = low - 1.0 if kind < 2 else high
    for i in range(count):
        s = moved[i]
        old_key[s] = key[s]
        key[s] = base + (i + 1.0) / (count + 1.0)
    gain = renew(state, n, hope, least, is_made)
    if not is_made:
        for i in range(count):
            key[moved[i]] = old_key[moved[i]]
        return gain
    stamp, place = state.counters[1], count if kind < 2 else 0
    for i in range(low, high + 1):
        if mark[order[i]] != stamp:
            changed[place] = order[i]
            place += 1
    begin = 0 if kind < 2 else place
    for i in range(count):
        changed[begin + i] = moved[i]
    for i in range(low, high + 1):
        order[i] = changed[i - low]
        key[order[i]] = i
    return gain


@borrowing
def arcs_of(state: Any, x: int) -> int:
    """Write down the arcs into and out of x; give how many."""
    notes, links, key = state.notes, state.links, state.keys[0]
    current, tails, heads = links[1], links[9], links[10]
    n = 0
    first = current[x] + HEADER
    for i in range(first, first + notes[current[x] + 1]):
        tails[n], heads[n] = notes[i], x
        n += 1
    for i in range(links[3, x]):
        y = state.heard[x, i]
        if key[y] > key[x]:
            first = current[y] + HEADER
            for t in range(first, first + notes[current[y] + 1]):
                if notes[t] == x:
                    tails[n], heads[n] = x, y
                    n += 1
    return n


@borrowing
def sweep(state: Any, turn: Any, first: int, slack: float, budget: int) -> tuple[int, int]:
    """Make the best move of each dirty variable, from ``turn[first]`` on.

    A first place of −1 renews all records before. Gives the place reached and the number of moves.
    It ends early after ``budget`` units of work, and where a space is too small, as ``counters[3]``
    tells: then all records have to be renewed.
    """
    dirty, tails, heads, counters = state.links[8], state.links[9], state.links[10], state.counters
    moves = 0
    end = counters[2] + budget
    for at in range(first, len(turn)):
        trials, x = 0, np.int64(0)
        best, v, u, kind = LEAST_IMPROVEMENT, np.int64(-1), np.int64(-1), 4
        if at >= 0:
            x = turn[at]
            if not dirty[x]:
                continue
            if counters[2] > end:
                return at, moves
            dirty[x] = 0
            trials = 4 * arcs_of(state, x)
        for i in range(trials + 1):
            is_made = i == trials
            if not is_made:
                tail, head, which = tails[i // 4], heads[i // 4], i % 4
            elif v >= 0 or at < 0:
                tail, head, which = v, u, kind
            else:
                break
            gain = move(state, tail, head, which, best - slack, is_made)
            if counters[3]:
                dirty[x] = 1
                return at, moves
            if is_made and at >= 0:
                dirty[x] = 1
                moves += 1
            elif gain > best:
                best, v, u, kind = gain, tail, head, which
    return len(turn), moves
