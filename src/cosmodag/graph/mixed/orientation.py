"""Orientation of a skeleton: colliders from separating sets, then the rules of FCI.

The rules are those of Zhang (2008), *On the completeness of orientation rules for causal discovery
in the presence of latent confounders and selection bias*. From the true independences they direct
every mark that all equivalent ancestral graphs have in common, and no other. Rules 5 to 7 are about
rows that were selected by their values, which is excluded throughout, and are left out.
"""

from collections import deque
from collections.abc import Callable, Collection
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Marks

Separators: TypeAlias = Callable[[int, int], Collection[int]]
"""Returns a set that separates two vertices that are not joined."""


def circles_of(graph: Marks) -> Marks:
    """Replace all marks by circles: ∘–∘ for every edge."""
    return np.where(graph != 0, CIRCLE, 0).astype(np.int8)


def directed_by_rules(
    marks: Marks, separators: Separators, doubtful: NDArray[np.bool_] | None = None
) -> Marks:
    """Direct a skeleton: colliders first, then rules until none applies.

    The skeleton has circles where nothing is known; other marks stay. Nothing is concluded from the
    absence of `doubtful` edges, pairs that are not joined, but may have to be.
    """
    graph = _PartialGraph(with_colliders(marks, separators, doubtful), doubtful)
    first: list[Rule] = [_rule_1, _rule_2, _rule_3, _discriminate(separators)]
    last: list[Rule] = [_rule_8, _rule_9, _rule_10]
    # Once more where a group changed something: marks that were given may let earlier rules apply.
    while any([_exhaust(rules, graph) for rules in (first, last)]):  # noqa: C419  (all, in this order)
        pass
    return np.asarray(graph.mark, np.int8).reshape(marks.shape)


def _exhaust(rules: "list[Rule]", graph: "_PartialGraph") -> bool:
    """Apply rules until none changes the graph; return whether any did."""
    changed = False
    while any([rule(graph) for rule in rules]):  # noqa: C419  (every rule in every round)
        changed = True
    return changed


def with_colliders(
    marks: Marks, separators: Separators, doubtful: NDArray[np.bool_] | None = None
) -> Marks:
    """Direct u *→ b ←* v wherever u, v are not joined and b does not separate them."""
    graph = _PartialGraph(marks, doubtful)
    found = marks.copy()
    for b, around in enumerate(graph.joined):
        open_ends = {u for u in around if graph.mark[u][b] == CIRCLE}
        for u, v in combinations(sorted(around), 2):
            is_open = u in open_ends or v in open_ends
            if is_open and v not in graph.near[u] and b not in separators(u, v):
                found[list(open_ends & {u, v}), b] = ARROW
                open_ends -= {u, v}
    return found


class _PartialGraph:
    """A partial ancestral graph while it is being directed.

    ``mark[u][v]`` is the mark at v of the edge u–v, ``joined[u]`` are the neighbours of u, and
    ``near[u]`` are these and all vertices of which it is doubtful whether they are neighbours.
    """

    def __init__(self, marks: Marks, doubtful: NDArray[np.bool_] | None = None) -> None:
        self.mark: list[list[int]] = marks.tolist()
        self.joined = [{v for v, mark in enumerate(row) if mark} for row in self.mark]
        self.near = self.joined
        if doubtful is not None:
            self.near = [set(np.flatnonzero(row).tolist()) for row in (marks != 0) | doubtful]

    def is_arrow(self, u: int, v: int) -> bool:
        """Whether u → v."""
        return self.mark[u][v] == ARROW and self.mark[v][u] == TAIL

    def may_lead(self, u: int, v: int) -> bool:
        """Whether the edge u–v may be u → v: neither into u nor out of v."""
        return self.mark[v][u] != ARROW and self.mark[u][v] != TAIL

    def leading_ends(self, start: int, first: int, avoided: int, ends: set[int]) -> set[int]:
        """Find `ends` of uncovered, possibly directed paths that begin with start–first.

        A path is uncovered if of any three consecutive vertices the outer two are not joined.
        """
        if not self.may_lead(start, first) or first == avoided:
            return set()
        waiting, seen = deque([(start, first)]), {(start, first)}
        found = set()
        while waiting:
            before, at = waiting.popleft()
            if at in ends:
                found.add(at)
            for following in self.joined[at] - self.near[before] - {before, avoided, start}:
                step = (at, following)
                if step not in seen and self.may_lead(at, following):
                    seen.add(step)
                    waiting.append(step)
        return found

    def discriminating_path(self, b: int, c: int) -> tuple[int, int] | None:
        """Find a shortest path d, …, a, b, c that discriminates for b, and return d and a.

        d is not joined to c; every vertex from the second up to a is a collider on the path and a
        parent of c.
        """
        waiting: deque[int] = deque()
        came_from: dict[int, int] = {}
        for a in self.joined[b] & self.joined[c]:
            if self.mark[b][a] == ARROW and self.is_arrow(a, c):
                waiting.append(a)
                came_from[a] = a
        while waiting:
            at = waiting.popleft()
            for before in self.joined[at] - {b, c}:
                if self.mark[before][at] != ARROW or before in came_from:
                    continue
                if before not in self.near[c]:
                    return before, came_from[at]
                if self.mark[at][before] == ARROW and self.is_arrow(before, c):
                    came_from[before] = came_from[at]
                    waiting.append(before)
        return None


Rule = Callable[[_PartialGraph], bool]


def _direct(graph: _PartialGraph, u: int, v: int, mark: int) -> bool:
    """Put a mark at v of the edge u–v if there is a circle; return whether there was one."""
    if graph.mark[u][v] != CIRCLE:
        return False
    graph.mark[u][v] = mark
    return True


def _ends(graph: _PartialGraph, mark: int) -> list[tuple[int, int]]:
    """Edges u–v, in this order, with a mark at v."""
    return [(u, v) for u, near in enumerate(graph.joined) for v in near if graph.mark[u][v] == mark]


def _rule_1(graph: _PartialGraph) -> bool:
    """Apply rule 1. a *→ b ∘–* c, and a, c are not joined: b → c."""
    changed = False
    for c, b in _ends(graph, CIRCLE):
        if any(graph.mark[a][b] == ARROW for a in graph.joined[b] - graph.near[c] - {c}):
            changed |= _direct(graph, c, b, TAIL) | _direct(graph, b, c, ARROW)
    return changed


def _rule_2(graph: _PartialGraph) -> bool:
    """Apply rule 2. a → b *→ c or a *→ b → c, and a *–∘ c: a *→ c."""
    changed = False
    for a, c in _ends(graph, CIRCLE):
        for b in graph.joined[a] & graph.joined[c]:
            is_into = graph.mark[a][b] == ARROW and graph.mark[b][c] == ARROW
            if is_into and (graph.is_arrow(a, b) or graph.is_arrow(b, c)):
                changed |= _direct(graph, a, c, ARROW)
    return changed


def _rule_3(graph: _PartialGraph) -> bool:
    """Apply rule 3. a *→ b ←* c, a *–∘ d ∘–* c, d *–∘ b; a, c are not joined: d *→ b."""
    changed = False
    for d, b in _ends(graph, CIRCLE):
        near = graph.joined[b] & graph.joined[d]
        sides = [x for x in near if graph.mark[x][b] == ARROW and graph.mark[x][d] == CIRCLE]
        if any(c not in graph.near[a] for a, c in combinations(sides, 2)):
            changed |= _direct(graph, d, b, ARROW)
    return changed


def _discriminate(separators: Separators) -> Rule:
    """Make rule 4 for some separating sets."""

    def rule_4(graph: _PartialGraph) -> bool:
        """d, …, a, b, c discriminates for b, b ∘–* c: b → c if b separates d, c, else a ↔ b ↔ c."""
        changed = False
        for c, b in _ends(graph, CIRCLE):
            found = graph.discriminating_path(b, c)
            if found is None or graph.mark[c][b] != CIRCLE:
                continue
            d, a = found
            if b in separators(d, c):
                changed |= _direct(graph, c, b, TAIL) | _direct(graph, b, c, ARROW)
            else:
                for u, v in ((a, b), (c, b), (b, c)):
                    changed |= _direct(graph, u, v, ARROW)
        return changed

    return rule_4


def _half_directed(graph: _PartialGraph) -> list[tuple[int, int]]:
    """Edges a ∘→ c."""
    return [(a, c) for a, c in _ends(graph, ARROW) if graph.mark[c][a] == CIRCLE]


def _rule_8(graph: _PartialGraph) -> bool:
    """Apply rule 8. a → b → c or a —∘ b → c, and a ∘→ c: a → c."""
    changed = False
    for a, c in _half_directed(graph):
        for b in graph.joined[a] & graph.joined[c]:
            is_out = graph.mark[b][a] == TAIL and graph.mark[a][b] in (ARROW, CIRCLE)
            if is_out and graph.is_arrow(b, c):
                changed |= _direct(graph, c, a, TAIL)
    return changed


def _rule_9(graph: _PartialGraph) -> bool:
    """Apply rule 9. a ∘→ c, an uncovered path a, b, …, c may lead there, b, c not joined: a → c."""
    changed = False
    for a, c in _half_directed(graph):
        for b in graph.joined[a] - graph.near[c] - {c}:
            if graph.leading_ends(a, b, -1, {c}):
                changed |= _direct(graph, c, a, TAIL)
                break
    return changed


def _rule_10(graph: _PartialGraph) -> bool:
    """Apply rule 10. a ∘→ c, and uncovered paths may lead from a to two parents of c: a → c.

    The paths begin with different vertices that are not joined.
    """
    changed = False
    for a, c in _half_directed(graph):
        parents = {b for b in graph.joined[c] if b != a and graph.is_arrow(b, c)}
        if not parents:
            continue
        firsts = [u for u in graph.joined[a] if graph.leading_ends(a, u, c, parents)]
        if any(w not in graph.near[u] for u, w in combinations(firsts, 2)):
            changed |= _direct(graph, c, a, TAIL)
    return changed
