"""Ancestral graphs as sets of parents and spouses, for searches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, TAIL, Marks
from cosmodag.search.bits import as_bits, members

Vertices = tuple[frozenset[int], ...]


def reached(links: Sequence[int], start: int) -> int:
    """Return the vertices `start`, and those to which chains of links lead; all sets are bits.

    `links` are the vertices to which each vertex is linked. With parents, ancestors are reached.
    """
    found, waiting = start, start
    while waiting:
        lowest = waiting & -waiting
        new = links[lowest.bit_length() - 1] & ~found
        found |= new
        waiting = (waiting ^ lowest) | new
    return found


@dataclass(frozen=True)
class AncestralGraph:
    """A graph with directed edges and ↔ edges, in which no vertex is an ancestor of its spouses."""

    parents: Vertices  # for each vertex v: all u with u → v
    spouses: Vertices  # for each vertex v: all u with u ↔ v

    @classmethod
    def of_dag(cls, arcs: NDArray[np.bool_]) -> "AncestralGraph":
        """Convert a DAG."""
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
        """Return the graph without the edge between u and v."""
        parents, spouses = list(self.parents), list(self.spouses)
        for one, other in ((u, v), (v, u)):
            parents[one] -= {other}
            spouses[one] -= {other}
        return AncestralGraph(tuple(parents), tuple(spouses))

    def with_spouses(self, u: int, v: int) -> "AncestralGraph | None":
        """Return the graph with u ↔ v as the edge between them; None if it is not ancestral."""
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
        """Neighbours of each vertex."""
        near = [set(up | both) for up, both in zip(self.parents, self.spouses, strict=True)]
        for v, up in enumerate(self.parents):
            for u in up:
                near[u].add(v)
        return near

    def ancestors(self, vertices: Iterable[int]) -> set[int]:
        """Return the given vertices and all their ancestors."""
        return set(members(reached(self.parent_bits, as_bits(vertices))))

    def district(self, v: int) -> frozenset[int]:
        """Return v and all vertices that paths of ↔ edges connect to it."""
        found, waiting = {v}, [v]
        while waiting:
            new = self.spouses[waiting.pop()] - found
            found |= new
            waiting += new
        return frozenset(found)

    def is_maximal(self) -> bool:
        """Whether every pair of vertices without an edge is separated by its ancestors.

        Otherwise there is an inducing path: every inner vertex is a collider and an ancestor of an
        end. The inner vertices belong to one district, and the ends point at the first and the last
        of them.
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
        """Whether ancestors of u or v in a district form a path of colliders between u and v."""
        ends = 1 << u | 1 << v
        inner = as_bits(district) & reached(self.parent_bits, ends) & ~ends
        from_u, from_v = (
            as_bits(c for c in members(inner) if end in self.parents[c] | self.spouses[c])
            for end in (u, v)
        )
        return bool(reached([both & inner for both in self.spouse_bits], from_u) & from_v)

    def marks(self) -> Marks:
        """Matrix of marks (`cosmodag.graph.mixed.marks`)."""
        found = np.zeros((len(self.parents), len(self.parents)), np.int8)
        for v, (up, both) in enumerate(zip(self.parents, self.spouses, strict=True)):
            found[[*up, *both], v] = ARROW
            found[v, list(up)] = TAIL
        return found
