"""An ancestral graph during a search: parents and spouses of every vertex."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, TAIL, Marks
from cosmodag.order.bits import as_bits, members

Vertices = tuple[frozenset[int], ...]


def reached_upwards(parents: Sequence[int], start: int) -> int:
    """Give the ancestors of vertices, and these; all sets are bits, `parents` one per vertex."""
    found, waiting = start, start
    while waiting:
        lowest = waiting & -waiting
        new = parents[lowest.bit_length() - 1] & ~found
        found |= new
        waiting = (waiting ^ lowest) | new
    return found


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

    @cached_property
    def parent_bits(self) -> tuple[int, ...]:
        """Parents of each vertex as bits."""
        return tuple(as_bits(up) for up in self.parents)

    @cached_property
    def spouse_bits(self) -> tuple[int, ...]:
        """Spouses of each vertex as bits."""
        return tuple(as_bits(both) for both in self.spouses)

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
        return set(members(reached_upwards(self.parent_bits, as_bits(vertices))))

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
        end: ↔ edges connect the inner vertices, all of one district, and the ends point at the
        first and the last of them.
        """
        joined = [as_bits(near) for near in self.neighbours()]
        linked = {self.district(v) for v, both in enumerate(self.spouses) if both}
        return not any(
            self._has_inducing_path(u, v, district)
            for district in linked
            for u, v in combinations(self._pointing_at(district), 2)
            if not joined[u] >> v & 1
        )

    def _pointing_at(self, district: frozenset[int]) -> list[int]:
        """Parents and spouses of the vertices of a district."""
        return sorted(set[int]().union(*(self.parents[v] | self.spouses[v] for v in district)))

    def _has_inducing_path(self, u: int, v: int, district: frozenset[int]) -> bool:
        """Whether a path of colliders in a district, ancestors of u or v, joins these."""
        ends = 1 << u | 1 << v
        inner = as_bits(district) & reached_upwards(self.parent_bits, ends) & ~ends
        found = waiting = as_bits(
            c for c in members(inner) if u in self.parents[c] or u in self.spouses[c]
        )
        while waiting:
            (at,) = members(waiting & -waiting)
            if v in self.parents[at] or v in self.spouses[at]:
                return True
            new = self.spouse_bits[at] & inner & ~found
            found |= new
            waiting = (waiting & (waiting - 1)) | new
        return False

    def marks(self) -> Marks:
        """Matrix of marks."""
        found = np.zeros((len(self.parents), len(self.parents)), np.int8)
        for v, (up, both) in enumerate(zip(self.parents, self.spouses, strict=True)):
            found[[*up, *both], v] = ARROW
            found[v, list(up)] = TAIL
        return found
