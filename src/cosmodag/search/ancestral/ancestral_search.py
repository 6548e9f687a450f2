"""Search for hidden common causes: the ancestral graph of best score near a DAG.

A DAG found among variables with a hidden common cause has edges that only compensate for the
missing ↔. For a → b ↔ c, for example, it has b → c and a → c, although a and c are independent. A
step joins two vertices by ↔ and removes an edge from one of them to a common neighbour, or only
removes an edge, if the loss of log-likelihood is less than the penalty per edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.ancestral.graph import AncestralGraph, reached
from cosmodag.search.ancestral.likelihood import AncestralScore
from cosmodag.search.ancestral.partial_correlations import PartialCorrelations
from cosmodag.search.bits import members

# Maximum number of rounds over all steps; usually the search ends before.
_MOST_ROUNDS = 20
# A step must gain more than this: smaller gains are inaccuracies of the fits of districts.
_LEAST_GAIN = 1e-3


@dataclass(frozen=True)
class _Step:
    """Remove the edge between x and y, and replace that between u and v by ↔ if they are given."""

    x: int
    y: int
    u: int | None = None
    v: int | None = None

    @property
    def vertices(self) -> set[int]:
        """Vertices whose edges change."""
        return {v for v in (self.x, self.y, self.u, self.v) if v is not None}

    def separator(self, graph: AncestralGraph) -> list[int] | None:
        """Ancestors of x and y after the step, without x and y; None if the step is invalid.

        The graph after the step is not made for this, since most steps are rejected at this point.
        """
        x, y, u, v = self.x, self.y, self.u, self.v
        if not graph.are_joined(x, y):
            return None
        parents = list(graph.parent_bits)
        parents[x] &= ~(1 << y)
        parents[y] &= ~(1 << x)
        if u is not None and v is not None:
            # The head of their edge is not an ancestor of its tail. Without the edge, the tail must
            # not be an ancestor of the head either.
            tail, head = (u, v) if parents[v] >> u & 1 else (v, u)
            parents[head] &= ~(1 << tail)
            if reached(parents, 1 << head) >> tail & 1:
                return None
        ends = 1 << x | 1 << y
        return members(reached(parents, ends) & ~ends)

    def apply(self, graph: AncestralGraph) -> AncestralGraph | None:
        """Graph after the step; None if it is not ancestral."""
        after = graph.without(self.x, self.y)
        if self.u is None or self.v is None:
            return after
        return after.with_spouses(self.u, self.v)


def best_ancestral_graph(
    correlations: NDArray[np.float64],
    rows: float,
    penalty: float,
    dag: NDArray[np.bool_],
    *,
    fixed: NDArray[np.bool_] | None = None,
) -> AncestralGraph:
    """Search for an ancestral graph of better score, starting from a DAG.

    `rows` is the effective number of rows, and `penalty` that per edge in the search that found the
    DAG. `fixed` (d, d) are edges that must not be changed or removed; it is symmetric. The result
    is maximal; if no step gains, it is a DAG of the same equivalence class.
    """
    score = AncestralScore(correlations, rows, penalty)
    tests = PartialCorrelations(correlations, rows, penalty)
    # The given DAG is an arbitrary member of its equivalence class, but the steps depend on it.
    starts = {start.tobytes(): start for start in (dag, _with_arcs_turned(dag, fixed))}
    found = [_climb(start, fixed, score, tests) for start in starts.values()]
    return max(found, key=lambda graph: score.of(graph, range(len(dag))))


def _with_arcs_turned(dag: NDArray[np.bool_], fixed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Turn arcs of a DAG, each at most once, within its equivalence class.

    An arc u → v may be turned if the parents of v are u and the parents of u.
    """
    turned = dag.copy()
    for u, v in np.argwhere(dag):
        own = turned[:, v].copy()
        own[u] = False
        if np.array_equal(own, turned[:, u]) and (fixed is None or not fixed[u, v]):
            turned[u, v], turned[v, u] = False, True
    return turned


def _climb(
    dag: NDArray[np.bool_],
    fixed: NDArray[np.bool_] | None,
    score: AncestralScore,
    tests: PartialCorrelations,
) -> AncestralGraph:
    """Take steps that gain, starting from a DAG, until there are none."""
    graph = AncestralGraph.of_dag(dag)
    near = set(range(len(dag)))
    for _ in range(_MOST_ROUNDS):
        proposed: list[tuple[float, int, _Step]] = []
        for step in _steps(graph, near, fixed):
            gain = _gain(graph, step, score, tests)
            if gain > _LEAST_GAIN:
                proposed.append((-gain, len(proposed), step))
        changed: set[int] = set()
        for *_, step in sorted(proposed):
            if _gain(graph, step, score, tests) <= _LEAST_GAIN:
                continue
            after = step.apply(graph)
            if after is not None and after.is_maximal():
                graph = after
                changed |= step.vertices
        if not changed:
            break
        joined = graph.neighbours()
        near = changed.union(*(joined[v] for v in changed))
    return graph


def _steps(
    graph: AncestralGraph, near: set[int], fixed: NDArray[np.bool_] | None
) -> Iterator[_Step]:
    """List the steps in triangles that have a corner in `near`."""
    joined = graph.neighbours()
    for x, around in enumerate(joined):
        for y in around:
            third = joined[x] & joined[y]
            if (fixed is not None and fixed[x, y]) or not (third | {x, y}) & near:
                continue
            if x < y and third:
                yield _Step(x, y)
            for u in third:
                are_spouses = u in graph.spouses[y]
                if not are_spouses and (fixed is None or not fixed[u, y]):
                    yield _Step(x, y, u, y)


def _gain(
    graph: AncestralGraph, step: _Step, score: AncestralScore, tests: PartialCorrelations
) -> float:
    """Gain of a step in score; 0 if it is invalid, or x and y depend on each other after it."""
    between = step.separator(graph)
    if between is None or tests.gain(step.x, step.y, between) >= tests.limit:
        return 0.0
    after = step.apply(graph)
    assert after is not None
    vertices: set[int] = set()
    for v in step.vertices:
        vertices |= graph.district(v) | after.district(v)
    return score.of(after, vertices) - score.of(graph, vertices)
