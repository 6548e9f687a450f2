"""Compiled records of chosen parents, each with the condition under which it holds.

What grow and shrink choose for v depends only on which variables come before v. A record of one
choice holds for *every* order in which the path comes before v and none of the listeners does
(the others were not taken, and would not be). So a record that was made once serves all orders,
trials and restarts that meet the condition; nothing is ever out of date.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.order.columns import grow, shrink

__all__ = ["HEADER", "State", "find", "renew"]

# A record in ``notes``: next older record, parents, path, listeners; then the members of the path,
# parents first, and the listeners. In ``reals``: score, residual variance, share of the variance
# that the path leaves; then zeros, and for each listener about what v would gain by it.
HEADER = 4
# Older records of a variable than this many are not looked at.
LOOKED_AT = 64


class State(NamedTuple):
    """Everything that compiled code reads and writes, in few arrays: each costs compile time."""

    correlations: NDArray[np.float64]  # (groups, d, d)
    settings: NDArray[np.float64]  # (6, d): half rows, shares of grow and shrink, penalty,
    # precision (−1: scale-free), longest path
    rules: NDArray[np.uint8]  # (d, d) or empty: [v, x] 0 if x → v is forbidden, 2 required, else 1
    before: NDArray[np.uint8]  # (d, d) or empty: [x, v] whether x must come before v
    notes: NDArray[np.int32]  # pool of records
    reals: NDArray[np.float64]
    heard: NDArray[np.int32]  # (d, width): variables whose record mentions x
    links: NDArray[np.int64]  # (9, d): order, current record, newest record, length of heard, ...
    keys: NDArray[np.float64]  # (3, d): position, position before a trial, possible gain
    counters: NDArray[np.int64]  # used notes, stamp, work, which space is too small, best move
    work: NDArray[np.float64]
    factor: NDArray[np.float64]
    ints: NDArray[np.int64]


@borrowing
def _make(state: Any, v: int, forced: int, count: int, everyone: int) -> int:
    """Grow and shrink v among listed columns, and write the record."""
    settings, notes, reals = state.settings, state.notes, state.reals
    columns, marks, path, keep = state.ints[0], state.ints[1], state.ints[2], state.ints[3]
    half, limit = settings[0, v], np.int64(settings[5, v])
    correlations = state.correlations[np.int64(settings[6, v])]
    k, variance = grow(
        correlations,
        v,
        forced,
        count,
        everyone,
        settings[1, v],
        max(limit, forced),
        state.work,
        state.factor,
        state.ints,
    )
    if k < 0:
        state.counters[3] = 1
        return -1
    placed = np.int64(0)
    for i in range(k):
        placed += path[i] < forced
    kept, residual = shrink(
        k, placed, variance, settings[2, v], state.work, state.factor, state.ints
    )
    state.counters[2] += everyone * (k + 2) * (k + 4) // 2 + k * k * k // 3
    record = state.counters[0]
    if record + HEADER + forced + k + everyone - count > len(notes):
        state.counters[3] = 2
        return -1
    at = record + HEADER
    for t in range(forced):
        notes[at] = columns[t]
        at += 1
    for wanted in (1, 0):
        for i in range(placed, k):
            if keep[i] == wanted:
                notes[at] = columns[path[i]]
                at += 1
    parents = kept - placed + forced
    notes[record + 1] = parents
    notes[record + 2] = at - record - HEADER
    room = state.work.shape[0] - 4
    left, along = state.work[room], state.work[room + 1]
    listeners = 0
    for t in range(count, everyone):
        if marks[t]:
            notes[at] = columns[t]
            gain = along[t] * along[t] / max(left[t], 1e-9)
            reals[at] = min(gain / variance, 0.999)
            at += 1
            listeners += 1
    notes[record + 3] = listeners
    precision = settings[4, v]
    for i in range(at - listeners, at):
        share = reals[i]
        if precision < 0:
            reals[i] = -half * np.log(1.0 - share)
        else:
            reals[i] = half * precision * variance * share
    fit = np.log(residual) if precision < 0 else residual * precision
    reals[record] = -half * fit - settings[3, v] * parents
    reals[record + 1] = residual
    reals[record + 2] = variance
    notes[record] = state.links[2, v]
    state.links[2, v] = record
    state.counters[0] = at
    return record


@borrowing
def find(state: Any, v: int) -> int:
    """Record of v that holds at the present positions, made if need be; −1 if there is no room."""
    key, notes = state.keys[0], state.notes
    at = key[v]
    current, newest = state.links[1], state.links[2]
    record, newer = current[v], np.int64(-1)
    for depth in range(LOOKED_AT):
        if depth == 1:
            record = newest[v]
        if record < 0:
            if depth == 0:
                continue
            break
        first = record + HEADER
        middle = first + notes[record + 2]
        last = middle + notes[record + 3]
        while first < middle and key[notes[first]] < at:
            first += 1
        if first == middle:
            while first < last and key[notes[first]] > at:
                first += 1
            if first == last:
                if newer >= 0:  # what holds now is likely to hold again
                    notes[newer] = notes[record]
                    notes[record] = newest[v]
                    newest[v] = record
                return record
        if depth > 0:
            newer = record
            record = np.int64(notes[record])
    columns = state.ints[0]
    d = len(key)
    forced = np.int64(0)
    if len(state.rules):
        rule = state.rules[v]
        for j in range(d):
            if rule[j] == 2:
                columns[forced] = j
                forced += 1
        count = forced
        for j in range(d):
            if key[j] < at and rule[j] == 1:
                columns[count] = j
                count += 1
        everyone = count
        for j in range(d):
            if key[j] > at and rule[j] == 1:
                columns[everyone] = j
                everyone += 1
    else:
        count = np.int64(0)
        for j in range(d):  # no branch: it would be predicted wrongly every other time
            columns[count] = j
            count += key[j] < at
        everyone = count
        for j in range(d):
            columns[everyone] = j
            everyone += key[j] > at
    return _make(state, v, forced, count, everyone)


@borrowing
def renew(state: Any, n: int, total_hope: float, least: float, is_made: bool) -> float:
    """Score the n changed variables at the present positions; give what they gain together.

    A trial is given up, with −inf, once it cannot come near ``least``. Of a move that is made the
    new records become the present ones.
    """
    notes, reals, heard, links = state.notes, state.reals, state.heard, state.links
    current, counts, changed, dirty, hope = links[1], links[3], links[7], links[8], state.keys[2]
    gain = 0.0
    for i in range(n):
        v = changed[i]
        old = current[v]
        record = find(state, v)
        if record < 0:
            return -np.inf
        if not is_made:
            gain += reals[record] - reals[old]
            total_hope -= hope[v]
            if gain + total_hope < least:
                return -np.inf
        elif record != old:
            dirty[v] = 1
            if old >= 0:
                for t in range(old + HEADER, old + HEADER + notes[old + 2] + notes[old + 3]):
                    x = notes[t]
                    row = heard[x]
                    for q in range(counts[x]):
                        if row[q] == v:
                            counts[x] -= 1
                            row[q] = row[counts[x]]
                            break
            for t in range(
                record + HEADER, record + HEADER + notes[record + 2] + notes[record + 3]
            ):
                x = notes[t]
                if counts[x] < heard.shape[1]:
                    heard[x, counts[x]] = v
                    counts[x] += 1
            current[v] = record
    return gain
