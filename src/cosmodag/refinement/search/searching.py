"""An order search in progress: its state, its threads, and rounds of moves."""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.moves import Worker, new_worker, place
from cosmodag.refinement.search.rules import Rules
from cosmodag.refinement.search.state import Pool, State, announce, empty_state, new_pool
from cosmodag.refinement.search.trials import DONE, FULL, collect_pairs, evaluate, regrow_all, sweep

__all__ = ["Searching", "Stopped"]

# Longest list of who must hear of a move; beyond it gains are estimates.
WIDTH = 2048
FIRST_CAPACITY = 64
# Multiplications between two questions whether to stop: a fraction of a second.
BUDGET = 200_000_000
# From this size on one variable's trials are work enough to share among threads.
THREADED_FROM = 2000
SWEEPS = 30

Mapper = Callable[[Callable[[Any], Any], Any], list[Any]]


class Stopped(Exception):
    """The search was asked to stop."""


class Searching:
    """The state of a search and what works on it.

    Parameters
    ----------
    rules : Rules
    order : (d,) array of int
    run : function
        Like ``map``, on as many threads as there are workers.
    threads : int
    random : Generator
        Draws the order in which variables are tried.
    should_stop : function
        Asked about every second; raises `Stopped` out of whatever is being done.
    """

    def __init__(
        self,
        rules: Rules,
        order: NDArray[np.int64],
        run: Mapper,
        threads: int,
        random: np.random.Generator,
        should_stop: Callable[[], bool],
    ) -> None:
        d = len(order)
        self.rules = rules
        self.state: State = empty_state(order, min(d, WIDTH))
        self.run = run
        self.threads = threads
        self.random = random
        self.should_stop = should_stop
        self.capacity = min(FIRST_CAPACITY, d)
        self.workers: SimpleQueue[Worker] = SimpleQueue()
        self._hire()
        self.moves = 0
        self.tried = 0
        self._fit()

    def _hire(self) -> None:
        """Make workers for the present capacity."""
        d = len(self.state.order)
        self.workers = SimpleQueue()
        for _ in range(self.threads):
            self.workers.put(new_worker(self.state.key, self.capacity, min(d, WIDTH)))

    def _ask(self) -> None:
        if self.should_stop():
            raise Stopped

    def _widen(self) -> None:
        self.capacity = min(2 * self.capacity, len(self.state.order))
        self._hire()

    def _fit(self) -> None:
        """Grow every variable, and write all lists anew."""
        self._regrow(self.state.order.copy())
        _announce_all(self.state)

    def _regrow(self, variables: NDArray[np.int64]) -> None:
        """Grow some variables on all their predecessors, on all threads."""
        if not len(variables):
            return
        count = (
            1 if len(self.state.order) < THREADED_FROM else min(8 * self.threads, len(variables))
        )
        blocks = np.array_split(variables, count)
        pools = self.run(self._regrow_block, blocks)
        for block, pool in zip(blocks, pools, strict=True):
            self._absorb(block, pool)

    def _regrow_block(self, block: NDArray[np.int64]) -> Pool:
        room = 16
        while True:
            worker = self.workers.get()
            pool = new_pool((room * room + 64) * len(block), 4 * room * len(block))
            worker.key[:] = self.state.key
            done = regrow_all(self.rules, self.state, worker, block, pool)
            narrow = bool(worker.scratch.overflow[0])
            if narrow:
                capacity = min(2 * len(worker.scratch.path), len(self.state.order))
                worker = new_worker(self.state.key, capacity, self.state.hears.shape[1])
                self.capacity = max(self.capacity, capacity)
            self.workers.put(worker)
            if done:
                return pool
            room = room if narrow else 2 * room

    def _absorb(self, block: NDArray[np.int64], pool: Pool) -> None:
        """Copy records into the state's pool."""
        factors, paths = pool.used
        self._make_room(int(factors), int(paths))
        own = self.state.pool
        at, path_at = own.used
        own.factors[at : at + factors] = pool.factors[:factors]
        own.paths[path_at : path_at + paths] = pool.paths[:paths]
        own.kept[path_at : path_at + paths] = pool.kept[:paths]
        self.state.factor_at[block] += at
        self.state.path_at[block] += path_at
        own.used[:] += pool.used

    def _make_room(self, factors: int, paths: int) -> None:
        own = self.state.pool
        if own.used[0] + factors <= len(own.factors) and own.used[1] + paths <= len(own.paths):
            return
        larger = new_pool(2 * (int(own.used[0]) + factors), 2 * (int(own.used[1]) + paths))
        larger.factors[: own.used[0]] = own.factors[: own.used[0]]
        larger.paths[: own.used[1]] = own.paths[: own.used[1]]
        larger.kept[: own.used[1]] = own.kept[: own.used[1]]
        larger.used[:] = own.used
        self.state = self.state._replace(pool=larger)

    def improve(self, dirty: NDArray[np.bool_], without_arcs: bool) -> int:
        """Try some variables, and those that moves change, until no move helps; count the moves."""
        before = self.moves
        self.state.dirty[:] = dirty
        for _ in range(SWEEPS):
            turn = self.random.permutation(len(self.state.order))
            turn = turn[self.state.dirty[turn]]
            if not len(turn):
                break
            if len(self.state.order) < THREADED_FROM:
                self._sweep(turn, without_arcs)
            else:
                self._sweep_on_threads(turn, without_arcs)
        return self.moves - before

    def _sweep(self, turn: NDArray[np.int64], without_arcs: bool) -> None:
        at, status = 0, FULL
        while status != DONE:
            self._ask()
            worker = self.workers.get()
            worker.key[:] = self.state.key
            at, status, pending, moves, tried = sweep(
                self.rules, self.state, worker, turn, at, without_arcs, BUDGET
            )
            self.moves += moves
            self.tried += tried
            narrow = bool(worker.scratch.overflow[0])
            variables = worker.changed[:pending].copy()
            self.workers.put(worker)
            if narrow:
                self._widen()
            if pending:
                self._regrow(variables)
                _settle(self.state, variables)

    def _sweep_on_threads(self, turn: NDArray[np.int64], without_arcs: bool) -> None:
        """Like `_sweep`, with the pairs of a variable shared among threads."""
        for x in turn:
            while self.state.dirty[x]:
                self._ask()
                worker = self.workers.get()
                worker.key[:] = self.state.key
                n = collect_pairs(self.rules, self.state, worker, x, without_arcs)
                tails, heads = worker.tails[:n].copy(), worker.heads[:n].copy()
                pairs = [(tails[i : i + 1], heads[i : i + 1]) for i in range(n)]
                self.workers.put(worker)
                found = self.run(self._evaluate, pairs)
                if any(gain is None for gain, _ in found):
                    self._widen()
                    continue
                self.tried += 1
                gain, move = max(found, key=lambda one: float(one[0]), default=(0.0, tails))
                self.state.dirty[x] = gain > 0
                if gain > 0:
                    self._make(move)
                break

    def _evaluate(self, pair: tuple[Any, Any]) -> tuple[float | None, Any]:
        """Worth and kind of the best move of one pair; None where scratch is too small."""
        worker = self.workers.get()
        worker.key[:] = self.state.key
        gain: float | None = evaluate(self.rules, self.state, worker, *pair)
        if worker.scratch.overflow[0]:
            gain = None
        move = worker.best.copy()
        self.workers.put(worker)
        return gain, move

    def _make(self, move: NDArray[np.int64]) -> None:
        worker = self.workers.get()
        worker.key[:] = self.state.key
        worker.best[:] = move
        variables = worker.changed[: place(self.rules, self.state, worker)].copy()
        self.workers.put(worker)
        self.moves += 1
        self._regrow(variables)
        _settle(self.state, variables)


@borrowing
def _announce_all(state: Any) -> None:
    state.heard_count[:] = 0
    width = state.heard.shape[1]
    for v in range(len(state.order)):
        for i in range(state.hears_count[v]):
            x = state.hears[v, i]
            if state.heard_count[x] < width:
                state.heard[x, state.heard_count[x]] = v
                state.heard_count[x] += 1


@borrowing
def _settle(state: Any, variables: Any) -> None:
    for v in variables:
        announce(state, v)
        state.dirty[v] = True
