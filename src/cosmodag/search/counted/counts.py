"""Compiled local scores of categories: log-likelihoods by counting, minus prices of the cells."""

import math
from typing import Any

from cosmodag.runtime.compiled import part
from cosmodag.search.counted.count_state import (
    ARCS,
    COMBINATIONS,
    COMPLEXITY,
    FLOOR,
    GROUP,
    IS_SHORT,
    LEFT,
    LEVELS,
    PER_ARC,
    PER_CELL,
    ROWS,
    SHARE,
    USED,
)


@part
def complexity(n: float, values: float) -> float:
    """Log of the normaliser of the maximum likelihood of a distribution of some number of values.

    The approximation of Szpankowski and Weinberger (2012), which is at most .09 too large.
    """
    if values <= 1.0:
        return 0.0
    a = values / n
    c = 0.5 + 0.5 * math.sqrt(1.0 + 4.0 / a)
    return n * (math.log(a) + (a + 2.0) * math.log(c) - 1.0 / c) - 0.5 * math.log(c + 2.0 / a)


@part
def price(table: Any, v: int, combinations: float, arcs: float) -> float:
    """Price of a table of a variable's levels by combinations of its parents' levels."""
    s = table.settings
    n, cells = s[SHARE, v] * s[ROWS, v], combinations * s[LEVELS, v]
    found = s[PER_CELL, v] * (cells - combinations) + s[PER_ARC, v] * arcs
    if s[COMPLEXITY, v] > 0.0:
        more = complexity(n, cells) - complexity(n, combinations)
        found += s[COMPLEXITY, v] * more
    return found


@part
def count(table: Any, graph: Any, memo: Any, v: int, u: int) -> float:
    """Log-likelihood of v by its counts, with u added to its parents or left out of them.

    The cells of the rows for the present parents are kept, so that each addition takes one pass.
    """
    codes, cells, base, logs = table.codes, memo.cells, memo.base, table.logs
    weights = table.weights[int(table.settings[GROUP, v])]
    n, levels = codes.shape[1], int(table.settings[LEVELS, v])
    is_added = u >= 0 and graph.parents[v, u] == 0
    first, second = graph.keys[0, v], graph.keys[1, v]
    if u >= 0 and not is_added:
        first, second = first ^ table.words[0, v, u], second ^ table.words[1, v, u]
    work, step = n, levels
    if memo.base_key[0] == first and memo.base_key[1] == second:
        for w in range(codes.shape[0]):
            if graph.parents[v, w] and w != u:
                step *= int(table.settings[LEVELS, w])
    else:
        memo.base_key[0], memo.base_key[1] = first, second
        for i in range(n):
            base[i] = codes[v, i]
        for w in range(codes.shape[0]):
            if graph.parents[v, w] and w != u:
                for i in range(n):
                    base[i] += step * codes[w, i]
                step *= int(table.settings[LEVELS, w])
                work += n
    total = step
    if is_added:
        total = step * int(table.settings[LEVELS, u])
    found, used = 0.0, 0
    if total <= 4 * n:
        if is_added:
            for i in range(n):
                cells[base[i] + step * codes[u, i]] += weights[i]
        else:
            for i in range(n):
                cells[base[i]] += weights[i]
        for j in range(0, total, levels):
            rows = 0
            for k in range(levels):
                rows += cells[j + k]
                found += logs[cells[j + k]]
                cells[j + k] = 0
            found -= logs[rows]
        work += total
    else:  # most cells are empty
        for i in range(n):
            cell = base[i]
            if is_added:
                cell += step * codes[u, i]
            if cells[cell] == 0 and weights[i]:
                memo.touched[used] = cell
                used += 1
            cells[cell] += weights[i]
        for i in range(used):
            cell = memo.touched[i]
            found += logs[cells[cell]]
            memo.sums[cell // levels] += cells[cell]
            cells[cell] = 0
        for i in range(used):
            group = memo.touched[i] // levels
            found -= logs[memo.sums[group]]
            memo.sums[group] = 0
        work += 4 * used
    memo.counters[LEFT] -= work
    return found


@part
def toggled(table: Any, graph: Any, memo: Any, v: int, u: int) -> float:
    """Score of v with u added to its parents, or left out of them; for u = −1, as they are.

    It is −∞ if the cells alone cost so much that the required parents alone score more: then
    nothing is counted. It is also −∞ if the work of this call of the search is done.
    """
    combinations, arcs = graph.numbers[COMBINATIONS, v], graph.numbers[ARCS, v]
    first, second = graph.keys[0, v], graph.keys[1, v]
    if u >= 0:
        first, second = first ^ table.words[0, v, u], second ^ table.words[1, v, u]
        if graph.parents[v, u]:
            combinations, arcs = combinations / table.settings[LEVELS, u], arcs - 1.0
        else:
            combinations, arcs = combinations * table.settings[LEVELS, u], arcs + 1.0
    size = combinations * table.settings[LEVELS, v]
    if combinations > len(memo.sums) or size > len(memo.cells):
        return -math.inf
    cost = price(table, v, combinations, arcs)
    if -cost < table.settings[FLOOR, v]:
        return -math.inf
    mask = memo.keys.shape[1] - 1
    slot = first & mask
    while memo.keys[0, slot] != 0:
        if memo.keys[0, slot] == first and memo.keys[1, slot] == second:
            return table.settings[SHARE, v] * memo.likelihoods[slot] - cost
        slot = (slot + 1) & mask
    counters = memo.counters
    if counters[LEFT] <= 0 or 2 * counters[USED] > mask:
        counters[IS_SHORT] = 1
        return -math.inf
    likelihood = count(table, graph, memo, v, u)
    memo.keys[0, slot], memo.keys[1, slot] = first, second
    memo.likelihoods[slot] = likelihood
    counters[USED] += 1
    return table.settings[SHARE, v] * likelihood - cost
