"""Pruning of learnt networks: which inputs of each network the data support.

A learner of networks gives an order and the strength of every arc, but no threshold on strengths
separates true arcs from others: networks of many inputs underfit, and all their strengths are
small. Here the evidence of a Gaussian process with one relevance per input decides which candidates
each child needs. Then the order itself is corrected: a pruned graph determines only a partial
order, and an arc that the learnt order forbade may be added if it closes no cycle.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.data.knowledge.bounds import closure
from cosmodag.graph.dags import respecting
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.networks.network_inputs import (
    Effort,
    NeededInputs,
    needed_inputs,
    offered_inputs,
)
from cosmodag.search.networks.network_problem import Arcs, NetworkProblem
from cosmodag.search.networks.workers import Workers
from cosmodag.search.search_run import Run

__all__ = ["Effort", "PrunedNetworks", "prune", "prune_networks"]

# A child that was not tested in time keeps candidates above this fraction of its strongest one.
_UNTESTED_SHARE = 0.3


@dataclass(frozen=True)
class PrunedNetworks:
    """A graph chosen by evidence."""

    adjacency: Arcs  # (d, d): the arcs, ``[u, v]`` for u → v; acyclic
    # (d, d): for each arc, the fall of the child's log evidence without it, in nats, on the rows on
    # which the arc was decided (only a few rows for arcs beyond doubt, which understates their
    # gain); 0 elsewhere, ``nan`` for arcs that were not tested in time.
    gains: NDArray[np.float64]
    order: NDArray[np.intp]  # a causal order of the graph, close to the given one
    # (d, d): arcs that were not candidates, because they contradict the given order or were too
    # weak.
    added: Arcs
    changed: int  # number of arcs that contradict the given order
    finished: bool  # False if the run was stopped early; the graph is valid nevertheless


def prune_networks(
    X: ArrayLike,
    strengths: ArrayLike,
    order: ArrayLike,
    run: Run | None = None,
    *,
    constraints: Constraints = NO_CONSTRAINTS,
    counted: ArrayLike | None = None,
    effort: Effort | None = None,
    embedding: Embedding | None = None,
) -> PrunedNetworks:
    """Choose the arcs of a causal order that the data support, for relations of any shape.

    The contribution of an arc u → v is its strength times the residual standard deviation of u
    given earlier variables. Candidates of a child are the predecessors whose contribution is not
    negligible compared with the strongest; those without evidence are left out. Then arcs from
    non-descendants that clearly raise the evidence are added, and the inputs of changed children
    are tested again.

    The result does not depend on the units of the columns, nor on the number of workers.

    Parameters
    ----------
    X : (n, d) array
        The data, in any units, without missing values.
    strengths : (d, d) array
        The strength of each arc u → v, in the units of the data; signs do not matter.
    order : (d,) integers
        The variables, causes first.
    run : Run, optional
        Its generator, by default one of seed 0, draws the order of rows. It is stopped between
        children, and reports two tasks per child.
    constraints : Constraints
        They hold whatever the evidence, and even against `order`.
    counted : (n, d) array, optional
        Zero where a row is not used for the equation of a variable, such as where it was set.
    effort : Effort, optional
        Thresholds of evidence, and amount of work.
    embedding : Embedding, optional
        Which columns of the data are categories or counts. The table must then be in its own units,
        and strengths refer to standardised columns. By default all columns are numbers.

    Raises
    ------
    DataError
        If a shape is wrong, `order` is not a permutation, or the constraints contradict each other.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 2] += 2 * np.tanh(x[:, 0] - x[:, 1])
    >>> prune_networks(x, np.ones((3, 3)), order=[1, 0, 2]).adjacency.astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    run = run or Run.seeded(0)
    problem = NetworkProblem(
        X,
        order,
        strengths=strengths,
        constraints=constraints,
        counted=counted,
        random=run.random,
        effort=effort,
        embedding=embedding,
    )
    return prune(problem, run)


def prune(problem: NetworkProblem, run: Run) -> PrunedNetworks:
    """Choose arcs as :func:`prune_networks` does, for a problem that was checked."""
    with Workers(run, tasks=2 * problem.d) as pool:
        pruning = _Pruning(problem, pool)
        pruning.choose_inputs(np.arange(problem.d))
        pruning.correct_order()
        return pruning.result(finished=not pool.was_stopped)


class _Pruning:
    """State of pruning: the present arcs, and the result of the test of each child."""

    def __init__(self, problem: NetworkProblem, pool: Workers) -> None:
        self.problem, self.pool = problem, pool
        self.candidates = problem.candidates(problem.effort.candidate)
        self.adjacency = self.candidates.copy()
        self.needed: dict[int, NeededInputs] = {}

    def choose_inputs(self, children: NDArray[np.intp]) -> None:
        """Choose the inputs of the given children among their present inputs."""
        # The longest tasks come first, so that no worker begins one at the end.
        longest_first = children[np.argsort(-self.adjacency[:, children].sum(0), kind="stable")]
        found = self.pool.run([partial(self._needed_inputs, v) for v in longest_first.tolist()])
        for v, needed in zip(longest_first.tolist(), found, strict=True):
            self._set_inputs(v, needed)

    def correct_order(self) -> None:
        """Add or reverse arcs that the order forbade, best first; then test changed children."""
        reach = self._reach()
        found = self.pool.run([partial(self._additions, v, reach) for v in range(self.problem.d)])
        changed: set[int] = set()
        for _, u, v in sorted((offer for offers in found for offer in offers or []), reverse=True):
            turns = bool(self.adjacency[v, u])
            if turns and u in changed:
                continue
            self.adjacency[v, u] = False
            without = self._reach() if turns else reach
            if without[v, u]:  # u → v would close a cycle
                self.adjacency[v, u] = turns
                continue
            self.adjacency[u, v] = True
            changed |= {u, v} if turns else {v}
            reach = without | np.outer(without[:, u], without[v])
        self.choose_inputs(np.array(sorted(changed), dtype=np.intp))

    def result(self, *, finished: bool) -> PrunedNetworks:
        gains = np.where(self.adjacency, np.nan, 0.0)
        for v, needed in self.needed.items():
            gains[needed.inputs, v] = needed.gains
        gains[~self.adjacency] = 0.0
        places = np.argsort(self.problem.given_order)
        against = self.adjacency & (places[:, None] > places)
        return PrunedNetworks(
            adjacency=self.adjacency,
            gains=gains,
            order=respecting(self.problem.given_order, self.adjacency | self.problem.before),
            added=self.adjacency & (~self.candidates | against),
            changed=int(against.sum()),
            finished=finished,
        )

    def _reach(self) -> Arcs:
        """(d, d): whether v is u, or must come after u, at [u, v]."""
        reach = closure(self.adjacency | self.problem.before)
        np.fill_diagonal(reach, True)
        return reach

    def _needed_inputs(self, v: int) -> NeededInputs:
        candidates = np.flatnonzero(self.adjacency[:, v])
        required = self.problem.required[candidates, v]
        data = self.problem.child(v)
        if data is None:
            return NeededInputs.without_evidence(candidates[required])
        return needed_inputs(data, candidates, required, self.problem.effort)

    def _set_inputs(self, v: int, needed: NeededInputs | None) -> None:
        if needed is None and v in self.needed:
            # Not tested again in time: it keeps its inputs, except arcs reversed in the meantime.
            inputs = self.needed[v].inputs
            self.adjacency[:, v] &= np.isin(np.arange(self.problem.d), inputs)
        elif needed is None:
            self.adjacency[:, v] = self.problem.candidates(_UNTESTED_SHARE)[:, v]
        else:
            self.adjacency[:, v] = False
            self.adjacency[needed.inputs, v] = True
            self.needed[v] = needed

    def _additions(self, v: int, reach: Arcs) -> list[tuple[float, int, int]]:
        """Further inputs u of v with a clear gain, as (net gain, u, v).

        An input may be a non-descendant of v, or a child that hardly needs v.
        """
        weak = self._weak_arcs_from(v)
        allowed = self.problem.support[:, v] & (~reach[v] | (weak > 0))
        data, effort = self.problem.child(v), self.problem.effort
        if data is None or v not in self.needed or not allowed.any():
            return []
        inputs, kernel, _ = self.needed[v]
        few = data.first(effort.mend_rows)
        now, offers = offered_inputs(few, inputs, kernel, allowed, effort.mend_tries)
        net = [(now - reached - weak[u], u, v) for reached, u in offers]
        return [offer for offer in net if offer[0] > effort.new_nats]

    def _weak_arcs_from(self, v: int) -> NDArray[np.float64]:
        """(d,): evidence that each child loses without v; 0 for large losses and required arcs."""
        weak = np.zeros(self.problem.d)
        for child in np.flatnonzero(self.adjacency[v] & ~self.problem.required[v]).tolist():
            if child in self.needed:
                inputs, _, gains = self.needed[child]
                gain = float(gains[inputs == v][0])
                weak[child] = gain if gain < self.problem.effort.weak_nats else 0.0
        return weak
