"""Partial ancestral graphs: by definition, and from a DAG learnt without hidden variables.

A DAG that was learnt without hidden variables joins all pairs that need it, and some that are only
joined because hidden causes are missing. The way from there (GFCI: Ogarrio, Spirtes and Ramsey
2016; with an order search, BOSS-FCI: Ramsey, Andrews and Spirtes 2025, arXiv 2510.04263): remove
the edges whose ends some set of neighbours separates, direct colliders, remove the edges whose ends
a set from further away separates, and apply the rules of orientation.
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import Matrix, topological_order
from cosmodag.graph.mixed.marks import (
    ARROW,
    CIRCLE,
    TAIL,
    Marks,
    Separation,
    ancestors,
    marks_of_dag,
)
from cosmodag.graph.mixed.orientation import (
    Separators,
    circles_of,
    directed_by_rules,
    with_colliders,
)


def ancestral_graph(adjacency: Matrix, observed: Sequence[int]) -> Marks:
    """Maximal ancestral graph over the observed vertices of a DAG.

    Two vertices are joined if no set of other observed ones separates them, which is so if their
    observed ancestors do not. The mark at u of the edge u–v is a tail if u is an ancestor of v in
    the DAG, and an arrowhead otherwise (Richardson and Spirtes 2002).

    Rows and columns of the result have the order of `observed`.

    A hidden common cause (vertex 0) of two variables becomes ↔:

    >>> ancestral_graph([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [1, 2]).tolist()
    [[0, 2], [2, 0]]
    """
    marks = marks_of_dag(adjacency)
    above = ancestors(marks)
    separation = Separation(marks)
    seen = np.asarray(observed, np.intp)
    found = np.zeros((len(seen), len(seen)), np.int8)
    for a, b in combinations(range(len(seen)), 2):
        u, v = int(seen[a]), int(seen[b])
        given = set(seen[above[seen, u] | above[seen, v]].tolist()) - {u, v}
        if not separation.holds(u, v, given):
            found[a, b] = TAIL if above[v, u] else ARROW
            found[b, a] = TAIL if above[u, v] else ARROW
    return found


def pag_of_ancestral_graph(graph: Marks) -> Marks:
    """Partial ancestral graph: the marks common to all equivalent maximal ancestral graphs.

    The given graph has the edges → and ↔ only; a DAG is one.

    Nothing is known of the two ends of a single edge; a collider has two arrowheads:

    >>> pag_of_ancestral_graph(marks_of_dag([[0, 1], [0, 0]])).tolist()
    [[0, 1], [1, 0]]
    >>> pag_of_ancestral_graph(marks_of_dag([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    return directed_by_rules(circles_of(graph), separators_in(graph))


def pag_of_dag(adjacency: Matrix) -> Marks:
    """Partial ancestral graph of a DAG over observed variables.

    It has the DAG's edges, and no ↔: hidden causes are possible wherever it has a circle.
    """
    return pag_of_ancestral_graph(marks_of_dag(adjacency))


def separators_in(graph: Marks) -> Separators:
    """Separate two vertices of a maximal ancestral graph by their ancestors."""
    above = [set(np.flatnonzero(column).tolist()) for column in ancestors(graph).T]
    return lambda u, v: (above[u] | above[v]) - {u, v}


FindSeparator: TypeAlias = Callable[[int, int, Sequence[tuple[int, ...]]], "tuple[int, ...] | None"]
"""From sets of one size, returns one that separates two variables; None if none does."""


def pag_from_dag(
    adjacency: Matrix,
    find_separator: FindSeparator,
    *,
    largest: int | None = None,
    given: Marks | None = None,
    fixed: NDArray[np.bool_] | None = None,
) -> Marks:
    """Partial ancestral graph from a learnt DAG and tests of independence.

    With true answers to the tests, and a DAG from which no arc can be removed without implying an
    independence that does not hold, the result is the partial ancestral graph by definition.

    Two variables that the DAG does not join are taken to be independent given the parents of the
    later one. Separating sets of up to `largest` variables are tried (default: all sizes). `given`
    marks, (d, d), are kept for pairs that turn out to be joined; `fixed` edges are not tested.
    """
    skeleton = _Skeleton(adjacency, find_separator, largest)
    tested = [edge for edge in skeleton.in_triangles() if fixed is None or not fixed[edge]]
    skeleton.thin(tested, lambda: [set(np.flatnonzero(row).tolist()) for row in skeleton.joined])
    marks = with_colliders(skeleton.marks(given), skeleton.separator)
    further = [possibly_separating(marks, v) for v in range(len(marks))]
    skeleton.thin(tested, lambda: further)
    return directed_by_rules(skeleton.marks(given), skeleton.separator)


def possibly_separating(marks: Marks, start: int) -> set[int]:
    """Vertices at the end of paths on which each inner vertex is a collider, or in a triangle.

    If a set separates two vertices that are not joined in the ancestral graph, then one among
    these of the first or the second does (Possible-D-Sep; Spirtes, Glymour and Scheines 2000).
    """
    joined = [np.flatnonzero(row).tolist() for row in marks]
    waiting = deque((start, v) for v in joined[start])
    seen = set(waiting)
    while waiting:
        before, at = waiting.popleft()
        for v in joined[at]:
            if v in (start, before) or (at, v) in seen:
                continue
            is_collider = marks[before, at] == ARROW and marks[v, at] == ARROW
            if is_collider or marks[before, v]:
                seen.add((at, v))
                waiting.append((at, v))
    return {v for _, v in seen}


class _Skeleton:
    """Edges that remain, and the sets that separate the pairs that are not joined."""

    def __init__(
        self, adjacency: Matrix, find_separator: FindSeparator, largest: int | None
    ) -> None:
        marks = marks_of_dag(adjacency)
        self.joined: NDArray[np.bool_] = marks != 0
        self.place = np.argsort(topological_order(adjacency))
        self.parents = [frozenset(np.flatnonzero(column == ARROW).tolist()) for column in marks.T]
        self.find_separator, self.largest = find_separator, largest
        self.removed: dict[tuple[int, int], frozenset[int]] = {}

    def separator(self, u: int, v: int) -> frozenset[int]:
        """Set that separates a pair: the one found, or the parents of the later variable."""
        key = (min(u, v), max(u, v))
        if key in self.removed:
            return self.removed[key]
        return self.parents[u if self.place[u] > self.place[v] else v]

    def marks(self, given: Marks | None) -> Marks:
        """Put the given marks on the skeleton, and circles elsewhere."""
        known = np.zeros(self.joined.shape, np.int8) if given is None else given
        return np.where(self.joined, np.where(known, known, CIRCLE), 0).astype(np.int8)

    def in_triangles(self) -> list[tuple[int, int]]:
        """Edges whose ends have a common neighbour. Only these can be due to hidden causes."""
        steps = self.joined.astype(np.float32)
        inside = self.joined & (steps @ steps > 0)
        return [(int(u), int(v)) for u, v in np.argwhere(np.triu(inside))]

    def thin(self, tested: list[tuple[int, int]], candidates: Callable[[], list[set[int]]]) -> None:
        """Remove edges whose ends are separated by candidates of one of them, small sets first.

        Edges that sets of one size separate are removed together, so that the result does not
        depend on the order of the variables.
        """
        size = 0
        while self.largest is None or size <= self.largest:
            near = candidates()
            left = [(u, v) for u, v in tested if self.joined[u, v]]
            sides = {(u, v): [near[u] - {v}, near[v] - {u}] for u, v in left}
            if all(len(side) < size for both in sides.values() for side in both):
                return
            found = {}
            for edge, both in sides.items():
                sets = dict.fromkeys(c for side in both for c in combinations(sorted(side), size))
                found[edge] = self.find_separator(*edge, list(sets)) if sets else None
            for (u, v), separator in found.items():
                if separator is not None:
                    self.removed[u, v] = frozenset(separator)
                    self.joined[u, v] = self.joined[v, u] = False
            size += 1
