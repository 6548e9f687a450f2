"""Search for hidden common causes: the ancestral graph of best score near a DAG.

Where a DAG stands for variables with a hidden common cause, it has edges that only make up for the
missing ↔. For a → b ↔ c, say, it has b → c and a → c, although a and c are independent. A step
joins two vertices by ↔ and removes an edge from one of them to a common neighbour, if the
log-likelihood that is lost is less than the penalty of the edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.ancestral.graph import AncestralGraph, reached_upwards
from cosmodag.order.ancestral.likelihood import AncestralScore
from cosmodag.order.ancestral.partial_correlations import PartialCorrelations
from cosmodag.order.bits import members

# Rounds of all steps; the last one changes nothing unless the graph is very large.
_ROUNDS = 20
# Score that a step must gain: less is rounding of the fits of districts.
_LEAST_GAIN = 1e-3


@dataclass(frozen=True)
class _Step:
    """Remove the edge between x and y; before it, join u and v by ↔ unless they are None."""

    x: int
    y: int
    u: int | None = None
    v: int | None = None

    @property
    def vertices(self) -> set[int]:
        """Vertices whose edges change."""
        return {v for v in (self.x, self.y, self.u, self.v) if v is not None}

    def separator(self, graph: AncestralGraph) -> list[int] | None:
        """Ancestors of x and y after the step, without these; None if it cannot be taken.

        It is found without making the graph after the step: most steps are rejected by it.
        """
        x, y, u, v = self.x, self.y, self.u, self.v
        if not graph.are_joined(x, y):
            return None
        parents = list(graph.parent_bits)
        parents[x] &= ~(1 << y)
        parents[y] &= ~(1 << x)
        if u is not None and v is not None:
            # The head of the edge between them is no ancestor of its tail.
            tail, head = (u, v) if parents[v] >> u & 1 else (v, u)
            parents[head] &= ~(1 << tail)
            if reached_upwards(parents, 1 << head) >> tail & 1:
                return None
        ends = 1 << x | 1 << y
        return members(reached_upwards(parents, ends) & ~ends)

    def taken(self, graph: AncestralGraph) -> AncestralGraph | None:
        """Graph after the step; None if that is not ancestral, or there is nothing to remove."""
        if not graph.are_joined(self.x, self.y):
            return None
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
    """Improve the score of a DAG by ↔ edges.

    Parameters
    ----------
    correlations : (d, d) array
    rows : float
    penalty : float
        Per edge, as in the search that found the DAG.
    dag : (d, d) array of bool
        The found DAG: True at [u, v] for u → v.
    fixed : (d, d) array of bool, optional
        Edges that neither change nor go.

    Returns
    -------
    AncestralGraph
        Maximal; the DAG itself where no step gains.
    """
    score = AncestralScore(correlations, rows, penalty)
    tests = PartialCorrelations(correlations, rows, penalty)
    # Which member of the class the DAG is was a free choice, and steps depend on it.
    members = {start.tobytes(): start for start in (dag, _turned(dag, fixed))}
    found = [_climbed(start, fixed, score, tests) for start in members.values()]
    everything = set(range(len(dag)))
    return max(found, key=lambda graph: score.of(graph, everything))


def _turned(dag: NDArray[np.bool_], fixed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Turn arcs of a DAG, each once, so that it stays in its class: its arrows are free choices.

    An arc u → v may be turned where the parents of v are u and the parents of u.
    """
    turned = dag.copy()
    for u, v in np.argwhere(dag):
        own = turned[:, v].copy()
        own[u] = False
        if np.array_equal(own, turned[:, u]) and (fixed is None or not fixed[u, v]):
            turned[u, v], turned[v, u] = False, True
    return turned


def _climbed(
    dag: NDArray[np.bool_],
    fixed: NDArray[np.bool_] | None,
    score: AncestralScore,
    tests: PartialCorrelations,
) -> AncestralGraph:
    """Take steps from a DAG until none gains."""
    graph = AncestralGraph.of_dag(dag)
    near = set(range(len(dag)))
    for _ in range(_ROUNDS):
        proposed: list[tuple[float, int, _Step]] = []
        for step in _steps(graph, near, fixed):
            gain = _gain(graph, step, score, tests)
            if gain > _LEAST_GAIN:
                proposed.append((-gain, len(proposed), step))
        changed: set[int] = set()
        for *_, step in sorted(proposed):
            after = step.taken(graph)
            if after is None or _gain(graph, step, score, tests) <= _LEAST_GAIN:
                continue
            if after.is_maximal():
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
    """List the steps in triangles with a corner among some vertices."""
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
    """Gain of a step in score; 0 where it is not ancestral, or x and y depend on each other."""
    between = step.separator(graph)
    if between is None or tests.gain(step.x, step.y, between) >= tests.limit:
        return 0.0
    after = step.taken(graph)
    assert after is not None
    vertices: set[int] = set()
    for v in step.vertices:
        vertices |= graph.district(v) | after.district(v)
    return score.of(after, vertices) - score.of(graph, vertices)
