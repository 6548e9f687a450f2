"""Compiled moves of a search among categories: parents repaired after swaps of adjacent variables.

Every function stops where a score that is not known yet would take more than the work allowed. Its
caller then restores the graph, and the same call is repeated: what was counted is known by then.
"""

import math
from typing import Any

from cosmodag.runtime.compiled import compiled, part
from cosmodag.search.counted.count_state import ARCS, COMBINATIONS, IS_SHORT, LEVELS, SCORE
from cosmodag.search.counted.counts import toggled

# Smaller gains are treated as rounding errors: of a parent, and of a move. Of two choices that
# differ by less, the first is taken.
_LEAST_GAIN = 1e-7
LEAST_MOVE = 1e-6


@part
def flip(table: Any, graph: Any, v: int, u: int) -> None:
    """Add u to the parents of v, or leave it out."""
    levels = table.settings[LEVELS, u]
    if graph.parents[v, u]:
        graph.numbers[COMBINATIONS, v] /= levels
        graph.numbers[ARCS, v] -= 1.0
    else:
        graph.numbers[COMBINATIONS, v] *= levels
        graph.numbers[ARCS, v] += 1.0
    graph.parents[v, u] ^= 1
    for i in range(2):
        graph.keys[i, v] ^= table.words[i, v, u]


@part
def best_pair(table: Any, graph: Any, memo: Any, v: int, score: float) -> int:
    """Pair of predecessors that together raise the score of v most; −1 if none does."""
    best, at = score, -1
    for i in range(table.pair_ends[v], table.pair_ends[v + 1]):
        u, w = table.pairs[0, i], table.pairs[1, i]
        if table.rules[v, u] != 1 or table.rules[v, w] != 1:
            continue
        if graph.parents[v, u] or graph.parents[v, w]:
            continue
        if graph.position[u] > graph.position[v] or graph.position[w] > graph.position[v]:
            continue
        flip(table, graph, v, u)
        found = toggled(table, graph, memo, v, w)
        flip(table, graph, v, u)
        if found > best + _LEAST_GAIN:
            best, at = found, i
    return at


@part
def improve_parents(table: Any, graph: Any, memo: Any, v: int) -> None:
    """Grow and shrink the parents of v from the present ones, until neither raises the score."""
    score, is_growing, has_dropped = graph.numbers[SCORE, v], True, False
    while True:
        best, at = score, -1
        for u in range(len(graph.order)):
            if table.rules[v, u] != 1 or (graph.parents[v, u] == 0) != is_growing:
                continue
            if is_growing and graph.position[u] > graph.position[v]:
                continue
            found = toggled(table, graph, memo, v, u)
            if found > best + _LEAST_GAIN:
                best, at = found, u
        if at < 0 and is_growing:
            pair = best_pair(table, graph, memo, v, score)
            if pair >= 0 and not memo.counters[IS_SHORT]:
                flip(table, graph, v, table.pairs[0, pair])
                at = table.pairs[1, pair]
                best = toggled(table, graph, memo, v, at)
        if memo.counters[IS_SHORT]:
            return
        if at >= 0:
            flip(table, graph, v, at)
            score, graph.numbers[SCORE, v] = best, best
            has_dropped = not is_growing
        elif is_growing or has_dropped:
            is_growing, has_dropped = not is_growing, False
        else:
            return


@part
def swap(table: Any, graph: Any, memo: Any, place: int) -> float:
    """Exchange the variables at a place and at the next one; return the change of the score."""
    a, b = graph.order[place], graph.order[place + 1]
    graph.order[place], graph.order[place + 1] = b, a
    graph.position[a], graph.position[b] = place + 1, place
    before = graph.numbers[SCORE, a] + graph.numbers[SCORE, b]
    if graph.parents[b, a]:
        flip(table, graph, b, a)
        graph.numbers[SCORE, b] = toggled(table, graph, memo, b, -1)
        improve_parents(table, graph, memo, b)
    if table.rules[a, b] == 1:
        gains = toggled(table, graph, memo, a, b) > graph.numbers[SCORE, a] + _LEAST_GAIN
        for i in range(table.pair_ends[a], table.pair_ends[a + 1]):
            gains |= table.pairs[0, i] == b or table.pairs[1, i] == b
        if gains:
            improve_parents(table, graph, memo, a)
    return graph.numbers[SCORE, a] + graph.numbers[SCORE, b] - before


@compiled
def copy_graph(source: Any, target: Any) -> None:
    """Copy an order and its graph."""
    d = len(source.order)
    for v in range(d):
        target.order[v], target.position[v] = source.order[v], source.position[v]
        for i in range(2):
            target.keys[i, v] = source.keys[i, v]
        for i in range(3):
            target.numbers[i, v] = source.numbers[i, v]
        for u in range(d):
            target.parents[v, u] = source.parents[v, u]


@part
def carry(table: Any, graph: Any, memo: Any, v: int, target: int) -> float:
    """Move v by swaps towards a place, or up to where it must stop; return the change."""
    gain = 0.0
    while graph.position[v] != target:
        place = graph.position[v]
        if target > place:
            if table.before[v, graph.order[place + 1]]:
                break
            gain += swap(table, graph, memo, place)
        else:
            if table.before[graph.order[place - 1], v]:
                break
            gain += swap(table, graph, memo, place - 1)
        if memo.counters[IS_SHORT]:
            return -math.inf
    return gain


@part
def insert(table: Any, graph: Any, saved: Any, memo: Any, v: int) -> float:
    """Move v to its best place; return the gain."""
    copy_graph(graph, saved)
    start = graph.position[v]
    best, place = 0.0, start
    for step in (-1, 1):
        gain = 0.0
        while 0 <= graph.position[v] + step < len(graph.order):
            reached = graph.position[v]
            gain += carry(table, graph, memo, v, reached + step)
            if memo.counters[IS_SHORT]:
                copy_graph(saved, graph)
                return 0.0
            if graph.position[v] == reached:
                break
            if gain > best + LEAST_MOVE:
                best, place = gain, graph.position[v]
        copy_graph(saved, graph)
    if place == start:
        return 0.0
    return carry(table, graph, memo, v, place)


@compiled
def sweep(table: Any, graph: Any, saved: Any, memo: Any, turn: Any, first: int) -> tuple[int, int]:
    """Move the variables ``turn[first:]`` to their best places.

    Returns the place in ``turn`` that was reached, and how many variables moved.
    """
    moved = 0
    for at in range(first, len(turn)):
        gain = insert(table, graph, saved, memo, turn[at])
        if memo.counters[IS_SHORT]:
            return at, moved
        moved += gain > 0.0
    return len(turn), moved


@compiled
def displace(table: Any, graph: Any, saved: Any, memo: Any, moves: Any, first: int) -> int:
    """Move variables to given places, ``moves`` (m, 2); return the number of the move reached."""
    for at in range(first, len(moves)):
        copy_graph(graph, saved)
        carry(table, graph, memo, moves[at, 0], moves[at, 1])
        if memo.counters[IS_SHORT]:
            copy_graph(saved, graph)
            return at
    return len(moves)


@compiled
def choose(table: Any, graph: Any, memo: Any, first: int, end: int) -> int:
    """Choose parents from nothing for the variables at the places first, …, end − 1.

    Returns the place that was reached.
    """
    for place in range(first, end):
        v = graph.order[place]
        for u in range(len(graph.order)):
            if (graph.parents[v, u] != 0) != (table.rules[v, u] == 2):
                flip(table, graph, v, u)
        graph.numbers[SCORE, v] = toggled(table, graph, memo, v, -1)
        improve_parents(table, graph, memo, v)
        if memo.counters[IS_SHORT]:
            return place
    return end
