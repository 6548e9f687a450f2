"""Orientation of a skeleton: colliders from separating sets, then the rules of FCI.

The rules are those of Zhang (2008), *On the completeness of orientation rules for causal discovery
in the presence of latent confounders and selection bias*. From the true independences they
determine every mark that all equivalent ancestral graphs have in common, and no other. Rules 5 to 7
are omitted: they concern selection bias, which is assumed to be absent.
"""

from collections import deque
from collections.abc import Callable, Collection
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Marks

Separators: TypeAlias = Callable[[int, int], Collection[int]]
"""A function that returns a separating set of two vertices that are not joined."""


def circles_of(graph: Marks) -> Marks:
    """Replace all marks by circles: ∘–∘ for every edge."""
    return np.where(graph != 0, CIRCLE, 0).astype(np.int8)


def directed_by_rules(
    marks: Marks, separators: Separators, doubtful: NDArray[np.bool_] | None = None
) -> Marks:
    """Orient a skeleton: colliders first, then by the rules until none applies.

    Marks of the skeleton other than circles are kept. The pairs marked as `doubtful` are not joined
    in the skeleton, but might have an edge: nothing is concluded from the absence of that edge.
    """
    graph = _PartialGraph(with_colliders(marks, separators, doubtful), doubtful)
    first: list[Rule] = [_rule_1, _rule_2, _rule_3, _rule_4(separators)]
    last: list[Rule] = [_rule_8, _rule_9, _rule_10]
    # Both groups are applied again after any change: given marks may make earlier rules applicable.
    while any([_apply(rules, graph) for rules in (first, last)]):  # noqa: C419  (all, in this order)
        pass
    return np.asarray(graph.mark, np.int8).reshape(marks.shape)


def _apply(rules: "list[Rule]", graph: "_PartialGraph") -> bool:
    """Apply rules until none changes the graph; return whether any did."""
    changed = False
    while any([rule(graph) for rule in rules]):  # noqa: C419  (every rule in every round)
        changed = True
    return changed


def with_colliders(
    marks: Marks, separators: Separators, doubtful: NDArray[np.bool_] | None = None
) -> Marks:
    """Orient u *→ b ←* v wherever u, v are not joined and their separating set lacks b."""
    graph = _PartialGraph(marks, doubtful)
    found = marks.copy()
    for b, neighbours in enumerate(graph.joined):
        open_ends = {u for u in neighbours if graph.mark[u][b] == CIRCLE}
        for u, v in combinations(sorted(neighbours), 2):
            is_open = u in open_ends or v in open_ends
            if is_open and v not in graph.maybe_joined[u] and b not in separators(u, v):
                found[list(open_ends & {u, v}), b] = ARROW
                open_ends -= {u, v}
    return found


class _PartialGraph:
    """A partial ancestral graph while it is being oriented.

    ``mark[u][v]`` is the mark at v of the edge u–v, ``joined[u]`` are the neighbours of u, and
    ``maybe_joined[u]`` are the neighbours and the vertices with a doubtful edge to u.
    """

    def __init__(self, marks: Marks, doubtful: NDArray[np.bool_] | None = None) -> None:
        self.mark: list[list[int]] = marks.tolist()
        self.joined = [{v for v, mark in enumerate(row) if mark} for row in self.mark]
        self.maybe_joined = self.joined
        if doubtful is not None:
            rows = (marks != 0) | doubtful
            self.maybe_joined = [set(np.flatnonzero(row).tolist()) for row in rows]

    def is_arrow(self, u: int, v: int) -> bool:
        """Whether u → v."""
        return self.mark[u][v] == ARROW and self.mark[v][u] == TAIL

    def may_be_arrow(self, u: int, v: int) -> bool:
        """Whether the edge u–v may be u → v: no arrowhead at u, and no tail at v."""
        return self.mark[v][u] != ARROW and self.mark[u][v] != TAIL

    def reachable(self, start: int, first: int, avoided: int, ends: set[int]) -> set[int]:
        """Find the `ends` of uncovered, possibly directed paths that begin with start–first.

        A path is uncovered if the outer two of any three consecutive vertices are not joined.
        """
        if not self.may_be_arrow(start, first) or first == avoided:
            return set()
        waiting, seen = deque([(start, first)]), {(start, first)}
        found = set()
        while waiting:
            before, at = waiting.popleft()
            if at in ends:
                found.add(at)
            for following in self.joined[at] - self.maybe_joined[before] - {before, avoided, start}:
                step = (at, following)
                if step not in seen and self.may_be_arrow(at, following):
                    seen.add(step)
                    waiting.append(step)
        return found

    def discriminating_path(self, b: int, c: int) -> tuple[int, int] | None:
        """Find a shortest discriminating path d, …, a, b, c for b, and return d and a.

        d and c are not joined, and every vertex between d and b is a collider on the path and a
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
                if before not in self.maybe_joined[c]:
                    return before, came_from[at]
                if self.mark[at][before] == ARROW and self.is_arrow(before, c):
                    came_from[before] = came_from[at]
                    waiting.append(before)
        return None


Rule = Callable[[_PartialGraph], bool]
"""Orients edges of a graph in place, and returns whether it changed any."""


def _replace_circle(graph: _PartialGraph, u: int, v: int, mark: int) -> bool:
    """Replace a circle at v of the edge u–v by a mark; return whether there was a circle."""
    if graph.mark[u][v] != CIRCLE:
        return False
    graph.mark[u][v] = mark
    return True


def _edges_with(graph: _PartialGraph, mark: int) -> list[tuple[int, int]]:
    """List the pairs (u, v) whose edge has the mark at v."""
    pairs = ((u, v) for u, neighbours in enumerate(graph.joined) for v in neighbours)
    return [(u, v) for u, v in pairs if graph.mark[u][v] == mark]


def _rule_1(graph: _PartialGraph) -> bool:
    """Orient b → c if a *→ b ∘–* c, and a, c are not joined."""
    changed = False
    for c, b in _edges_with(graph, CIRCLE):
        if any(graph.mark[a][b] == ARROW for a in graph.joined[b] - graph.maybe_joined[c] - {c}):
            changed |= _replace_circle(graph, c, b, TAIL) | _replace_circle(graph, b, c, ARROW)
    return changed


def _rule_2(graph: _PartialGraph) -> bool:
    """Orient a *→ c if a *–∘ c, and a → b *→ c or a *→ b → c."""
    changed = False
    for a, c in _edges_with(graph, CIRCLE):
        for b in graph.joined[a] & graph.joined[c]:
            is_into = graph.mark[a][b] == ARROW and graph.mark[b][c] == ARROW
            if is_into and (graph.is_arrow(a, b) or graph.is_arrow(b, c)):
                changed |= _replace_circle(graph, a, c, ARROW)
    return changed


def _rule_3(graph: _PartialGraph) -> bool:
    """Orient d *→ b if d *–∘ b, a *→ b ←* c, a *–∘ d ∘–* c, and a, c are not joined."""
    changed = False
    for d, b in _edges_with(graph, CIRCLE):
        both = graph.joined[b] & graph.joined[d]
        sides = [x for x in both if graph.mark[x][b] == ARROW and graph.mark[x][d] == CIRCLE]
        if any(c not in graph.maybe_joined[a] for a, c in combinations(sides, 2)):
            changed |= _replace_circle(graph, d, b, ARROW)
    return changed


def _rule_4(separators: Separators) -> Rule:
    """Make the rule for b ∘–* c with a discriminating path d, …, a, b, c for b.

    It orients b → c if b is in the separating set of d and c, and a ↔ b ↔ c otherwise.
    """

    def rule_4(graph: _PartialGraph) -> bool:
        changed = False
        for c, b in _edges_with(graph, CIRCLE):
            found = graph.discriminating_path(b, c)
            if found is None or graph.mark[c][b] != CIRCLE:
                continue
            d, a = found
            if b in separators(d, c):
                changed |= _replace_circle(graph, c, b, TAIL) | _replace_circle(graph, b, c, ARROW)
            else:
                for u, v in ((a, b), (c, b), (b, c)):
                    changed |= _replace_circle(graph, u, v, ARROW)
        return changed

    return rule_4


def _half_directed(graph: _PartialGraph) -> list[tuple[int, int]]:
    """List the edges a ∘→ c."""
    return [(a, c) for a, c in _edges_with(graph, ARROW) if graph.mark[c][a] == CIRCLE]


def _rule_8(graph: _PartialGraph) -> bool:
    """Orient a → c if a ∘→ c, and a → b → c or a —∘ b → c."""
    changed = False
    for a, c in _half_directed(graph):
        for b in graph.joined[a] & graph.joined[c]:
            is_out = graph.mark[b][a] == TAIL and graph.mark[a][b] in (ARROW, CIRCLE)
            if is_out and graph.is_arrow(b, c):
                changed |= _replace_circle(graph, c, a, TAIL)
    return changed


def _rule_9(graph: _PartialGraph) -> bool:
    """Orient a → c if a ∘→ c, and an uncovered path a, b, …, c may be directed (no edge b–c)."""
    changed = False
    for a, c in _half_directed(graph):
        for b in graph.joined[a] - graph.maybe_joined[c] - {c}:
            if graph.reachable(a, b, -1, {c}):
                changed |= _replace_circle(graph, c, a, TAIL)
                break
    return changed


def _rule_10(graph: _PartialGraph) -> bool:
    """Orient a → c if a ∘→ c, and two uncovered paths from a to parents of c may be directed.

    The second vertices of the two paths must be distinct and not joined.
    """
    changed = False
    for a, c in _half_directed(graph):
        parents = {b for b in graph.joined[c] if b != a and graph.is_arrow(b, c)}
        if not parents:
            continue
        firsts = [u for u in graph.joined[a] if graph.reachable(a, u, c, parents)]
        if any(w not in graph.maybe_joined[u] for u, w in combinations(firsts, 2)):
            changed |= _replace_circle(graph, c, a, TAIL)
    return changed
