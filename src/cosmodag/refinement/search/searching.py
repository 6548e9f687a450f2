"""An order search in progress: its state, its threads, and rounds of moves."""

from collections.abc import Callable
from itertools import islice
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.search.grow import new_scratch
from cosmodag.refinement.search.moves import Worker, new_worker, place_apart
from cosmodag.refinement.search.rules import Rules
from cosmodag.refinement.search.state import Pool, State, announce, empty_state, new_pool
from cosmodag.refinement.search.tree import Tree, new_tree, plant
from cosmodag.refinement.search.trials import DONE, FULL, collect_pairs, evaluate, regrow_all, sweep

__all__ = ["Searching", "Stopped", "is_threaded"]

# Longest list of who must hear of a move; beyond it gains are estimates.
WIDTH = 2048
FIRST_CAPACITY = 64
# Multiplications between two questions whether to stop: a fraction of a second.
BUDGET = 200_000_000
# From this size on a batch of variables is work enough to share among threads.
THREADED_FROM = 2000
SWEEPS = 30
# Variables that are tried in one state: their pairs, some eight each, keep 16 threads busy. In
# larger batches too many moves mend the same fault, and have to be taken back later.
BATCH = 16

_NO_MOVE: tuple[float, Any] = (0.0, None)

Mapper = Callable[[Callable[[Any], Any], Any], list[Any]]


def is_threaded(d: int) -> bool:
    """Tell whether a search of d variables works on several threads."""
    return d >= THREADED_FROM


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
    tree : Tree, optional
        Paths that were met before, under the same rules.
    """

    def __init__(
        self,
        rules: Rules,
        order: NDArray[np.int64],
        run: Mapper,
        threads: int,
        random: np.random.Generator,
        should_stop: Callable[[], bool],
        tree: Tree | None = None,
    ) -> None:
        d = len(order)
        self.rules = rules
        self.state: State = empty_state(order, min(d, WIDTH))
        self.run = run
        self.threads = threads
        self.random = random
        self.should_stop = should_stop
        self.capacity = min(FIRST_CAPACITY, d)
        self.tree = self._planted(tree)
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
            self.workers.put(new_worker(self.state.key, self.capacity, min(d, WIDTH), self.tree))

    def _planted(self, tree: Tree | None) -> Tree:
        """Tree with the empty paths in it; an empty one where it cannot be used.

        Threads would write into it at the same time, and required parents, which begin a path, are
        not known to it.
        """
        d = len(self.state.order)
        if is_threaded(d) or len(self.rules.required):
            return new_tree(0)
        tree = new_tree(d) if tree is None else tree
        if not tree.used[0]:
            plant(self.rules, tree, new_scratch(d, 1))
        return tree

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
        count = min(8 * self.threads, len(variables)) if is_threaded(len(self.state.order)) else 1
        blocks = np.array_split(variables, count)
        before = self.capacity
        pools = self.run(self._regrow_block, blocks)
        if self.capacity > before:  # the paths grown may not fit the scratch of other workers
            self._hire()
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
                worker = new_worker(self.state.key, capacity, self.state.hears.shape[1], self.tree)
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
            if is_threaded(len(self.state.order)):
                self._sweep_on_threads(turn, without_arcs)
            else:
                self._sweep(turn, without_arcs)
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
        """Try a few variables at a time, in the same state, their pairs shared among threads.

        The best move of each is made, best first, where it touches nothing that another one of the
        batch touched; the others wait for the next sweep. So nothing depends on the threads.
        """
        for first in range(0, len(turn), BATCH):
            batch = turn[first : first + BATCH]
            batch = batch[self.state.dirty[batch]]
            found = self._tried(batch, without_arcs)
            touched = np.zeros(len(self.state.order), np.bool_)
            best_first = sorted(found, key=lambda one: -one[0])
            changed = [self._make(move, touched) for gain, move in best_first if gain > 0]
            variables = np.concatenate([np.zeros(0, np.int64), *changed])
            self.state.dirty[batch] = [gain > 0 for gain, _ in found]
            self._regrow(variables)
            _settle(self.state, variables)

    def _tried(self, batch: NDArray[np.int64], without_arcs: bool) -> list[tuple[float, Any]]:
        """Worth and kind of the best move of each variable; workers are widened where need be."""
        pairs = self.run(lambda x: self._pairs(x, without_arcs), batch)
        every = [pair for of_one in pairs for pair in of_one]
        while True:
            self._ask()
            found = iter(self.run(self._evaluate, every))
            moves = [list(islice(found, len(of_one))) for of_one in pairs]
            if all(gain >= 0 for of_one in moves for gain, _ in of_one):
                self.tried += len(batch)
                return [max(one, key=lambda m: float(m[0]), default=_NO_MOVE) for one in moves]
            self._widen()

    def _pairs(self, x: int, without_arcs: bool) -> list[tuple[Any, Any]]:
        worker = self.workers.get()
        worker.key[:] = self.state.key
        n = collect_pairs(self.rules, self.state, worker, x, without_arcs)
        tails, heads = worker.tails[:n].copy(), worker.heads[:n].copy()
        self.workers.put(worker)
        return [(tails[i : i + 1], heads[i : i + 1]) for i in range(n)]

    def _evaluate(self, pair: tuple[Any, Any]) -> tuple[float, Any]:
        """Worth and kind of the best move of one pair; −1 where scratch is too small."""
        worker = self.workers.get()
        worker.key[:] = self.state.key
        gain = evaluate(self.rules, self.state, worker, *pair)
        move = worker.best.copy()
        if worker.scratch.overflow[0]:
            gain = -1.0
        self.workers.put(worker)
        return gain, move

    def _make(self, move: NDArray[np.int64], touched: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Make a move unless it touches what is touched; give the variables to be grown anew."""
        worker = self.workers.get()
        worker.key[:] = self.state.key
        worker.best[:] = move
        count = place_apart(self.rules, self.state, worker, touched)
        variables = worker.changed[: max(count, 0)].copy()
        self.workers.put(worker)
        self.moves += count >= 0
        return variables


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
