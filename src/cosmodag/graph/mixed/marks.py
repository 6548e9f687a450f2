"""Mixed graphs as matrices of marks, and m-separation in them.

``marks[u, v]`` is the mark at v of the edge between u and v, so an edge has two entries:

====================  =================  =================
edge                  ``marks[u, v]``    ``marks[v, u]``
====================  =================  =================
u → v                 ARROW              TAIL
u ↔ v                 ARROW              ARROW
u ∘→ v                ARROW              CIRCLE
u ∘–∘ v               CIRCLE             CIRCLE
u — v                 TAIL               TAIL
not joined            NONE               NONE
====================  =================  =================

A path between u and v is open given Z if none of its non-colliders is in Z, and each of its
colliders is in Z or has a descendant in Z. Two vertices without an open path between them are
m-separated (Richardson and Spirtes 2002); in a DAG this is d-separation.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import Matrix

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3

Marks: TypeAlias = NDArray[np.int8]
"""A (d, d) matrix of marks."""


def marks_of_dag(adjacency: Matrix) -> Marks:
    """Convert a directed graph to a matrix of marks.

    >>> marks_of_dag([[0, 1], [0, 0]]).tolist()
    [[0, 2], [3, 0]]
    """
    dense = adjacency.toarray() if sparse.issparse(adjacency) else np.asarray(adjacency)
    arcs = dense != 0
    marks = np.zeros(arcs.shape, np.int8)
    marks[arcs] = ARROW
    marks[arcs.T] = TAIL
    return marks


def ancestors(marks: Marks) -> NDArray[np.bool_]:
    """Mark the entries [u, v] where u is v, or an ancestor of v.

    >>> ancestors(marks_of_dag([[0, 1, 0], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    reached: NDArray[np.bool_] = (marks == ARROW) & (marks.T == TAIL)
    np.fill_diagonal(reached, True)
    for through in np.flatnonzero(reached.any(axis=1)):
        reached |= np.outer(reached[:, through], reached[through])
    return reached


def check_marks(marks: Marks) -> Marks:
    """Convert a matrix of marks to int8; any other matrix raises a `DataError`."""
    found = np.asarray(marks)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise DataError(f"A matrix of marks must be square, but this one has shape {found.shape}.")
    if not np.isin(found, (NONE, CIRCLE, ARROW, TAIL)).all() or np.diagonal(found).any():
        raise DataError("A matrix of marks must have entries 0 to 3, and 0 on its diagonal.")
    if not np.array_equal(found == NONE, found.T == NONE):
        raise DataError("A matrix of marks must have a mark at both ends of every edge.")
    return found.astype(np.int8)


class Separation:
    """Tests of m-separation in a graph whose edges are → and ↔.

    >>> collider = Separation(marks_of_dag([[0, 0, 1], [0, 0, 1], [0, 0, 0]]))
    >>> collider.holds(0, 1, []), collider.holds(0, 1, [2])
    (True, False)
    """

    def __init__(self, marks: Marks) -> None:
        self._ancestors = ancestors(marks)
        joined = [np.flatnonzero(row).tolist() for row in marks]
        # For each vertex u: (v, whether u–v has an arrowhead at v, whether it has one at u).
        self._steps: list[list[tuple[int, bool, bool]]] = [
            [(v, bool(marks[u, v] == ARROW), bool(marks[v, u] == ARROW)) for v in near]
            for u, near in enumerate(joined)
        ]

    def holds(self, u: int, v: int, given: Collection[int]) -> bool:
        """Whether u and v are separated by the vertices `given`."""
        return v not in self.connected(u, given)

    def connected(self, start: int, given: Collection[int]) -> set[int]:
        """Return the vertices outside of `given` to which a path from `start` is open."""
        conditioned = set(given)
        opens: Sequence[bool] = np.any(self._ancestors[:, sorted(conditioned)], axis=1).tolist()
        # A state is a vertex, and whether the last edge had an arrowhead at it.
        waiting = [(v, into_v) for v, into_v, _ in self._steps[start]]
        seen = set(waiting)
        while waiting:
            at, by_arrow = waiting.pop()
            for v, into_v, into_at in self._steps[at]:
                is_open = opens[at] if by_arrow and into_at else at not in conditioned
                state = (v, into_v)
                if is_open and state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return {v for v, _ in seen} - conditioned - {start}
