"""Graphs of arrows and lines, which represent classes of DAGs, and the possible parents in them.

All DAGs of the class have the arrows; the direction of the lines is open. The possible sets of
parents of one variable can be listed locally, without listing the DAGs of the class.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.fit.fitted_dag import FittedDAG

MOST_OPTIONS = 1_000
"""Maximum number of parent sets tried per variable; a clique of k lines has 2^k."""

# Assumptions about the noise that determine all directions.
_DECIDING_NOISE = ("equal-variance", "non-gaussian", "uneven")


@dataclass(frozen=True, eq=False)
class MixedGraph:
    """Arrows and lines between variables 0, 1, …, closed under Meek's rules."""

    # For each variable, the variables joined to it by an arrow into it, an arrow out of it, a line.
    parents: list[set[int]]
    children: list[set[int]]
    siblings: list[set[int]]

    @classmethod
    def of(cls, marks: Any) -> "MixedGraph":
        """Read a matrix of bool: [u, v] alone is u → v; [u, v] and [v, u] are a line.

        :func:`cosmodag.graph.equivalence.essential_graph` returns such matrices.

        >>> import numpy as np
        >>> graph = MixedGraph.of(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
        >>> graph.siblings[0], graph.children[1]
        ({1}, {2})
        """
        entries = sparse.coo_array(marks)
        tails, heads = entries.coords
        real = entries.data != 0
        out: list[set[int]] = [set() for _ in range(entries.shape[0])]
        into: list[set[int]] = [set() for _ in out]
        for u, v in zip(tails[real].tolist(), heads[real].tolist(), strict=True):
            out[u].add(v)
            into[v].add(u)
        lines = [down & up for down, up in zip(out, into, strict=True)]
        return cls(
            [up - both for up, both in zip(into, lines, strict=True)],
            [down - both for down, both in zip(out, lines, strict=True)],
            lines,
        )

    def are_joined(self, u: int, v: int) -> bool:
        """Whether an arrow or a line joins two variables."""
        return v in self.parents[u] or v in self.children[u] or v in self.siblings[u]

    def possible_parents(self, x: int) -> Iterator[frozenset[int]]:
        """List the sets of parents that x has in the DAGs of the class, each once.

        Some siblings S of x become parents, and the others children. A DAG of the class has these
        parents if and only if x becomes no new collider between unjoined parents, and no child of x
        points to S (Maathuis, Kalisch and Bühlmann 2009; with known arrows, Fang and He 2020).

        In the chain 0 – 1 – 2, variable 1 cannot have both others as parents:

        >>> import numpy as np
        >>> chain = MixedGraph.of(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        >>> [sorted(found) for found in chain.possible_parents(1)]
        [[], [0], [2]]
        """
        # All parents of x are joined to all its siblings: Meek's first rule directs other lines.
        for chosen in self._cliques(sorted(self.siblings[x])):
            children = self.siblings[x] - chosen
            if not any(self.parents[s] & children for s in chosen):
                yield frozenset(self.parents[x] | chosen)

    def _cliques(
        self, candidates: list[int], chosen: frozenset[int] = frozenset()
    ) -> Iterator[frozenset[int]]:
        """List the sets of candidates that are pairwise joined, the empty set first."""
        yield chosen
        for place, one in enumerate(candidates):
            joined = [other for other in candidates[place + 1 :] if self.are_joined(one, other)]
            yield from self._cliques(joined, chosen | {one})

    def with_parents(self, x: int, chosen: Iterable[int]) -> "MixedGraph":
        """Direct all lines at x so that `chosen` are parents, and apply Meek's rules.

        >>> import numpy as np
        >>> chain = MixedGraph.of(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        >>> chain.with_parents(0, []).children
        [{1}, {2}, set()]
        """
        chosen = set(chosen)
        arrows = [(s, x) if s in chosen else (x, s) for s in self.siblings[x]]
        if not arrows:
            return self
        sides = (self.parents, self.children, self.siblings)
        graph = MixedGraph(*(list(map(set, side)) for side in sides))
        directed = graph._direct(arrows)
        while directed:
            directed = graph._direct(
                [arrow for ends in directed for arrow in graph._implied(*ends)]
            )
        return graph

    def _direct(self, arrows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Turn lines into arrows, in place; list the arrows that were lines."""
        new = []
        for u, v in arrows:
            if v in self.siblings[u]:
                self.siblings[u].discard(v)
                self.siblings[v].discard(u)
                self.children[u].add(v)
                self.parents[v].add(u)
                new.append((u, v))
        return new

    def _implied(self, u: int, v: int) -> Iterator[tuple[int, int]]:
        """List the arrows that Meek's rules imply, where u → v is any of the arrows of a rule."""
        for w in list(self.siblings[v]):
            if not self.are_joined(u, w):  # R1: u → v – w
                yield v, w
            if w in self.parents[u]:  # R2: w → u → v
                yield w, v
            # R3: u → v ← c, w – u, w – c; u, c not joined
            others = self.parents[v] & self.siblings[w]
            if u in self.siblings[w] and any(not self.are_joined(u, c) for c in others - {u}):
                yield w, v
            # R4 with u → v last: e → u → v, w – e, w joined to u; e, v not joined
            ends = self.parents[u] & self.siblings[w]
            if self.are_joined(w, u) and any(not self.are_joined(e, v) for e in ends):
                yield w, v
        for w in list(self.siblings[u]):
            if v in self.parents[w]:  # R2: u → v → w
                yield u, w
            # R4 with u → v first: u → v → c, w – u, w – c, w joined to v; u, c not joined
            if self.are_joined(w, v):
                for c in self.children[v] & self.siblings[w]:
                    if not self.are_joined(u, c):
                        yield w, c

    def descendants(self, x: int) -> set[int]:
        """Descendants of x, without x."""
        return self.reached_from({x}) - {x}

    def reached_from(self, start: Iterable[int]) -> set[int]:
        """Return the given variables and all their descendants."""
        return _reached(start, self.children)

    def ancestors(self, x: int) -> set[int]:
        """Ancestors of x, without x."""
        return _reached({x}, self.parents) - {x}

    def causes(self) -> NDArray[np.bool_]:
        """(d, d): whether a directed path leads from one variable to another."""
        found = np.zeros((len(self.parents), len(self.parents)), np.bool_)
        for x in range(len(found)):
            found[x, list(self.descendants(x))] = True
        return found

    def possible_descendants(self, start: int, avoiding: int) -> set[int]:
        """Return `start` and all that arrows and lines reach from it without passing `avoiding`."""
        return _reached({start}, self.children, self.siblings, avoiding={avoiding})


def _reached(
    start: Iterable[int], *steps: list[set[int]], avoiding: Iterable[int] = ()
) -> set[int]:
    """Return the given variables and all that `steps`, lists of neighbours, reach from them."""
    found = set(start)
    stack = list(found)
    while stack:
        one = stack.pop()
        new = set[int]().union(*(step[one] for step in steps)).difference(found, avoiding)
        found |= new
        stack += new
    return found


class Option(NamedTuple):
    """A possible set of parents of a variable, and the class with these parents."""

    parents: frozenset[int]
    graph: MixedGraph


@dataclass(frozen=True, eq=False)
class ClassView:
    """The fitted DAG, and the class of DAGs that fit equally well."""

    dag: MixedGraph
    # The class, narrowed by knowledge and interventions; the DAG itself if the assumption about the
    # noise determines all directions.
    mixed: MixedGraph
    _options: dict[int, tuple[Option, ...]] = field(default_factory=dict)  # cache

    @classmethod
    def of(cls, fitted: FittedDAG) -> "ClassView":
        """Read the graph and the class of a fit."""
        dag = MixedGraph.of(fitted.arcs)
        if fitted.noise in _DECIDING_NOISE and not fitted.follows_units:
            return cls(dag, dag)
        return cls(dag, MixedGraph.of(fitted.equivalence_class()))

    def options(self, x: int) -> tuple[Option, ...]:
        """List the possible sets of parents of a variable, that of the DAG first."""
        if x not in self._options:
            own = frozenset(self.dag.parents[x])
            found = islice(self.mixed.possible_parents(x), MOST_OPTIONS)
            sets = [own, *(one for one in found if one != own)]
            self._options[x] = tuple(Option(one, self.mixed.with_parents(x, one)) for one in sets)
        return self._options[x]

    def is_open(self, x: int, y: int) -> bool:
        """Whether the DAGs of the class may differ in the effect of x on y.

        They agree if and only if every possibly causal path from x to y begins with an arrow
        (Perković 2020).
        """
        return any(
            y in option.graph.possible_descendants(s, avoiding=x)
            for option in self.options(x)
            for s in self.mixed.siblings[x] - option.parents
        )
