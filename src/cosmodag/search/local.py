"""Local search: move variables along arcs of the graph until no move raises the score."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.column_problem import (
    OrderProblem,
    make_room,
    make_worker_room,
    new_state,
    new_worker,
    set_order,
    with_worker_pools,
)
from cosmodag.search.kernel import climb_state as slot
from cosmodag.search.kernel.climb_state import State
from cosmodag.search.kernel.moves import EXECUTE, PLAN, TRY, TRY_ENDS, sweep
from cosmodag.search.search_run import Run

# Work between two calls of ``should_stop``, in units of about one multiplication.
BUDGET = 200_000_000
# Maximum number of sweeps over the variables.
SWEEPS = 100
# Number of variables from which moves are evaluated in batches, on several threads.
BATCHED_FROM = 1000
# Variables in a batch: at least this number, and at least this share of all variables. In larger
# batches, too many moves repair the same fault.
BATCH, BATCH_SHARE = 16, 1 / 256
_NO_TURN = np.zeros(0, np.int64)
_NO_PLANS = np.zeros((0, 4))


class Pool(NamedTuple):
    """Threads that evaluate moves, and the function that says when they stop.

    ``map`` is like the built-in one, on the threads.
    """

    map: Callable[[Callable[[Any], Any], Any], list[Any]]
    threads: int
    should_stop: Callable[[], bool]


@contextmanager
def pool_of(run: Run) -> Iterator[Pool]:
    """Start the threads of a search."""
    threads = available_threads(run.threads)
    with mapper(threads) as mapped:
        yield Pool(mapped, threads, run.should_stop)


class Stopped(Exception):
    """Raised when ``should_stop`` returns True during a search."""


def renew_records(state: State) -> State:
    """Choose the parents of all variables on the current order, or look up valid records of them.

    Returns the state, with more space if it was too small.
    """
    while True:
        sweep(state, _NO_TURN, _NO_PLANS, -1, TRY, 0.0, BUDGET)
        if not state.counters[slot.TOO_SMALL]:
            return state
        state = make_room(state)


class LocalSearch:
    """An order, the parents chosen on it, and the moves that raise its score.

    The threads of the pool are used from 1,000 variables, where moves are evaluated in batches.
    `Stopped` is raised about a second after the pool says so.
    """

    def __init__(self, problem: OrderProblem, order: NDArray[np.int64], pool: Pool) -> None:
        self.problem = problem
        self.set_pool(pool)
        self.is_batched = problem.variables >= BATCHED_FROM
        self.state: State = new_state(problem, order)
        self.workers: SimpleQueue[State] = SimpleQueue()
        self.moves = 0
        self.renew()

    def set_pool(self, pool: Pool) -> None:
        """Set the threads to use; records are kept."""
        self.pool = pool
        self.workers_of_pool: Any = None

    @property
    def order(self) -> NDArray[np.int64]:
        """The current order."""
        return np.array(self.state.shared[slot.ORDER])

    @property
    def records(self) -> NDArray[np.int64]:
        """The place in the pool of the current record of each variable."""
        return self.state.shared[slot.RECORD]

    @property
    def is_due(self) -> NDArray[np.int64]:
        """Whether the moves of each variable remain to be tried; may be written to."""
        return self.state.shared[slot.IS_DUE]

    @property
    def total(self) -> float:
        """Sum of the local scores."""
        return float(self.state.reals[self.records].sum())

    def residuals(self) -> NDArray[np.float64]:
        """Residual variance of each variable given its parents, as a share of its variance."""
        return np.array(self.state.reals[self.records + slot.RESIDUAL])

    def renew(self) -> None:
        """Choose the parents of every variable whose record is not valid on the current order."""
        self.state = renew_records(self.state)

    def start_from(self, order: NDArray[np.int64]) -> None:
        """Set another order; only variables whose parents change with it are tried next."""
        self.is_due[:] = 0
        set_order(self.state, order)
        self.renew()

    def improve(self, random: np.random.Generator, slack: float, with_ends: bool = False) -> None:
        """Make moves until no single move raises the score.

        A trial ends once its estimated gain is below the best gain by more than ``slack``. Moves to
        both ends of the order find what no move along an arc finds: a variable with many weak
        causes has no arc to any of them while it comes first.
        """
        for _ in range(SWEEPS):
            # Permute positions, not indices: the result does not depend on the order of columns.
            turn = self.state.shared[slot.ORDER][random.permutation(self.problem.variables)]
            turn = turn[self.is_due[turn] > 0]
            if not len(turn):
                return
            if self.is_batched:
                self._sweep_in_batches(turn, slack)
            else:
                self._sweep(turn, slack, TRY_ENDS if with_ends else TRY)

    def _sweep(self, turn: NDArray[np.int64], slack: float, mode: int) -> None:
        at = 0
        while at < len(turn):
            if self.pool.should_stop():
                raise Stopped
            at, moves = sweep(self.state, turn, _NO_PLANS, at, mode, slack, BUDGET)
            self.moves += moves
            self._make_room()

    def _make_room(self) -> None:
        """Enlarge the space that was too small, if any, and renew the records."""
        if self.state.counters[slot.TOO_SMALL]:
            self.state = make_room(self.state)
            self.renew()

    def _sweep_in_batches(self, turn: NDArray[np.int64], slack: float) -> None:
        """Evaluate the moves of a few variables in one state, then make their best moves in turn.

        A move that no longer raises the score after the moves made before it is tried again in the
        next sweep. The result does not depend on the number of threads.
        """
        size = max(BATCH, int(BATCH_SHARE * self.problem.variables))
        for first in range(0, len(turn), size):
            if self.pool.should_stop():
                raise Stopped
            batch = turn[first : first + size]
            self._sweep_one_batch(batch[self.is_due[batch] > 0], slack)

    def _sweep_one_batch(self, batch: NDArray[np.int64], slack: float) -> None:
        plans = self._planned(batch, slack)
        if self.pool.should_stop():
            raise Stopped
        self.is_due[batch] = 0
        best_first = np.argsort(-plans[:, 0], kind="stable")
        best_first = best_first[plans[best_first, 1] >= 0]
        turn, plans, at = batch[best_first], plans[best_first], 0
        while at < len(turn):
            at, moves = sweep(self.state, turn, plans, at, EXECUTE, np.inf, BUDGET)
            self.moves += moves
            self._make_room()
        self.is_due[turn] = 1

    def _planned(self, batch: NDArray[np.int64], slack: float) -> NDArray[np.float64]:
        """Best move of each variable: gain, v, u, kind (v is −1 for no move)."""
        self._make_workers()
        # More parts than threads: some variables take much longer than others.
        parts = [part for part in np.array_split(batch, 4 * self.pool.threads) if len(part)]
        found = self.pool.map(lambda part: self._plan(part, slack), parts)
        return np.concatenate([np.zeros((0, 4)), *found])

    def _make_workers(self) -> None:
        """Create the workers, unless there are workers for the current pool of records."""
        if self.workers_of_pool is self.state.notes:
            return
        self.state = with_worker_pools(self.state, self.pool.threads)
        self.workers_of_pool = self.state.notes
        self.workers = SimpleQueue()
        for number in range(self.pool.threads):
            self.workers.put(new_worker(self.state, number))

    def _plan(self, part: NDArray[np.int64], slack: float) -> NDArray[np.float64]:
        worker = self.workers.get()
        worker.keys[slot.POSITION] = self.state.keys[slot.POSITION]
        plans = np.full((len(part), 4), -1.0)
        at, emptied_for = 0, -1
        while at < len(part) and not self.pool.should_stop():
            at, _ = sweep(worker, part, plans, at, PLAN, slack, BUDGET)
            if worker.counters[slot.TOO_SMALL]:
                # Skip a variable whose trials alone fill a worker's part of the pool.
                is_full = worker.counters[slot.TOO_SMALL] == slot.POOL_SPACE
                is_hopeless = is_full and at == emptied_for
                emptied_for = at if is_full else emptied_for
                worker = make_worker_room(worker)
                at += is_hopeless
        self.workers.put(worker)
        return plans


@dataclass(eq=False)
class Memory:
    """Records of one problem, which never expire: every search reuses and extends them."""

    local: LocalSearch | None = None
