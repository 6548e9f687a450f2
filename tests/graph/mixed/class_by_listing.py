"""Partial ancestral graphs by definition: list all ancestral graphs and compare independences.

Independent of the package: separation is decided path by path, and the class is enumerated.
"""

import itertools
from collections.abc import Iterator

import numpy as np

ARROW, TAIL, CIRCLE = 2, 3, 1


def simple_paths(joined: np.ndarray, at: int, goal: int, visited: tuple[int, ...]) -> Iterator:
    for v in np.flatnonzero(joined[at]).tolist():
        if v == goal:
            yield (*visited, v)
        elif v not in visited:
            yield from simple_paths(joined, v, goal, (*visited, v))


def descendants(marks: np.ndarray, u: int) -> set[int]:
    found, waiting = {u}, [u]
    while waiting:
        at = waiting.pop()
        for v in range(len(marks)):
            if marks[at, v] == ARROW and marks[v, at] == TAIL and v not in found:
                found.add(v)
                waiting.append(v)
    return found


def independences(marks: np.ndarray, vertices: list[int]) -> frozenset:
    """All (u, v, Z) of the given vertices for which no path between u and v is open given Z."""
    below = [descendants(marks, v) for v in range(len(marks))]
    found = []
    for u, v in itertools.combinations(vertices, 2):
        paths = list(simple_paths(marks != 0, u, v, (u,)))
        others = [w for w in vertices if w not in (u, v)]
        for size in range(len(others) + 1):
            for given in itertools.combinations(others, size):
                if not any(is_open(marks, path, set(given), below) for path in paths):
                    found.append((u, v, given))
    return frozenset(found)


def is_open(marks: np.ndarray, path: tuple[int, ...], given: set[int], below: list[set]) -> bool:
    for before, at, after in zip(path, path[1:], path[2:], strict=False):
        if marks[before, at] == ARROW and marks[after, at] == ARROW:
            if not below[at] & given:
                return False
        elif at in given:
            return False
    return True


def is_ancestral(marks: np.ndarray) -> bool:
    """Whether no vertex with an arrowhead at its end of an edge is an ancestor of the other end."""
    d = len(marks)
    below = [descendants(marks, v) for v in range(d)]
    return not any(
        marks[v, u] == ARROW and v in below[u] for u in range(d) for v in range(d) if u != v
    )


def colliders(marks: np.ndarray) -> set[tuple[int, int, int]]:
    """Colliders between vertices that are not joined, which equivalent graphs have in common."""
    d = len(marks)
    return {
        (a, b, c)
        for a, c in itertools.combinations(range(d), 2)
        for b in range(d)
        if not marks[a, c] and marks[a, b] == ARROW and marks[c, b] == ARROW
    }


def class_of(marks: np.ndarray) -> list[np.ndarray]:
    """All maximal ancestral graphs of → and ↔ with the same independences as the given one."""
    edges = np.argwhere(np.triu(marks != 0)).tolist()
    wanted, outer = independences(marks, list(range(len(marks)))), colliders(marks)
    members = []
    for kinds in itertools.product(
        ((ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW)), repeat=len(edges)
    ):
        other = np.zeros_like(marks)
        for (u, v), (at_v, at_u) in zip(edges, kinds, strict=True):
            other[u, v], other[v, u] = at_v, at_u
        is_candidate = colliders(other) == outer and is_ancestral(other)
        if is_candidate and independences(other, list(range(len(marks)))) == wanted:
            members.append(other)
    return members


def common_marks(members: list[np.ndarray]) -> np.ndarray:
    """Marks that all members have in common, and circles elsewhere."""
    differs = np.any([member != members[0] for member in members], axis=0)
    return np.where(differs, CIRCLE, members[0])
