"""Compiled moves: the gain of a move, and the sweep that makes the best move of each variable.

For an arc v → u there are four moves that put u before v: u moves to the position before v, alone
(kind 0) or with its ancestors in between (1); or v moves to the position after u, alone (2) or with
its descendants in between (3).
"""

from typing import Any

from cosmodag.runtime.compiled import compiled, part
from cosmodag.search.kernel.climb_state import (
    BLOCKERS,
    BOUND,
    CHANGED,
    FROM,
    HEADER,
    HEADS,
    IS_DUE,
    LISTED_IN,
    MENTIONS,
    MOVED,
    MOVED_IN,
    OLD_POSITION,
    ORDER,
    PARENTS,
    PATH,
    PENALTY,
    POSITION,
    RECORD,
    TAILS,
    TO,
    TOO_SMALL,
    TRIAL,
    WORK,
)
from cosmodag.search.kernel.grow_and_shrink import wide
from cosmodag.search.kernel.grow_records import renew

# Smallest improvement that is not a rounding error, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
# Kind of "no move": the records are renewed for the current order.
NONE = 4
# Maximum number of variables that one move may move.
TOGETHER = 100
# Modes of a sweep.
TRY, PLAN, EXECUTE, TRY_ENDS = range(4)


@part
def affected(state: Any, v: int, u: int, kind: int) -> tuple[int, int, float]:
    """List the variables that move, and those whose current record is not valid after the move.

    The latter are the variables whose record mentions one that moves past them, and the moved ones
    that pass a member of their path or a blocker. They are sorted by the bound of their gain, in
    ascending order, so that a trial that cannot reach the best gain ends early.

    Returns the number of variables that move (−1 if there is no such move, or if another kind is
    the same move), the number with invalid records, and the sum of the (estimated) bounds of their
    gains.
    """
    notes, reals = state.notes, state.reals
    key, bound = state.keys[POSITION], state.keys[BOUND]
    order, current, mentions = state.shared[ORDER], state.shared[RECORD], state.shared[MENTIONS]
    mark, hit = state.own[MOVED_IN], state.own[LISTED_IN]
    moved, changed = state.own[MOVED], state.own[CHANGED]
    penalty = state.settings[PENALTY]
    state.counters[TRIAL] += 1
    stamp = state.counters[TRIAL]
    low, high = key[v], key[u]
    moved[0] = u if kind < 2 else v
    mark[moved[0]] = stamp
    count, done = 1, 0
    while done < count and (kind == 1 or kind == 3):
        w = moved[done]
        done += 1
        first, last = wide(0), mentions[w]
        if kind == 1:
            first = current[w] + HEADER
            last = first + notes[current[w] + PARENTS]
        for i in range(first, last):
            if kind == 1:
                a = notes[i]
                inside = key[a] > low
            else:
                a = state.mentioned_by[w, i]
                inside = False
                if key[w] < key[a] < high:
                    own = current[a] + HEADER
                    for t in range(own, own + notes[current[a] + PARENTS]):
                        inside |= notes[t] == w
            if inside and mark[a] != stamp:
                if count >= TOGETHER:
                    return -1, 0, 0.0
                mark[a] = stamp
                moved[count] = a
                count += 1
    if count == 1 and (kind == 1 or kind == 3):
        return -1, 0, 0.0
    # Insertion sort by position: the list is short and nearly sorted.
    for i in range(1, count):
        item, spot = moved[i], i
        while spot > 0 and key[moved[spot - 1]] > key[item]:
            moved[spot] = moved[spot - 1]
            spot -= 1
        moved[spot] = item
    if len(state.before):
        for i in range(count):
            s = moved[i]
            if kind < 2:
                for place in range(int(low), int(key[s])):
                    w = order[place]
                    if mark[w] != stamp and state.before[w, s]:
                        return -1, 0, 0.0
            else:
                for place in range(int(key[s]) + 1, int(high) + 1):
                    w = order[place]
                    if mark[w] != stamp and state.before[s, w]:
                        return -1, 0, 0.0
    n, total = 0, 0.0
    for i in range(count):
        s = moved[i]
        record, at = current[s], key[s]
        middle = record + HEADER + notes[record + PATH]
        for side in range(2):
            if side == 0:
                first, last = wide(0), mentions[s]
            elif kind < 2:
                first, last = record + HEADER, middle
            else:
                first, last = middle, middle + notes[record + BLOCKERS]
            for t in range(first, last):
                w = wide(state.mentioned_by[s, t] if side == 0 else notes[t])
                near = key[w]
                if mark[w] == stamp or near < low or near > high or (near < at) != (kind < 2):
                    continue
                one = w if side == 0 else s
                if hit[one] != stamp:
                    hit[one] = stamp
                    bound[one] = 0.0
                    changed[n] = one
                    n += 1
                if (side == 0) == (kind < 2):
                    if bound[one] == 0.0:  # a new parent may replace the present ones
                        bound[one] = penalty[one] * notes[current[one] + PARENTS]
                    if side == 1:
                        bound[one] += reals[t]
                    else:
                        own = current[one] + HEADER + notes[current[one] + PATH]
                        for q in range(own, own + notes[current[one] + BLOCKERS]):
                            if notes[q] == s:
                                bound[one] += reals[q]
    for i in range(n):
        w = changed[i]
        total += bound[w]
        spot = i
        while spot > 0 and bound[changed[spot - 1]] > bound[w]:
            changed[spot] = changed[spot - 1]
            spot -= 1
        changed[spot] = w
    return count, n, total


@compiled
def sweep(
    state: Any, turn: Any, plans: Any, first: int, mode: int, slack: float, budget: int
) -> tuple[int, int]:
    """Try the moves of the variables ``turn[first:]`` that are due; make the best move of each.

    With ``first`` = −1, all records are renewed first. The modes are

    - `TRY`: the best move of each variable is made;
    - `TRY_ENDS`: the same, and moves to both ends of the order are also tried;
    - `PLAN`: the best moves are only written to ``plans`` (gain, v, u, kind);
    - `EXECUTE`: the planned moves are tried again, and made if they still raise the score.

    Returns the place in ``turn`` that was reached and the number of moves made. The sweep ends
    early after ``budget`` units of work, or if a space is too small (``counters[TOO_SMALL]``); in
    the latter case all records must be renewed.
    """
    notes, counters = state.notes, state.counters
    key, old_key = state.keys[POSITION], state.keys[OLD_POSITION]
    order, current = state.shared[ORDER], state.shared[RECORD]
    counts, is_due = state.shared[MENTIONS], state.shared[IS_DUE]
    mark, moved, changed = state.own[MOVED_IN], state.own[MOVED], state.own[CHANGED]
    tails, heads = state.own[TAILS], state.own[HEADS]
    moves, end = wide(0), counters[WORK] + budget
    for at in range(first, len(turn)):
        best, v, u, kind = LEAST_IMPROVEMENT, wide(-1), wide(-1), wide(NONE)
        trials, x = wide(0), wide(0)
        if at >= 0:
            x = turn[at]
            if mode == EXECUTE:
                tails[0], heads[0], trials = wide(plans[at, 1]), wide(plans[at, 2]), 1
            else:
                if not is_due[x]:
                    continue
                if counters[WORK] > end:
                    return at, moves
                # List the arcs into x, then those out of it, nearest first.
                begin = current[x] + HEADER
                for i in range(begin, begin + notes[current[x] + PARENTS]):
                    tails[trials], heads[trials] = notes[i], x
                    trials += 1
                parents = trials
                for i in range(counts[x]):
                    y = wide(state.mentioned_by[x, i])
                    if key[y] > key[x]:
                        begin = current[y] + HEADER
                        for t in range(begin, begin + notes[current[y] + PARENTS]):
                            if notes[t] == x:
                                spot = trials
                                while spot > parents and key[heads[spot - 1]] > key[y]:
                                    heads[spot] = heads[spot - 1]
                                    spot -= 1
                                heads[spot], tails[trials] = y, x
                                trials += 1
                if mode == TRY_ENDS and trials + 2 <= len(order):
                    if order[len(order) - 1] != x:
                        tails[trials], heads[trials] = x, order[len(order) - 1]
                        trials += 1
                    if order[0] != x:
                        tails[trials], heads[trials] = order[0], x
                        trials += 1
                trials *= 4
        for i in range(trials + 1):
            is_made = i == trials
            if is_made:
                if at >= 0 and (v < 0 or mode == PLAN):
                    break
                tail, head, which = v, u, kind
            elif mode == EXECUTE:
                tail, head, which = tails[0], heads[0], wide(plans[at, 3])
                if key[tail] > key[head]:
                    continue
            else:
                tail, head, which = tails[i // 4], heads[i // 4], wide(i % 4)
            # Positions after the move: fractions just below that of v, or just above that of u.
            count, n, bound, low, high = wide(0), len(order), 0.0, wide(0), wide(-1)
            if which == NONE:
                n = counters[TO] - counters[FROM]
                for t in range(n):
                    changed[t] = order[counters[FROM] + t]
            else:
                count, n, bound = affected(state, tail, head, which)
                if count < 0 or (bound < best - slack and not is_made):
                    continue
                low, high = wide(key[tail]), wide(key[head])
            base = low - 1.0 if which < 2 else float(high)
            for t in range(count):
                s = moved[t]
                old_key[s] = key[s]
                key[s] = base + (t + 1.0) / (count + 1.0)
            gain = renew(state, n, bound, best - slack, is_made)
            if not is_made:
                for t in range(count):
                    key[moved[t]] = old_key[moved[t]]
                # Gains of moves to the same graph differ by rounding: prefer the first.
                if gain > best + LEAST_IMPROVEMENT:
                    best, v, u, kind = gain, tail, head, which
            else:
                place, begin, stamp = count if which < 2 else wide(0), wide(0), counters[TRIAL]
                for t in range(low, high + 1):
                    if mark[order[t]] != stamp:
                        changed[place] = order[t]
                        place += 1
                if which >= 2:
                    begin = place
                for t in range(count):
                    changed[begin + t] = moved[t]
                for t in range(low, high + 1):
                    order[t] = changed[t - low]
                    key[order[t]] = t
            if counters[TOO_SMALL]:
                return at, moves
        if at >= 0:
            if mode == PLAN:
                plans[at, 0], plans[at, 1], plans[at, 2], plans[at, 3] = best, v, u, kind
            else:
                moves += v >= 0
                is_due[x] = (v >= 0) | (mode == EXECUTE)
    return len(turn), moves
