"""The order search: a local search, then restarts from perturbed copies of the best order."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.search.column_problem import OrderProblem
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.gaussian_scores import default_restarts
from cosmodag.search.kernel.moves import LEAST_IMPROVEMENT
from cosmodag.search.local import LocalSearch, Memory, Pool, Stopped, pool_of
from cosmodag.search.moments import Moments
from cosmodag.search.order_climb import perturbed
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import Run

# Number of orders that are polished after restarts: the last ones that improved on all before.
# Better parents can change which of them is the best: on a table of 50 variables and 500 rows, an
# order other than the last led to a BIC lower by 9.
FINALISTS = 4
# Maximum number of rounds with a common noise variance, each with the variance that results from
# the previous round.
ROUNDS = 8
# Number of variables from which several threads are worth starting: with 15, two threads took 1.7
# times the CPU time of one, and twice the time.
_SHARED_FROM = 20


class Steps(Protocol):
    """What a climb did."""

    moves: int
    restarts: int
    improved: list[tuple[int, float]]
    ended_early: bool


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a search.

    Attributes
    ----------
    order : (d,) array of int
    graph : RegressionGraph
        The parents chosen on that order; polished after restarts with up to 200 variables.
    score : float
        Total score of the graph; never below that of the start.
    start_score : float
        Total score of the graph on the start.
    moves, restarts : int
        Numbers of moves and restarts made.
    improved : list of (int, float)
        Number of each restart that found a better order, and the score of that order.
    ended_early : bool
        Whether ``run.should_stop`` ended the search.
    is_polished : bool
        Whether the parents were improved by `cosmodag.search.polish`.
    """

    order: NDArray[np.int64]
    graph: RegressionGraph
    score: float
    start_score: float
    moves: int
    restarts: int
    improved: list[tuple[int, float]]
    ended_early: bool
    is_polished: bool = False

    @classmethod
    def best_of(
        cls,
        score: ColumnScore,
        orders: list[NDArray[np.int64]],
        graphs: list[RegressionGraph],
        climb: Steps,
    ) -> "Found":
        """Keep the best of some orders, of which the last is the start."""
        totals = [score.total(graph) for graph in graphs]
        best = int(np.argmax(totals))
        return cls(
            orders[best],
            graphs[best],
            totals[best],
            totals[-1],
            moves=climb.moves,
            restarts=climb.restarts,
            improved=climb.improved,
            ended_early=climb.ended_early,
        )


def search(
    score: ColumnScore, start: ArrayLike, run: Run | None = None, *, with_ends: bool = True
) -> Found:
    r"""Find the order, and the graph on it, with the best score near a start.

    For every arc v → u, four moves put u before v: alone, or with ancestors or descendants in
    between. The best move of each variable is made if it improves the score, until no move does. A
    restart moves a few variables of the best order at random and searches again from there; the
    better order is kept. The search ends after ``run.restarts`` restarts, by default
    `default_restarts`, or after ``run.patience`` consecutive restarts without improvement, by
    default the larger of 20 and a third of the number of variables.

    With a common noise variance, a scale-free search is followed by rounds that fix the noise
    variance at the median residual variance :math:`\sigma^2` and maximise
    :math:`-\tfrac{n}{2} \mathrm{var}(v \mid P)/\sigma^2 - c|P|`.

    Parameters
    ----------
    score : ColumnScore
    start : (d,) array of int
        The start, causes first. It must agree with the constraints.
    run : Run, optional
    with_ends : bool
        Whether the first search also tries each variable at both ends of the order, which takes
        about a third longer and finds hubs; ignored with equal variances.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = search(ColumnScore.of(Moments.of(data.X)), np.arange(10), Run.seeded(0))
    >>> found.score > found.start_score
    True
    """
    run = run or Run()
    criterion, d = score.criterion, score.variables
    first = score.constraints.checked(start, d)
    start_graph = score.chosen(first, run)
    if run.threads is None and d < _SHARED_FROM:
        run = replace(run, threads=1)
    with pool_of(run) as pool:
        climb = ColumnClimb(run, pool, criterion.slack(score.penalty))
        with_ends &= not criterion.has_common_variance
        # Except for moves to the ends, an exact search is not needed with entropies, since no trial
        # ends early anyway, nor with a common variance, since the rounds below follow.
        is_exact = with_ends or not (criterion.needs_table or criterion.has_common_variance)
        local = climb.search(score.problem(), first, score.memory, is_exact, with_ends)
        for _ in range(ROUNDS if criterion.has_common_variance else 0):
            moves = climb.moves
            problem = score.problem(common_precision(score.moments, climb.residuals))
            local = climb.search(problem, climb.best, with_ends=False)
            if climb.moves == moves or climb.ended_early:
                break
        most = default_restarts(d, criterion.name) if run.restarts is None else run.restarts
        climb.restart(local, most)
    is_polished = climb.restarts > 0 and score.can_polish
    finalists = climb.bests[-FINALISTS if is_polished else -1 :][::-1]
    graphs = [score.chosen(order, run) for order in finalists]
    if is_polished:
        graphs = [score.polished(*pair) for pair in zip(finalists, graphs, strict=True)]
    found = Found.best_of(score, [*finalists, first], [*graphs, start_graph], climb)
    return replace(found, is_polished=is_polished)


def common_precision(moments: Moments, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the variance of each variable by the median residual variance."""
    squares = moments.own_scales**2
    varies = moments.has_noise
    median = float(np.median((residuals * squares)[varies])) if varies.any() else 1.0
    return squares / median


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
