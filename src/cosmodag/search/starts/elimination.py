"""Compiled elimination of variables from the inverse correlations, the cheapest one first."""

from typing import Any

from cosmodag.runtime.compiled import compiled

# Pairs whose dependence is worth less than this share of the penalty are not neighbours.
LEAST_SHARE = 0.3
# Costs that differ by less than this share of the penalty count as equal: they may differ by
# rounding, which depends on the units of the columns.
TIE = 1e-6


@compiled
def eliminate(inverse: Any, half_rows: float, penalty: float, costs: Any, ints: Any) -> None:
    """Write an order to ``ints[0]``, from its last variable to its first; see `elimination_order`.

    ``inverse`` is overwritten by the inverse correlations of the remaining variables. ``ints[1]``
    holds 0 for eliminated variables, 1 for those with a current cost and 2 for those whose cost
    must be computed (initially all); ``ints[2]`` is space for the neighbours of a variable.

    The cost of eliminating v is the number of its neighbours, plus the change in the number of
    pairs of neighbours that depend on each other given the rest. A dependence that is worth less
    than the penalty counts as a fraction. After each elimination, only the costs of the neighbours
    of the eliminated variable are updated. Of equal costs, the last variable is eliminated, so that
    unrelated variables keep the order of the columns.
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
