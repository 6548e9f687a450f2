"""Compiled records of chosen parents, each with the condition under which it is valid.

The parents that `grow` and `shrink` choose for v depend only on the set of variables before v. A
record stores one choice with its path and its *blockers*: the variables after v that a step of
growing would have preferred. The record is valid for every order in which the whole path comes
before v and no blocker does, because all other variables lose every comparison. Records therefore
never expire: all orders, trials and restarts that meet the condition reuse them.
"""

from typing import Any

import numpy as np

from cosmodag.runtime.compiled import inlined
from cosmodag.search.entropy.score import entropy_score
from cosmodag.search.kernel.climb_state import (
    BLOCKERS,
    BOUND,
    CHANGED,
    END,
    FREE,
    GROUP,
    HALF_ROWS,
    HEADER,
    IS_DUE,
    LEAST_GAIN,
    LEAST_RISE,
    LONGEST,
    MENTIONS,
    MOST_COMPARED,
    NEWEST,
    PARENTS,
    PATH,
    PATH_RESIDUAL,
    PATH_SPACE,
    PENALTY,
    POOL_SPACE,
    POSITION,
    PRECISION,
    RECORD,
    RESIDUAL,
    TOO_SMALL,
    UNIT,
    WORK,
)
from cosmodag.search.kernel.grow_and_shrink import grow, shrink, wide


@inlined
def renew(state: Any, n: int, total_bound: float, least: float, is_made: bool) -> float:
    """Score the n changed variables at their current positions; return the change of the total.

    For each variable, a valid record is looked up, or created by growing and shrinking. A trial
    returns −inf once the bound of its gain, initially ``total_bound``, falls below ``least``. If
    the move is made, the new records become the current ones. If a space is too small,
    ``counters[TOO_SMALL]`` says which.
    """
    settings, rules, counters = state.settings, state.rules, state.counters
    notes, reals = state.notes, state.reals
    key, bound = state.keys[POSITION], state.keys[BOUND]
    current, counts, is_due = state.shared[RECORD], state.shared[MENTIONS], state.shared[IS_DUE]
    newest, changed, mentioned_by = state.own[NEWEST], state.own[CHANGED], state.mentioned_by
    columns, marks = state.ints[0], state.ints[1]
    path, keep = state.ints[2], state.ints[3]
    near, room, d = state.near, state.work.shape[0] - 4, len(key)
    left, along, weights = state.work[room], state.work[room + 1], state.work[room + 3]
    has_blockers = mentioned_by.shape[1] > 0
    total = 0.0
    for place in range(n):
        v = changed[place]
        at, old = key[v], current[v]
        # Look for a valid record: first the current one, then the others of v, newest first.
        record, newer, found = old, wide(-1), wide(-1)
        for depth in range(MOST_COMPARED):
            if depth == 1:
                record = newest[v]
            if record >= 0:
                first = record + HEADER
                middle = first + notes[record + PATH]
                last = middle + notes[record + BLOCKERS]
                while first < middle and key[notes[first]] < at:
                    first += 1
                if first == middle:
                    while first < last and key[notes[first]] > at:
                        first += 1
                    if first == last:
                        found = record
                        break
                if depth > 0:
                    newer = record
                    record = wide(notes[record])
            elif depth > 0:
                break
        if found >= 0 and newer >= 0:  # move it to the front: it is likely to be valid again
            notes[newer] = notes[found]
            notes[found] = newest[v]
            newest[v] = found
        if found < 0:
            # List required parents, variables before v, and variables after v.
            forced = wide(0)
            if len(rules):
                for j in range(d):
                    columns[forced] = j
                    forced += rules[v, j] == 2
            begin, stop = wide(near[v] if len(near) else 0), wide(near[v + 1] if len(near) else d)
            count = forced
            for t in range(begin, stop):  # without a branch: half would be mispredicted
                j = wide(near[t] if len(near) else t)
                columns[count] = j
                count += (key[j] < at) & (len(rules) == 0 or rules[v, j] == 1)
            everyone = count
            for t in range(begin, stop if has_blockers else begin):
                j = wide(near[t] if len(near) else t)
                columns[everyone] = j
                everyone += (key[j] > at) & (len(rules) == 0 or rules[v, j] == 1)
            k, variance = grow(
                state.correlations[wide(settings[GROUP, v])],
                settings[UNIT, v],
                v,
                forced,
                count,
                everyone,
                settings[LEAST_GAIN, v],
                max(wide(settings[LONGEST, v]), forced),
                state.work,
                state.factor,
                state.ints,
            )
            found, end = counters[FREE], counters[FREE] + HEADER + forced
            if k < 0 or end + k + everyone - count > counters[END]:
                counters[TOO_SMALL] = PATH_SPACE if k < 0 else POOL_SPACE
                return -np.inf
            placed = wide(0)
            for i in range(k):
                placed += path[i] < forced
            least_rise = settings[LEAST_RISE, v]
            kept, residual = shrink(
                k, placed, variance, least_rise, state.work, state.factor, state.ints
            )
            counters[WORK] += everyone * (k + 2) * (k + 4) // 2 + k * k * k // 3
            # Write the record: parents, the rest of the path, blockers.
            for t in range(forced):
                notes[found + HEADER + t] = columns[t]
                reals[found + HEADER + t] = 0.0
            for i in range(placed):
                reals[found + HEADER + path[i]] = weights[i]
            front, back = end, end + kept - placed
            for i in range(placed, k):
                notes[front if keep[i] else back] = columns[path[i]]
                reals[front if keep[i] else back] = weights[i]
                front += keep[i]
                back += 1 - keep[i]
            half, precision = settings[HALF_ROWS, v], settings[PRECISION, v]
            parents = kept - placed + forced
            end += k - placed
            notes[found + PARENTS] = parents
            notes[found + PATH] = end - found - HEADER
            for t in range(count, everyone):
                if marks[t]:
                    notes[end] = columns[t]
                    share = along[t] * along[t] / (max(left[t], 1e-9) * variance)
                    if precision < 0:
                        reals[end] = -half * np.log(max(1.0 - share, 1e-3))
                    else:
                        reals[end] = half * precision * variance * share
                    end += 1
            notes[found + BLOCKERS] = end - found - HEADER - notes[found + PATH]
            fit = np.log(residual) if precision < 0 else residual * precision
            reals[found] = -half * fit - settings[PENALTY, v] * parents
            if len(state.table):
                reals[found] = entropy_score(state, v, found)
            reals[found + RESIDUAL] = residual
            reals[found + PATH_RESIDUAL] = variance
            notes[found] = newest[v]
            newest[v] = found
            counters[FREE] = end
        if is_made:
            if found != old:
                is_due[v] = 1
                if old >= 0:
                    for t in range(
                        old + HEADER, old + HEADER + notes[old + PATH] + notes[old + BLOCKERS]
                    ):
                        x = notes[t]
                        for q in range(counts[x]):
                            if mentioned_by[x, q] == v:
                                counts[x] -= 1
                                mentioned_by[x, q] = mentioned_by[x, counts[x]]
                                break
                for t in range(
                    found + HEADER, found + HEADER + notes[found + PATH] + notes[found + BLOCKERS]
                ):
                    x = notes[t]
                    if counts[x] < mentioned_by.shape[1]:
                        mentioned_by[x, counts[x]] = v
                        counts[x] += 1
                current[v] = found
        else:
            total += reals[found] - reals[old]
            total_bound -= bound[v]
            if total + total_bound < least:
                return -np.inf
    return total
