"""Restarts: local searches from perturbed copies of the best order so far."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.search.column_problem import OrderProblem
from cosmodag.search.kernel.moves import LEAST_IMPROVEMENT
from cosmodag.search.local import LocalSearch, Pool, Stopped
from cosmodag.search.search_run import Run

# Maximum number of variables that one perturbation moves.
MOST_MOVED = 15


def perturbed(
    order: NDArray[np.int64], random: np.random.Generator, before: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Move two to fifteen variables by up to a random distance, and restore required precedence.

    The maximum number of moves is half the number of variables, but between 7 and 15. The
    logarithms of the number of moves and of the distance are uniform, so that there are both small
    and large perturbations. With at most seven moves, 7 of 120 searches (d = 30, degree 8, uneven
    noise) ended more than 1 below the best known score, by 11 on average; with fifteen, 1 of 120.
    At equal CPU time both limits reached the same BIC on tables of 50 and 150 variables (degree 10
    and 6); moving up to half of 150 variables reached a worse one. Moving a block, or reversing or
    shuffling a part of the order, in three of ten restarts escaped local optima less often.

    Examples
    --------
    >>> none = np.zeros((0, 0), np.uint8)
    >>> sorted(perturbed(np.arange(9), np.random.default_rng(0), none).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    d = len(order)
    most = min(MOST_MOVED, max(7, d // 2))
    count = int(2 * (most / 2) ** random.random())
    reach = max(3, int(d ** random.random()))
    changed = order.tolist()
    for _ in range(count):
        place = int(random.integers(d))
        other = place + int(random.integers(-reach, reach + 1))
        changed.insert(min(max(other, 0), d - 1), changed.pop(place))
    return respecting(changed, before.astype(np.bool_) if len(before) else None)


@dataclass(eq=False)
class Memory:
    """Records of one problem, which never expire: every search reuses and extends them."""

    local: LocalSearch | None = None


class Reached(NamedTuple):
    """Result of one local search."""

    total: float
    order: NDArray[np.int64]
    moves: int
    was_stopped: bool


class ColumnClimb:
    """Hill climbing with restarts, and the best order found so far.

    With several threads, several restarts run concurrently from the same best order. They are
    evaluated in the order of their numbers: once one has found a better order, the later ones are
    discarded and repeated from it, so that the result does not depend on the number of threads.

    A trial of the quick search ends once its estimated gain is below the best gain by more than
    `slack`.
    """

    def __init__(self, run: Run, pool: Pool, slack: float) -> None:
        self.run, self.pool, self.slack = run, pool, slack
        self.seed = int(run.random.integers(2**62))
        self.best: NDArray[np.int64] = np.zeros(0, np.int64)
        self.bests: list[NDArray[np.int64]] = []
        self.total = -np.inf
        self.residuals: NDArray[np.float64] = np.zeros(0)
        self.moves = 0
        self.restarts = 0
        self.improved: list[tuple[int, float]] = []
        self.ended_early = False

    def search(
        self,
        problem: OrderProblem,
        order: NDArray[np.int64],
        memory: Memory | None = None,
        exact: bool = True,
        with_ends: bool = True,
    ) -> LocalSearch:
        """Search from an order; the order reached becomes the best.

        The first search is a quick one, in which trials end early. If ``exact``, a search follows
        in which no trial ends early and which, if ``with_ends``, also tries both ends of the order.
        """
        if memory is None or memory.local is None:
            local = self._local(problem, order)
        else:
            local = memory.local
            local.set_pool(self.pool)
            local.start_from(order)
            local.is_due[:] = 1
        if memory is not None:
            memory.local = local
        # A search that is stopped returns the best so far: the start, or the quick search's result.
        self.best, self.total = local.order, local.total
        self._report()
        # In 12 searches (6 tables, d = 50 and 150) the exact search after the quick one lowered BIC
        # in 5, by up to 167, and took at most 36 % more time. An exact search alone ended better in
        # some cases and worse in others.
        reached = self._improve(local, 0, self.slack)
        if exact and not reached.was_stopped:
            self.best, self.total = reached.order, reached.total
            self._report()
            local.is_due[:] = 1
            again = self._improve(local, 0, np.inf, with_ends)
            reached = again._replace(moves=again.moves + reached.moves)
        self.best, self.total = reached.order, reached.total
        self.bests = [reached.order]
        self.moves += reached.moves
        self.residuals = local.residuals()
        self.ended_early |= reached.was_stopped
        return local

    def restart(self, local: LocalSearch, limit: int) -> None:
        """Make up to ``limit`` restarts, or fewer after several in a row without improvement.

        Their number, the patience, is by default the larger of 20 and a third of the variables.
        """
        patience = self.run.patience
        if patience is None:
            patience = max(20, local.problem.variables // 3)
        self._report()
        is_sequential = self.pool.threads == 1 or local.is_batched
        searchers = [local]
        idle = 0
        while self.restarts < limit and idle < patience and not self.ended_early:
            # The search of a restart that changes no parents does not call `should_stop`.
            if self.run.should_stop():
                self.ended_early = True
                break
            count = min(self.pool.threads, limit - self.restarts, patience - idle)
            count = 1 if is_sequential else count
            while len(searchers) < count:
                searchers.append(self._local(local.problem, self.best))
            numbers = range(self.restarts + 1, self.restarts + count + 1)
            tasks = list(zip(searchers, numbers, strict=False))
            mapped = map if is_sequential else self.pool.map
            for reached in mapped(self._restart_once, tasks):
                self.restarts += 1
                self.moves += reached.moves
                self.ended_early |= reached.was_stopped
                idle += 1
                if reached.total > self.total + LEAST_IMPROVEMENT:
                    self.best, self.total, idle = reached.order, reached.total, 0
                    self.bests.append(reached.order)
                    self.improved.append((self.restarts, self.total))
                    break
            self._report()

    def _report(self) -> None:
        self.run.on_progress(self.restarts, self.total)

    def _restart_once(self, task: tuple[LocalSearch, int]) -> Reached:
        local, number = task
        random = np.random.default_rng([self.seed, number])
        local.start_from(self.best)
        local.start_from(perturbed(self.best, random, local.problem.before))
        return self._improve(local, number, np.inf)

    def _improve(
        self, local: LocalSearch, number: int, slack: float, with_ends: bool = False
    ) -> Reached:
        random = np.random.default_rng([self.seed, number, 1])
        moves, was_stopped = local.moves, False
        try:
            local.improve(random, slack, with_ends)
        except Stopped:
            was_stopped = True
        return Reached(local.total, local.order, local.moves - moves, was_stopped)

    def _local(self, problem: OrderProblem, order: NDArray[np.int64]) -> LocalSearch:
        return LocalSearch(problem, order, self.pool)
