"""A climb by held-out densities: arcs of a good graph are turned, dropped and added."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cosmodag.evidence.held_out import Density, HeldOut
from cosmodag.graph.dags import is_dag

Bools = NDArray[np.bool_]
Parents = tuple[int, ...]

# Number of climbs from perturbed copies of the best graph, and of arcs turned in each. They end
# turns that gain only together.
_RESTARTS, _TURNED = 10, 3
_LEAST = 1e-9


@dataclass(eq=False)
class LocalClimb:
    """Steepest ascent over graphs, scored by the held-out densities of one table.

    Arcs are added only between `neighbours` (d, d), for example those of any graph found before.
    `support`, `required` and `before` (d, d) are the bounds on the graph. Each arc costs log n:
    with half of it, far rows added four arcs to tables of multiplicative noise.
    """

    held_out: HeldOut
    density: Density
    neighbours: Bools
    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None
    _scores: dict[tuple[int, Parents], float] = field(default_factory=dict)

    def best(self, graphs: Sequence[Bools], should_stop: Callable[[], bool]) -> Bools:
        """Climb from some graphs, then from copies of the best with a few arcs turned."""
        random, found = np.random.default_rng(0), self.from_graph(graphs[0], should_stop)
        starts = iter(graphs[1:])
        for _ in range(len(graphs) - 1 + _RESTARTS):
            if should_stop():
                break
            start = next(starts, None)
            other = self.from_graph(
                self._perturbed(found, random) if start is None else start, should_stop
            )
            if self.total(other) > self.total(found) + _LEAST:
                found = other
        return found

    def total(self, arcs: Bools) -> float:
        """Score of a graph."""
        return sum(
            self._score(v, np.flatnonzero(arcs[:, v])) for v in self.held_out.equations.tolist()
        )

    def _perturbed(self, arcs: Bools, random: np.random.Generator) -> Bools:
        """Turn a few arcs, each if that is possible."""
        arcs = arcs.copy()
        pairs = np.argwhere(arcs)
        for u, v in random.permutation(pairs)[:_TURNED].tolist():
            changed = arcs.copy()
            changed[u, v], changed[v, u] = False, True
            is_bound = self.required is not None and self.required[u, v]
            if not is_bound and self._may_be(v, u) and self._is_possible(changed):
                arcs = changed
        return arcs

    def from_graph(self, arcs: Bools, should_stop: Callable[[], bool]) -> Bools:
        """Climb from a graph until no step gains, or `should_stop` returns True."""
        arcs = arcs.copy()
        while not should_stop():
            steps = sorted(self._steps(arcs), key=lambda step: -step[0])
            chosen = next((changed for _, changed in steps if self._is_possible(changed)), None)
            if chosen is None:
                return arcs
            arcs = chosen
        return arcs

    def _is_possible(self, arcs: Bools) -> bool:
        return is_dag(arcs if self.before is None else arcs | self.before)

    def _steps(self, arcs: Bools) -> Iterator[tuple[float, Bools]]:
        """Yield steps that gain, with their gains; some may close a cycle."""
        for u, v in np.argwhere(arcs | (self.neighbours & ~arcs.T)).tolist():
            for adds in self._options(arcs, u, v):
                changed = arcs.copy()
                changed[u, v] = changed[v, u] = False
                if adds is not None:
                    changed[adds] = True
                gain = sum(self._gain(arcs, changed, w) for w in (u, v))
                if gain > 0:
                    yield gain, changed

    def _options(self, arcs: Bools, u: int, v: int) -> Iterator[tuple[int, int] | None]:
        """Yield what may replace the arc u → v, or its absence: no arc, the reverse, or the arc."""
        if arcs[u, v]:
            if self.required is not None and self.required[u, v]:
                return
            yield None
            if self._may_be(v, u):
                yield v, u
        elif self._may_be(u, v):
            yield u, v

    def _may_be(self, u: int, v: int) -> bool:
        is_child = v in self.held_out.equations
        return is_child and (self.support is None or bool(self.support[u, v]))

    def _gain(self, old: Bools, new: Bools, v: int) -> float:
        before, after = np.flatnonzero(old[:, v]), np.flatnonzero(new[:, v])
        if len(before) == len(after) and (before == after).all():
            return 0.0
        return self._score(v, after) - self._score(v, before)

    def _score(self, v: int, parents: NDArray[np.intp]) -> float:
        key = v, tuple(parents.tolist())
        if key not in self._scores:
            total = float(self.held_out.of_variable(v, parents, self.density).sum())
            self._scores[key] = total - math.log(len(self.held_out.X)) * len(parents)
        return self._scores[key]
