"""Compiled scan of all columns for those that the path of a variable takes, or might take."""

from typing import Any

from cosmodag.runtime.compiled import compiled
from cosmodag.search.gaussian_scores import NEGLIGIBLE
from cosmodag.search.kernel.climb_state import GROUP, LEAST_GAIN, LEAST_RISE, LONGEST, UNIT
from cosmodag.search.kernel.grow_and_shrink import CHUNK, extend, grow, shrink, wide


@compiled
def scan(
    correlations: Any,
    settings: Any,
    rules: Any,
    key: Any,
    some: Any,
    lists: Any,
    counts: Any,
    work: Any,
    best_gains: Any,
    best_columns: Any,
) -> int:
    """List, for each variable in ``some``, the columns that its path takes or might take.

    The path of v is grown among the columns before it (`kernel.grow_and_shrink.grow`). At each step
    the columns with the largest gains are listed, up to a limit before v and as many after v, if
    their gain exceeds the penalty of growing: the chosen column, columns that replace it in orders
    in which it comes after v, and columns that join the path once they come before v. ``lists[1]``
    marks the best column of each step and side. Returns the place in ``some`` that was reached,
    which is not the end if a path is too long for ``work``.
    """
    d, top = len(key), best_gains.shape[1]
    room = work.shape[0] - 3
    left, along, ahead = work[room], work[room + 1], work[room + 2]
    for place in range(len(some)):
        v = some[place]
        at, matrix = key[v], correlations[wide(settings[GROUP, v])]
        share, limit, unit = settings[LEAST_GAIN, v], wide(settings[LONGEST, v]), settings[UNIT, v]
        row = matrix[v]
        for j in range(d):
            left[j] = matrix[j, j] * unit
            along[j] = row[j] * unit
            ahead[j] = 1.0 if key[j] < at else 0.0
        left[v], along[v] = 0.0, 0.0
        if len(rules):
            for j in range(d):
                if rules[v, j] == 0:
                    left[j], along[j] = 0.0, 0.0
        listed, is_first = lists[0, place], lists[1, place]
        filled, k, variance = wide(0), wide(0), 1.0
        while variance > NEGLIGIBLE and k < limit:
            floor = variance * share
            for side in range(2):
                for i in range(top):
                    best_gains[side, i] = floor
                    best_columns[side, i] = -1
            for chunk in range(0, d, CHUNK):
                end, hits = min(chunk + CHUNK, d), 0
                behind = best_gains[0, top - 1]
                more = best_gains[1, top - 1] - behind
                for j in range(chunk, end):
                    hits += along[j] * along[j] > (behind + ahead[j] * more) * left[j]
                if hits:
                    for j in range(chunk, end):
                        side = wide(ahead[j])
                        gains, columns = best_gains[side], best_columns[side]
                        square = along[j] * along[j]
                        if left[j] > NEGLIGIBLE and square > gains[top - 1] * left[j]:
                            gain, spot = square / left[j], top - 1
                            while spot > 0 and gains[spot - 1] < gain:
                                gains[spot] = gains[spot - 1]
                                columns[spot] = columns[spot - 1]
                                spot -= 1
                            gains[spot], columns[spot] = gain, j
            for side in range(2):
                for i in range(top):
                    j = best_columns[side, i]
                    if j < 0:
                        break
                    spot = wide(0)
                    while spot < filled and listed[spot] != j:
                        spot += 1
                    if spot == filled and filled < len(listed):
                        listed[filled], is_first[filled] = j, 0
                        filled += 1
                    if i == 0 and spot < filled:
                        is_first[spot] = 1
            best = wide(best_columns[1, 0])
            if best < 0:
                break
            if k >= room:
                return place
            new, source = work[k], matrix[best]
            for j in range(d):
                new[j] = source[j] * unit
            b = extend(work, k, best, d, left, along)
            variance = max(variance - b * b, NEGLIGIBLE)
            k += 1
        counts[place] = filled
    return len(some)


@compiled
def explain_some(
    correlations: Any,
    settings: Any,
    first: int,
    last: int,
    left: Any,
    work: Any,
    factor: Any,
    ints: Any,
) -> int:
    """Compute the share of each variable's variance that the best few other columns leave.

    Writes ``left`` for the variables first … last − 1, and returns the first whose path does not
    fit the work space, or ``last``. Paths are grown at the full penalty: among this many columns, a
    smaller one would add columns by chance.
    """
    columns, d = ints[0], len(left)
    for v in range(first, last):
        count = wide(0)
        for j in range(d):
            columns[count] = j
            count += j != v
        rise = settings[LEAST_RISE, v]
        k, variance = grow(
            correlations[wide(settings[GROUP, v])],
            settings[UNIT, v],
            v,
            wide(0),
            count,
            count,
            rise / (1.0 + rise),
            wide(settings[LONGEST, v]),
            work,
            factor,
            ints,
        )
        if k < 0:
            return v
        left[v] = shrink(k, wide(0), variance, rise, work, factor, ints)[1]
    return last
