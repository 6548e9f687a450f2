"""From an order to a better one: moves of variables along arcs, until none raises the score."""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.kernel.moves import sweep
from cosmodag.order.kernel.state import HEADER, State
from cosmodag.order.problem import Problem, make_room, new_state, new_worker, set_order, widen

# Units of work (about one multiplication each) between two calls of ``should_stop``.
BUDGET = 200_000_000
SWEEPS = 100
# From this size on, the moves of several variables are tried in one state, on several threads.
BATCHED_FROM = 1000
# Variables tried in one state, at least and as a share of all. In larger batches too many moves
# mend the same fault.
BATCH, BATCH_SHARE = 16, 1 / 256
_NO_TURN = np.zeros(0, np.int64)
_NO_PLANS = np.zeros((0, 4))

Mapper = Callable[[Callable[[Any], Any], Any], list[Any]]


class Stopped(Exception):
    """The search was asked to stop."""


def renewed(state: State) -> State:
    """Choose the parents of the variables of a state, or look them up."""
    while True:
        sweep(state, _NO_TURN, _NO_PLANS, -1, 0, 0.0, BUDGET)
        if not state.counters[3]:
            return state
        state = make_room(state)


class LocalSearch:
    """An order, the parents chosen on it, and the moves that raise its score.

    Parameters
    ----------
    problem : Problem
    order : (d,) array of int
        The start, causes first.
    run : function
        Like ``map``, on ``threads`` threads; used from 1,000 variables on, where moves are tried in
        batches.
    threads : int
    should_stop : function
        Called about every second; where it returns True, `Stopped` is raised.
    """

    def __init__(
        self,
        problem: Problem,
        order: NDArray[np.int64],
        run: Mapper,
        threads: int,
        should_stop: Callable[[], bool],
    ) -> None:
        self.problem = problem
        self.set_threads(run, threads, should_stop)
        self.is_batched = problem.variables >= BATCHED_FROM
        self.state: State = new_state(problem, order, threads if self.is_batched else 0)
        self.workers: SimpleQueue[State] = SimpleQueue()
        self.moves = 0
        self.renew()

    def set_threads(self, run: Mapper, threads: int, should_stop: Callable[[], bool]) -> None:
        """Set the threads to use; records are kept."""
        self.run, self.threads, self.should_stop = run, threads, should_stop
        self.workers_of_pool: Any = None

    @property
    def order(self) -> NDArray[np.int64]:
        """The order reached."""
        return np.array(self.state.shared[0])

    @property
    def total(self) -> float:
        """Sum of the local scores."""
        return float(self.state.reals[self.state.shared[1]].sum())

    def parents(self, v: int) -> NDArray[np.int64]:
        """Parents of one variable."""
        record = int(self.state.shared[1, v])
        first = record + HEADER
        return self.state.notes[first : first + self.state.notes[record + 1]].astype(np.int64)

    def residuals(self) -> NDArray[np.float64]:
        """Residual variance of each variable given its parents, as a share of its variance."""
        return np.array(self.state.reals[self.state.shared[1] + 1])

    def renew(self) -> None:
        """Choose the parents on the present order, wherever the present record is not valid."""
        self.state = renewed(self.state)

    def start_from(self, order: NDArray[np.int64]) -> None:
        """Set another order; only variables whose parents change by it are tried next."""
        self.state.shared[3] = 0
        set_order(self.state, order)
        self.renew()

    def improve(self, random: np.random.Generator, slack: float, with_ends: bool = False) -> None:
        """Make moves until no single move raises the score.

        A trial ends once its estimated gain is below the best by more than ``slack``. Moves to both
        ends of the order find what no move along an arc does: a variable with many weak causes has
        no arc to any of them while it comes first.
        """
        mode = 3 if with_ends else 0
        for _ in range(SWEEPS):
            # Permute positions, not indices: the result does not depend on the order of columns.
            turn = self.state.shared[0][random.permutation(self.problem.variables)]
            turn = turn[self.state.shared[3][turn] > 0]
            if not len(turn):
                return
            if self.is_batched:
                self._sweep_in_batches(turn, slack)
            else:
                self._sweep(turn, slack, mode)

    def _sweep(self, turn: NDArray[np.int64], slack: float, mode: int) -> None:
        at = 0
        while at < len(turn):
            if self.should_stop():
                raise Stopped
            at, moves = sweep(self.state, turn, _NO_PLANS, at, mode, slack, BUDGET)
            self.moves += moves
            if self.state.counters[3]:
                self.state = make_room(self.state)
                self.renew()

    def _sweep_in_batches(self, turn: NDArray[np.int64], slack: float) -> None:
        """Evaluate the moves of a few variables in one state, then make their best moves in turn.

        A move that no longer raises the score after the moves before it is tried again in the next
        sweep. The result does not depend on the number of threads.
        """
        size = max(BATCH, int(BATCH_SHARE * self.problem.variables))
        for first in range(0, len(turn), size):
            if self.should_stop():
                raise Stopped
            batch = turn[first : first + size]
            batch = batch[self.state.shared[3][batch] > 0]
            self._sweep_one_batch(batch, slack)

    def _sweep_one_batch(self, batch: NDArray[np.int64], slack: float) -> None:
        plans = self._planned(batch, slack)
        if self.should_stop():
            raise Stopped
        self.state.shared[3, batch] = 0
        best_first = np.argsort(-plans[:, 0], kind="stable")
        best_first = best_first[plans[best_first, 1] >= 0]
        turn, plans, at = batch[best_first], plans[best_first], 0
        while at < len(turn):
            at, moves = sweep(self.state, turn, plans, at, 2, np.inf, BUDGET)
            self.moves += moves
            if self.state.counters[3]:
                self.state = make_room(self.state)
                self.renew()
        self.state.shared[3, turn] = 1

    def _planned(self, batch: NDArray[np.int64], slack: float) -> NDArray[np.float64]:
        """Best move of each variable: gain, v, u, kind (−1 for no move)."""
        self._make_workers()
        # More parts than threads: some variables take much longer than others.
        parts = [part for part in np.array_split(batch, 4 * self.threads) if len(part)]
        found = self.run(lambda part: self._plan(part, slack), parts)
        return np.concatenate([np.zeros((0, 4)), *found])

    def _make_workers(self) -> None:
        """Make workers on the present state, and again where its pool was replaced."""
        if self.workers_of_pool is self.state.notes:
            return
        self.workers_of_pool = self.state.notes
        self.workers = SimpleQueue()
        for number in range(self.threads):
            self.workers.put(new_worker(self.state, number))

    def _plan(self, part: NDArray[np.int64], slack: float) -> NDArray[np.float64]:
        worker = self.workers.get()
        worker.keys[0] = self.state.keys[0]
        plans = np.full((len(part), 4), -1.0)
        at, emptied_for = 0, -1
        while at < len(part) and not self.should_stop():
            at, _ = sweep(worker, part, plans, at, 1, slack, BUDGET)
            if worker.counters[3]:
                # Skip a variable whose trials alone fill a worker's part of the pool.
                is_hopeless = worker.counters[3] == 2 and at == emptied_for
                emptied_for = at if worker.counters[3] == 2 else emptied_for
                worker = widen(worker)
                at += is_hopeless
        self.workers.put(worker)
        return plans
