"""Compiled elimination of variables from an inverse of correlations, each where it costs least."""

from typing import Any

from cosmodag.compiled import borrowing

# Pairs worth less than this share of the penalty are not looked at.
LEAST_SHARE = 0.3
# Costs that differ by less than this share of the penalty are equal but for rounding, which
# depends on the units of the columns.
TIE = 1e-6


@borrowing
def eliminate(inverse: Any, half_rows: float, penalty: float, costs: Any, ints: Any) -> None:
    """Write an order to ``ints[0]``, last variable first found; see `elimination_order`.

    ``inverse`` is overwritten by the inverses of the correlations of those that remain. ``ints[1]``
    holds 0 for what is eliminated, 1 for what has a cost and 2 for what is to be costed (at first
    all), ``ints[2]`` the neighbours of a variable.

    The cost of v is the change, by its elimination, of the number of pairs of neighbours that
    depend on each other given the rest, and one for each neighbour. A pair that is worth less than
    the penalty counts in part. Only the costs of the neighbours of what was eliminated are renewed.
    Of equal costs the last variable goes, so that variables which nothing orders keep the order of
    the columns.
    """
    order, state, near = ints[0], ints[1], ints[2]
    d = len(costs)
    least, tie = LEAST_SHARE * penalty / half_rows, TIE * penalty
    for place in range(d - 1, -1, -1):
        best = -1
        for v in range(d):
            if state[v] == 2:
                row = inverse[v]
                own, count, cost = row[v], 0, 0.0
                for j in range(d):
                    square = row[j] * row[j]
                    if state[j] and j != v and square > least * own * inverse[j, j]:
                        near[count] = j
                        count += 1
                        cost += min(penalty, half_rows * square / (own * inverse[j, j]))
                for a in range(count):
                    i = near[a]
                    line, share = inverse[i], row[i] / own
                    now, then = line[i], line[i] - share * row[i]
                    for b in range(a):
                        j = near[b]
                        other = line[j] - share * row[j]
                        scale = inverse[j, j] - row[j] * row[j] / own
                        cost += min(penalty, half_rows * other * other / (then * scale))
                        scale = inverse[j, j]
                        cost -= min(penalty, half_rows * line[j] * line[j] / (now * scale))
                costs[v] = cost
                state[v] = 1
            if state[v] and (best < 0 or costs[v] <= costs[best] + tie):
                best = v
        order[place] = best
        state[best] = 0
        row = inverse[best]
        own, count = row[best], 0
        for j in range(d):
            if state[j]:
                near[count] = j
                count += 1
                if row[j] * row[j] > least * own * inverse[j, j]:
                    state[j] = 2
        for a in range(count):
            line, share = inverse[near[a]], row[near[a]] / own
            for b in range(count):
                line[near[b]] -= share * row[near[b]]
