"""Matrices of marks: what stands at each end of each edge of a mixed graph.

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
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import Matrix

__all__ = ["ARROW", "CIRCLE", "NONE", "TAIL", "Marks", "ancestors", "check_marks", "marks_of_dag"]

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3

Marks: TypeAlias = NDArray[np.int8]
"""A (d, d) matrix of marks."""


def marks_of_dag(adjacency: Matrix) -> Marks:
    """Write a directed graph as a matrix of marks.

    Examples
    --------
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
    """Mark at [u, v] that u → … → v, or that u is v.

    Examples
    --------
    >>> ancestors(marks_of_dag([[0, 1, 0], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    reached: NDArray[np.bool_] = (marks == ARROW) & (marks.T == TAIL)
    np.fill_diagonal(reached, True)
    for through in np.flatnonzero(reached.any(axis=1)):
        reached |= np.outer(reached[:, through], reached[through])
    return reached


def check_marks(marks: Marks) -> Marks:
    """Return a matrix of marks as int8; refuse any other matrix.

    Raises
    ------
    DataError
    """
    found = np.asarray(marks)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise DataError(f"A matrix of marks is square, but this one has shape {found.shape}.")
    if not np.isin(found, (NONE, CIRCLE, ARROW, TAIL)).all() or np.diagonal(found).any():
        raise DataError("A matrix of marks has the entries 0 to 3, and 0 on its diagonal.")
    if not np.array_equal(found == NONE, found.T == NONE):
        raise DataError("A matrix of marks has a mark at both ends of every edge.")
    return found.astype(np.int8)
