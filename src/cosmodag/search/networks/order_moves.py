"""Local search of the order of networks, by the evidence of Gaussian processes.

Training finds an order in which most variables are in the right place; here single variables are
moved within it. For every child, one inverse gives the gain, to first order, from each input that
the order forbids; one evaluation gives the loss of a child that loses an input by a move. The most
promising moves are tried: the families concerned choose their inputs again, and the best of a few
moves is made if the total evidence rises.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.networks.families import Families, Family, SearchEffort, input_arcs
from cosmodag.search.networks.network_problem import Arcs, NetworkProblem
from cosmodag.search.networks.workers import Workers
from cosmodag.search.search_run import Run

# Losses without refitting are overestimates: this fraction of them counts in the estimated
# improvement by a move.
_SHARE_OF_LOSS = 0.3
# A move must raise the total evidence by this number of nats.
_LEAST_IMPROVEMENT = 1.0
# Moves with an estimated improvement below this number of nats are not tried.
_LEAST_PROMISE = -40.0
# A trial ends when the evidence has fallen by this multiple of the estimated gain. The multiple
# exceeds one because gains without refitting are underestimates.
_MOST_LOST = 3.0
# Number of further inputs tried per child when moves are proposed.
_INPUTS_TRIED = 6


@dataclass(frozen=True)
class FoundOrder:
    """An order, causes first, the graph grown on it, and its cost.

    The cost is minus the log evidence in nats, plus the price of arcs, on the rows of the search,
    up to a constant. ``start_costs`` are those of the starts, ``nan`` for those that were not
    reached in time. ``trials`` moves were tried, and ``moves`` of them made.
    """

    order: NDArray[np.intp]
    adjacency: Arcs
    cost: float
    start_costs: tuple[float, ...]
    moves: int
    trials: int
    finished: bool


class _Move(NamedTuple):
    """A variable and its place in the new order, with estimates in nats.

    ``gain`` is the estimated gain of families that get further inputs; ``promise`` also subtracts
    the losses of others.
    """

    promise: float
    variable: int
    place: int
    gain: float


class _GrownOrder(NamedTuple):
    order: list[int]
    families: list[Family]
    cost: float


def search_by_evidence(
    problem: NetworkProblem,
    starts: Sequence[tuple[NDArray[np.intp], Arcs]],
    run: Run,
    effort: SearchEffort | None = None,
) -> FoundOrder:
    """Select the start with most evidence, and search for a better graph near its order.

    A start is an order that satisfies the constraints, and a graph on it.

    Examples
    --------
    The given order has the cause last:

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> x[:, 0] = np.tanh(2 * x[:, 2]) + 0.2 * x[:, 0]
    >>> nothing = np.zeros((3, 3), dtype=bool)
    >>> problem = NetworkProblem(x, order=[0, 1, 2])
    >>> found = search_by_evidence(problem, [(np.array([0, 1, 2]), nothing)], Run())
    >>> bool(found.adjacency[2, 0]), int(found.adjacency.sum())
    (True, 1)
    """
    effort = effort or SearchEffort()
    with Workers(run) as pool:
        search = _Search(problem, effort, pool)
        begun = pool.run([partial(search.start, *start) for start in starts])
        costs = tuple(np.nan if state is None else state.cost for state in begun)
        states = [state for state in begun if state is not None]
        if not states:
            order, adjacency = starts[0]
            return FoundOrder(order, adjacency, np.nan, costs, 0, 0, finished=False)
        search.state = min(states, key=lambda state: state.cost)
        search.climb()
        return FoundOrder(
            order=np.array(search.state.order, dtype=np.intp),
            adjacency=input_arcs(search.state.families),
            cost=search.state.cost,
            start_costs=costs,
            moves=search.moves,
            trials=search.trials,
            finished=not pool.was_stopped,
        )


class _Search:
    """State of the search: the best order so far, and estimated gains of moves from it."""

    state: _GrownOrder

    def __init__(self, problem: NetworkProblem, effort: SearchEffort, pool: Workers) -> None:
        self.problem, self.effort, self.pool = problem, effort, pool
        self.families = Families(problem, effort)
        # At [u, v]: estimated gain of v, in nats, if u were moved before it.
        self.gains = np.zeros((problem.d, problem.d))
        self.moves = self.trials = 0

    def start(self, order: NDArray[np.intp], adjacency: Arcs) -> _GrownOrder:
        """Choose the inputs of all children within an order, starting from a graph."""
        places = np.argsort(order)
        families = self.families.of(adjacency)
        grown = [
            self.families.grown(v, family, self._allowed(places, v))
            for v, family in enumerate(families)
        ]
        return _GrownOrder(order.tolist(), grown, self.families.total(grown))

    def climb(self) -> None:
        """Make moves that raise the evidence, until the most promising ones have failed."""
        has_moved = True
        while has_moved and not self.pool.was_stopped:
            has_moved = False
            moves = self._proposed()[: self.effort.trials]
            step = self.effort.at_once
            for some in (moves[i : i + step] for i in range(0, len(moves), step)):
                tried = self.pool.run([partial(self._state_after, move) for move in some])
                reached = [state for state in tried if state is not None]
                self.trials += len(reached)
                if not reached:
                    break
                best = min(reached, key=lambda state: state.cost)
                if best.cost < self.state.cost - _LEAST_IMPROVEMENT:
                    self.state, has_moved = best, True
                    self.moves += 1
                    break

    def _allowed(self, places: NDArray[np.intp], v: int) -> NDArray[np.bool_]:
        allowed: NDArray[np.bool_] = (places < places[v]) & self.problem.support[:, v]
        return allowed

    def _proposed(self) -> list[_Move]:
        """List moves of single variables, the most promising first."""
        places = np.argsort(self.state.order)
        d, price = self.problem.d, self.effort.price
        self.gains = np.zeros((d, d))
        found = self.pool.run([partial(self._gains_from_later, v, places) for v in range(d)])
        for v, offers in enumerate(found):
            for gain, u in offers or []:
                self.gains[u, v] = max(0.0, gain - price)
        moves = []
        for v in range(d):
            moves += self._moves_past_others(v, places, -1)
            moves += self._moves_past_others(v, places, 1)
        promising = [move for move in moves if move.promise > _LEAST_PROMISE]
        return sorted(promising, reverse=True)

    def _gains_from_later(self, v: int, places: NDArray[np.intp]) -> list[tuple[float, int]]:
        later = (places > places[v]) & self.problem.support[:, v]
        return self.families.gains(v, self.state.families[v], later, _INPUTS_TRIED)

    def _moves_past_others(self, v: int, places: NDArray[np.intp], step: int) -> list[_Move]:
        """List moves of v to earlier places (step −1) or to later ones (step 1).

        Of v and a variable that it passes, the first in the new order may become an input of the
        second, and can no longer have it as an input.
        """
        order, families, _ = self.state
        moves: list[_Move] = []
        gain, left_out, losses = 0.0, dict[int, NDArray[np.bool_]](), dict[int, float]()
        for place in range(int(places[v]) + step, -1 if step < 0 else self.problem.d, step):
            u = order[place]
            first, second = (v, u) if step < 0 else (u, v)
            if self.problem.before[second, first]:
                break
            lost = families[first].inputs == second
            if lost.any():
                left_out[first] = lost | left_out.get(first, lost)
                loss = self.families.loss_without(first, families[first], left_out[first])
                losses[first] = max(0.0, loss)
            gain += self.gains[first, second]
            if self.gains[first, second] > 0:
                promise = gain - _SHARE_OF_LOSS * sum(losses.values())
                moves.append(_Move(promise, v, place, gain))
        return moves

    def _state_after(self, move: _Move) -> _GrownOrder:
        """Move a variable; choose the inputs of its family and of the affected ones again.

        The cost is infinite if losses end the trial early.
        """
        before = np.argsort(self.state.order)
        order = [u for u in self.state.order if u != move.variable]
        order.insert(move.place, move.variable)
        after = np.argsort(order)
        moved, families = move.variable, list(self.state.families)
        passed = np.flatnonzero((before != after) & (np.arange(len(order)) != moved))
        can_gain = [v for v in passed.tolist() if self.gains[moved, v] > 0]
        can_lose = [v for v in passed.tolist() if (families[v].inputs == moved).any()]
        lost = 0.0
        for v in [*can_lose, moved, *can_gain]:
            grown = self.families.grown(v, families[v], self._allowed(after, v))
            lost += self.families.total([grown]) - self.families.total([families[v]])
            if lost > _MOST_LOST * move.gain:
                return self.state._replace(cost=np.inf)
            families[v] = grown
        return _GrownOrder(order, families, self.families.total(families))
