"""Families: a child and its inputs, which are chosen by evidence among its predecessors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.chooser import NO_CHANGE, Change, best_of, grow_and_shrink
from cosmodag.search.mixed.multinomial import level_cost
from cosmodag.search.networks.kernel_fit import fit_kernel
from cosmodag.search.networks.network_inputs import offered_inputs
from cosmodag.search.networks.network_problem import Arcs, NetworkProblem
from cosmodag.search.networks.process_evidence import NO_INPUTS, ProcessKernel, cost, left_out_means


class SearchEffort(NamedTuple):
    """Amount of work of a search by evidence."""

    rows: int = 300
    """Number of rows on which families are compared."""
    steps: int = 8
    """Steps of L-BFGS after each change of a family, starting from the kernel before the change."""
    price: float = 3.0
    """Evidence in nats that an input must add."""
    tries: int = 4
    """Number of further inputs tried for a child, the most promising first."""
    trials: int = 60
    """The search ends when this many moves from one order have failed. On a standardised table of
    networks of eight tanh units (d = 20), with a limit of 24 none of the 24 moves tried raised the
    evidence; with 60, three of 120 did."""
    at_once: int = 4
    """Number of moves tried in parallel; the best of them is made."""


class Family(NamedTuple):
    """The inputs of a child, their kernel, and the cost: minus the log evidence, in nats.

    ``order_cost`` is the cost by which orders are compared. For a category it is minus the
    log-likelihood of its levels, each row predicted from the others. The evidence of regressions on
    indicators chooses inputs well, but it overrates levels that are nearly determined; their
    likelihood is bounded.
    """

    inputs: NDArray[np.intp]
    kernel: ProcessKernel
    cost: float
    order_cost: float


# An input is tried at the median relevance of the others, and at a fifth of it.
_RELEVANCES = (1.0, 0.2)
# Without refitting, the loss of an input is overestimated: inputs with a loss up to this multiple
# of the price are left out on trial, with a refit.
_DOUBTFUL = 4.0


class Families:
    """Families of all children on the same few rows."""

    def __init__(self, problem: NetworkProblem, effort: SearchEffort) -> None:
        self.problem, self.effort = problem, effort
        children = (problem.child(v) for v in range(problem.d))
        self._data = [None if one is None else one.first(effort.rows) for one in children]
        self._grown: dict[tuple[int, bytes, bytes], Family] = {}
        # A move changes few families, so gains and losses of the others are reused.
        self._gains: dict[tuple[object, ...], list[tuple[float, int]]] = {}
        self._losses: dict[tuple[object, ...], float] = {}

    def of(self, adjacency: Arcs) -> list[Family]:
        """Fit the families of a graph."""
        fitted = (self.fitted(v, np.flatnonzero(adjacency[:, v])) for v in range(self.problem.d))
        return [self._with_order_cost(v, family) for v, family in enumerate(fitted)]

    def total(self, families: list[Family]) -> float:
        """Sum of the costs by which orders are compared, plus the price of all inputs."""
        return sum(one.order_cost + self.effort.price * len(one.inputs) for one in families)

    def grown(self, v: int, family: Family, allowed: NDArray[np.bool_]) -> Family:
        """Choose the inputs of a child among those allowed, starting from its present ones."""
        key = (v, allowed.tobytes(), family.inputs.tobytes())
        if key not in self._grown:
            kept = allowed[family.inputs]
            if not kept.all():
                family = self.fitted(v, family.inputs[kept], family.kernel.only(kept))
            self._grown[key] = self._chosen(v, family, allowed)
        return self._grown[key]

    def carried_over(self, v: int, family: Family, allowed: NDArray[np.bool_]) -> Family:
        """Choose the inputs of a child on these rows, starting from a family of other rows."""
        allowed = allowed & self.problem.support[:, v]
        start = family.kernel if len(family.inputs) else None
        return self._chosen(v, self.fitted(v, family.inputs, start), allowed)

    def _chosen(self, v: int, family: Family, allowed: NDArray[np.bool_]) -> Family:
        """Grow and shrink the inputs of a child."""
        changing, price = _ChangingFamily(self, v, family, allowed), self.effort.price
        grow_and_shrink(changing, 0.5 * price, -(_DOUBTFUL - 1) * price)
        return self._with_order_cost(v, changing.family)

    def gains(
        self, v: int, family: Family, allowed: NDArray[np.bool_], tries: int
    ) -> list[tuple[float, int]]:
        """Evidence in nats that single further inputs add, without refitting; the best first."""
        data = self._data[v]
        if data is None:
            return []
        key = (v, family.inputs.tobytes(), family.cost, allowed.tobytes(), tries)
        if key not in self._gains:
            inputs, kernel = family.inputs, family.kernel
            _, offers = offered_inputs(data, inputs, kernel, allowed, tries, _RELEVANCES)
            gains = ((family.cost - reached, u) for reached, u in offers)
            self._gains[key] = sorted(gains, reverse=True)
        return self._gains[key]

    def loss_without(self, v: int, family: Family, left_out: NDArray[np.bool_]) -> float:
        """Evidence in nats lost without some inputs, less their price, without refitting."""
        data = self._data[v]
        if data is None or not left_out.any():
            return 0.0
        key = (v, family.inputs.tobytes(), family.cost, left_out.tobytes())
        if key not in self._losses:
            kept = ~left_out
            columns = data.inputs(family.inputs[kept])
            without = cost(columns, data.target, family.kernel.only(kept))
            price = self.effort.price * float(left_out.sum())
            self._losses[key] = without - family.cost - price
        return self._losses[key]

    def fitted(
        self, v: int, inputs: NDArray[np.intp], start: ProcessKernel | None = None
    ) -> Family:
        """Fit the kernel of a family, starting from another kernel."""
        data = self._data[v]
        if data is None:
            return Family(inputs[self.problem.required[inputs, v]], NO_INPUTS, 0.0, 0.0)
        columns = data.inputs(inputs)
        kernel = NO_INPUTS
        if len(inputs):
            kernel = fit_kernel(columns, data.target, steps=self.effort.steps, start=start)
        reached = cost(columns, data.target, kernel)
        return Family(inputs, kernel, reached, reached)

    def _with_order_cost(self, v: int, family: Family) -> Family:
        """Compute the cost by which orders are compared, if the child is a category."""
        data = self._data[v]
        if data is None or data.levels is None:
            return family
        columns = data.inputs(family.inputs)
        means = left_out_means(columns, data.target, family.kernel)
        return family._replace(order_cost=level_cost(data.levels, means))


class _ChangingFamily:
    """A family while its inputs are chosen: gains are estimates, and a refit decides."""

    def __init__(
        self, families: Families, v: int, family: Family, allowed: NDArray[np.bool_]
    ) -> None:
        self.families, self.v, self.allowed = families, v, allowed.copy()
        self.is_required, self.price = families.problem.required[:, v], families.effort.price
        missing = np.setdiff1d(np.flatnonzero(self.is_required), family.inputs)
        if len(missing):
            family = families.fitted(v, np.union1d(family.inputs, missing))
        self.family, self.is_shrunk = family, False

    def best_addition(self) -> Change:
        tries = self.families.effort.tries
        offers = self.families.gains(self.v, self.family, self.allowed, tries)
        return offers[0] if offers else NO_CHANGE

    def best_drop(self) -> Change:
        if self.is_shrunk:
            return NO_CHANGE
        inputs = self.family.inputs
        free = inputs[~self.is_required[inputs]].tolist()
        return best_of(
            (-self.families.loss_without(self.v, self.family, inputs == u), u) for u in free
        )

    def add(self, u: int) -> None:
        kernel = self.family.kernel.joined_by(self.family.kernel.usual_relevance)
        joined = self.families.fitted(self.v, np.append(self.family.inputs, u), kernel)
        if self.family.cost - joined.cost > self.price:
            self.family = joined
        self.allowed[u] = False

    def drop(self, u: int) -> None:
        """Leave out an input; if it turns out to be worth its price, keep it and stop shrinking."""
        kept = self.family.inputs != u
        kernel = self.family.kernel.only(kept)
        without = self.families.fitted(self.v, self.family.inputs[kept], kernel)
        self.is_shrunk = without.cost - self.family.cost > self.price
        if not self.is_shrunk:
            self.family = without


def input_arcs(families: list[Family]) -> Arcs:
    """(d, d): the arcs from the inputs of all families."""
    arcs = np.zeros((len(families), len(families)), dtype=bool)
    for v, family in enumerate(families):
        arcs[family.inputs, v] = True
    return arcs
