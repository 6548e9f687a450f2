"""An ancestral graph during a search: parents and spouses of every vertex."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, TAIL, Marks
from cosmodag.graph.mixed.separation import Separation

__all__ = ["AncestralGraph"]

Vertices = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class AncestralGraph:
    """Directed edges and ↔ edges; no vertex is an ancestor of its spouses.

    Attributes
    ----------
    parents, spouses : tuples of sets
        Per vertex v: all u with u → v, and all u with u ↔ v.
    """

    parents: Vertices
    spouses: Vertices

    @classmethod
    def of_dag(cls, arcs: NDArray[np.bool_]) -> "AncestralGraph":
        """Take a DAG, without spouses."""
        parents = tuple(frozenset(np.flatnonzero(column).tolist()) for column in arcs.T)
        return cls(parents, tuple(frozenset[int]() for _ in parents))

    def without(self, u: int, v: int) -> "AncestralGraph":
        """Remove the edge between u and v."""
        parents, spouses = list(self.parents), list(self.spouses)
        for one, other in ((u, v), (v, u)):
            parents[one] -= {other}
            spouses[one] -= {other}
        return AncestralGraph(tuple(parents), tuple(spouses))

    def with_spouses(self, u: int, v: int) -> "AncestralGraph | None":
        """Replace the edge between u and v by u ↔ v; None if that is not ancestral."""
        after = self.without(u, v)
        if u in after.ancestors([v]) or v in after.ancestors([u]):
            return None
        spouses = list(after.spouses)
        spouses[u] |= {v}
        spouses[v] |= {u}
        return AncestralGraph(after.parents, tuple(spouses))

    def are_joined(self, u: int, v: int) -> bool:
        """Whether there is an edge between u and v."""
        return u in self.spouses[v] or u in self.parents[v] or v in self.parents[u]

    def neighbours(self) -> list[set[int]]:
        """Vertices joined to each vertex."""
        near = [set(up | both) for up, both in zip(self.parents, self.spouses, strict=True)]
        for v, up in enumerate(self.parents):
            for u in up:
                near[u].add(v)
        return near

    def ancestors(self, vertices: Iterable[int]) -> set[int]:
        """Vertices from which directed paths lead to some of these; these themselves included."""
        found = set(vertices)
        waiting = list(found)
        while waiting:
            new = self.parents[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def district(self, v: int) -> frozenset[int]:
        """Vertices that ↔ edges connect to v; v itself included."""
        found, waiting = {v}, [v]
        while waiting:
            new = self.spouses[waiting.pop()] - found
            found |= new
            waiting += new
        return frozenset(found)

    def is_maximal(self) -> bool:
        """Whether every pair that is not joined is separated by its ancestors.

        Otherwise there is a path on which every inner vertex is a collider and an ancestor of an
        end; it has two or more of these, so the ends point at vertices with spouses.
        """
        near = self.neighbours()
        linked = {v for v, both in enumerate(self.spouses) if both}
        ends = sorted({u for v in linked for u in self.parents[v] | self.spouses[v]})
        if not ends:
            return True
        separation = Separation(self.marks())
        return all(
            separation.holds(u, v, self.ancestors([u, v]) - {u, v})
            for place, u in enumerate(ends)
            for v in ends[place + 1 :]
            if v not in near[u]
        )

    def marks(self) -> Marks:
        """Matrix of marks."""
        found = np.zeros((len(self.parents), len(self.parents)), np.int8)
        for v, (up, both) in enumerate(zip(self.parents, self.spouses, strict=True)):
            found[[*up, *both], v] = ARROW
            found[v, list(up)] = TAIL
        return found
