"""Separation in mixed graphs: which independences a graph implies.

A path between u and v is open given Z if none of its non-colliders is in Z, and each of its
colliders is in Z or has a descendant there. Vertices without an open path are m-separated
(Richardson and Spirtes 2002); in a DAG this is d-separation.
"""

from collections.abc import Collection, Sequence

import numpy as np

from cosmodag.graph.mixed.marks import ARROW, Marks, ancestors

__all__ = ["Separation"]


class Separation:
    """Answers which vertices of a graph of arrows → and ↔ are separated.

    Parameters
    ----------
    marks : (d, d) array
        A DAG or a mixed graph without circles and lines.

    Examples
    --------
    >>> from cosmodag.graph.mixed.marks import marks_of_dag
    >>> collider = Separation(marks_of_dag([[0, 0, 1], [0, 0, 1], [0, 0, 0]]))
    >>> collider.holds(0, 1, []), collider.holds(0, 1, [2])
    (True, False)
    """

    def __init__(self, marks: Marks) -> None:
        self._ancestors = ancestors(marks)
        joined = [np.flatnonzero(row).tolist() for row in marks]
        # Per vertex: neighbours, whether the edge has an arrowhead there, and one at the vertex.
        self._steps: list[list[tuple[int, bool, bool]]] = [
            [(v, bool(marks[u, v] == ARROW), bool(marks[v, u] == ARROW)) for v in near]
            for u, near in enumerate(joined)
        ]

    def holds(self, u: int, v: int, given: Collection[int]) -> bool:
        """Whether u and v are separated by the vertices `given`."""
        return v not in self.connected(u, given)

    def connected(self, start: int, given: Collection[int]) -> set[int]:
        """Vertices outside of `given` to which a path from `start` is open."""
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
