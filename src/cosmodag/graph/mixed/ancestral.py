"""Partial ancestral graphs: by definition, and from a DAG learnt without hidden variables.

A DAG that was learnt without hidden variables has all edges of the partial ancestral graph, and
also edges that it needs only because the hidden causes are missing. The algorithm that starts from
it (GFCI: Ogarrio, Spirtes and Ramsey 2016; with an order search, BOSS-FCI: Ramsey, Andrews and
Spirtes 2025, arXiv 2510.04263) removes the edges whose ends are separated by a set of neighbours,
orients colliders, removes the edges whose ends are separated by a set from farther away, and
applies the orientation rules.
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
from cosmodag.graph.mixed.pag_orientation import (
    Separators,
    circles_of,
    directed_by_rules,
    with_colliders,
)


def ancestral_graph(adjacency: Matrix, observed: Sequence[int]) -> Marks:
    """Maximal ancestral graph over the observed vertices of a DAG.

    Two vertices are joined if no set of other observed vertices separates them, that is, if the set
    of their observed ancestors does not. The mark at u of the edge u–v is a tail if u is an
    ancestor of v in the DAG, and an arrowhead otherwise (Richardson and Spirtes 2002). Rows and
    columns of the result are in the order of `observed`.

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

    The edges of the given graph must be → or ↔, as those of a DAG are.

    Both ends of a single edge are undetermined; a collider has two arrowheads:

    >>> pag_of_ancestral_graph(marks_of_dag([[0, 1], [0, 0]])).tolist()
    [[0, 1], [1, 0]]
    >>> pag_of_ancestral_graph(marks_of_dag([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).tolist()
    [[0, 0, 2], [0, 0, 2], [1, 1, 0]]
    """
    return directed_by_rules(circles_of(graph), separators_in(graph))


def pag_of_dag(adjacency: Matrix) -> Marks:
    """Partial ancestral graph of a DAG whose variables are all observed.

    It has the DAG's edges, and no ↔. Hidden common causes are possible wherever it has a circle.
    """
    return pag_of_ancestral_graph(marks_of_dag(adjacency))


def separators_in(graph: Marks) -> Separators:
    """Return a function that separates two vertices by their ancestors in an ancestral graph."""
    above = [set(np.flatnonzero(column).tolist()) for column in ancestors(graph).T]
    return lambda u, v: (above[u] | above[v]) - {u, v}


FindSeparator: TypeAlias = Callable[[int, int, Sequence[tuple[int, ...]]], "tuple[int, ...] | None"]
"""Returns one of several sets of equal size that separates two variables; None if none does."""


def pag_from_dag(
    adjacency: Matrix,
    find_separator: FindSeparator,
    *,
    largest: int | None = None,
    given: Marks | None = None,
    fixed: NDArray[np.bool_] | None = None,
) -> Marks:
    """Partial ancestral graph from a learnt DAG and tests of independence.

    If all tests give true answers, and no arc of the DAG can be removed without implying an
    independence that does not hold, the result is the partial ancestral graph by definition.

    Two variables that the DAG does not join are assumed to be independent given the parents of the
    later one. Separating sets of at most `largest` variables are tried (default: all sizes). The
    `given` marks, (d, d), are kept for pairs that remain joined; `fixed` edges are not tested.
    """
    skeleton = _Skeleton(adjacency, find_separator, largest)
    edges = [edge for edge in skeleton.in_triangles() if fixed is None or not fixed[edge]]
    skeleton.remove_separated(edges, skeleton.neighbours)
    marks = with_colliders(skeleton.marks(given), skeleton.separator)
    farther = [possibly_separating(marks, v) for v in range(len(marks))]
    skeleton.remove_separated(edges, lambda: farther)
    return directed_by_rules(skeleton.marks(given), skeleton.separator)


def possibly_separating(marks: Marks, start: int) -> set[int]:
    """Possible-D-Sep set of a vertex (Spirtes, Glymour and Scheines 2000).

    It contains the ends of all paths from the vertex on which each inner vertex is a collider, or
    forms a triangle with its two neighbours on the path. If two vertices are not joined in the
    ancestral graph, a subset of the Possible-D-Sep set of one of them separates them.
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
    """The remaining edges, and separating sets of the pairs that are not joined."""

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
        """Return the separating set that was found, or else the parents of the later variable."""
        key = (min(u, v), max(u, v))
        if key in self.removed:
            return self.removed[key]
        return self.parents[u if self.place[u] > self.place[v] else v]

    def marks(self, given: Marks | None) -> Marks:
        """Mark the ends of the edges: with the given marks, and with circles elsewhere."""
        known = np.zeros(self.joined.shape, np.int8) if given is None else given
        return np.where(self.joined, np.where(known, known, CIRCLE), 0).astype(np.int8)

    def neighbours(self) -> list[set[int]]:
        """List the neighbours of each vertex."""
        return [set(np.flatnonzero(row).tolist()) for row in self.joined]

    def in_triangles(self) -> list[tuple[int, int]]:
        """List edges whose ends have a common neighbour; only these can be due to hidden causes."""
        steps = self.joined.astype(np.float32)
        inside = self.joined & (steps @ steps > 0)
        return [(int(u), int(v)) for u, v in np.argwhere(np.triu(inside))]

    def remove_separated(
        self, edges: list[tuple[int, int]], candidates: Callable[[], list[set[int]]]
    ) -> None:
        """Remove edges whose ends are separated by some candidates of one end, small sets first.

        All edges whose ends are separated by sets of one size are removed together, so the result
        does not depend on the order of the variables.
        """
        size = 0
        while self.largest is None or size <= self.largest:
            near = candidates()
            remaining = [(u, v) for u, v in edges if self.joined[u, v]]
            sides = {(u, v): [near[u] - {v}, near[v] - {u}] for u, v in remaining}
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
