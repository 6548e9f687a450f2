"""Paths in partial ancestral graphs that the rules of orientation look for."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.mixed.marks import ARROW, TAIL, Marks

__all__ = ["PartialGraph"]


class PartialGraph:
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
