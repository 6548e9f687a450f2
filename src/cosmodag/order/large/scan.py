"""Compiled scan of all columns: what the path of a variable takes, or might take."""

from typing import Any

from cosmodag.compiled import borrowing
from cosmodag.order.kernel.grow_and_shrink import CHUNK, extend, grow, shrink, wide
from cosmodag.order.scores import NEGLIGIBLE


@borrowing
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

    The path of v is grown among the columns before it (`kernel.grow_and_shrink.grow`). At every
    step the list takes the columns of largest gain before v, and as many behind it, that are worth
    the penalty of growing: the chosen column, those that stand in for it in orders in which it is
    missing, and those that join the path once they come before v. ``lists[1]`` marks the first of
    each step and side. Gives the place in ``some`` that was reached; less than all where a path is
    too long for ``work``.
    """
    d, top = len(key), best_gains.shape[1]
    room = work.shape[0] - 3
    left, along, ahead = work[room], work[room + 1], work[room + 2]
    for place in range(len(some)):
        v = some[place]
        at, matrix = key[v], correlations[wide(settings[6, v])]
        share, limit, unit = settings[1, v], wide(settings[5, v]), settings[7, v]
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


@borrowing
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
    """Write the share of its variance that the best of all others leave of each variable.

    Variables first … last − 1 are done as far as paths fit the work space; gives how far. Paths are
    grown at the full penalty: chance would find something to take among this many.
    """
    columns, d = ints[0], len(left)
    for v in range(first, last):
        count = wide(0)
        for j in range(d):
            columns[count] = j
            count += j != v
        rise = settings[2, v]
        k, variance = grow(
            correlations[wide(settings[6, v])],
            settings[7, v],
            v,
            wide(0),
            count,
            count,
            rise / (1.0 + rise),
            wide(settings[5, v]),
            work,
            factor,
            ints,
        )
        if k < 0:
            return v
        left[v] = shrink(k, wide(0), variance, rise, work, factor, ints)[1]
    return last
