"""Rounds of local searches on lists of candidates, which are extended between the rounds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.column_problem import FIRST_ROOM, problem_of, work_space
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import ColumnClimb, Found, common_precision
from cosmodag.search.kernel.climb_state import BLOCKERS, HEADER, PATH, PATH_RESIDUAL, PRECISION
from cosmodag.search.local import LocalSearch, Pool, Stopped, pool_of
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from cosmodag.search.wide.lists import Lists
from cosmodag.search.wide.scan import explain_some

# Number of variables from which lists of candidates save more time than they take.
LARGE = 1000
# Maximum number of rounds of searching and of extending the lists, for each of the two scores.
ROUNDS = 8


def search_large(score: ColumnScore, start: ArrayLike, run: Run) -> Found:
    """Find the order, and the graph on it, with the best score near a start; see `search`.

    Moves are tried with parents from lists of candidates (`Lists`), so that the cost of a trial
    does not depend on the number of variables. Once no move helps, the lists are extended by a scan
    of all columns on the order reached, and variables whose records change are tried again. With a
    common noise variance, the first variables to be tried are those whose residual variance is
    larger than the common noise variance explains, because a parent of theirs comes after them. All
    variables are tried at the end: without that, two arcs of 4,000 were reversed (d = 1,000), in
    two thirds of the time. Restarts, by default none, use the final lists.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = search_large(ColumnScore.of(Moments.of(data.X)), np.arange(10), Run.seeded(0))
    >>> found.score > found.start_score
    True
    """
    moments = score.moments
    first = score.constraints.checked(start, score.variables)
    start_graph = score.chosen(first, run)
    with pool_of(run) as pool:
        rounds = _Rounds(score, first, run, pool)
        try:
            if score.criterion.has_common_variance:
                rounds.improve(moments)
                rounds.assume_equal_variances(moments)
                rounds.improve(moments)
            rounds.improve(None)
        except Stopped:
            rounds.ended_early = True
        searched = rounds.order
        if run.restarts and not rounds.ended_early:
            rounds.restart(run.restarts)
        rounds.local = None  # free its memory
    # Restarts compare orders on the lists: among all columns, the order before them may be better.
    orders = [rounds.order, *([searched] if rounds.improved else [])]
    graphs = [score.chosen(order, run) for order in orders]
    return Found.best_of(score, [*orders, first], [*graphs, start_graph], rounds)


class _Rounds:
    """An order, lists of candidates, and rounds of local searches on the lists."""

    def __init__(self, score: ColumnScore, order: NDArray[np.int64], run: Run, pool: Pool) -> None:
        self.order, self.run, self.pool = order, run, pool
        self.slack = score.criterion.slack(score.penalty)
        self.lists = Lists(score.problem(), pool)
        self.residuals: NDArray[np.float64] = np.ones(score.variables)
        self.local: LocalSearch | None = None
        self.moves = 0
        self.restarts = 0
        self.improved: list[tuple[int, float]] = []
        self.ended_early = False

    def improve(self, equal: Moments | None) -> None:
        """Extend the lists and search in turn, until no move helps.

        After the first round, only the variables are tried whose path or blockers change with the
        new lists; once no move helps, all variables are tried. If ``equal`` is given, only the
        variables are tried whose residual variance is clearly above the median (`_suspects`), and
        those whose parents change with a move.
        """
        hashes: list[int] = []
        are_all_tried = equal is not None
        for _ in range(ROUNDS):
            if self.run.should_stop():
                raise Stopped
            self.local = None  # free its memory
            listed = self.lists.extended(self.order)
            local = LocalSearch(listed, self.order, self.pool)
            if equal is not None:
                local.is_due[:] = _suspects(equal, local)
            elif hashes:
                pairs = zip(hashes, _record_hashes(local), strict=True)
                local.is_due[:] = [old != new for old, new in pairs]
            moves = self._improve(local)
            if moves == 0 and hashes and not are_all_tried:
                are_all_tried = True
                local.is_due[:] = 1
                moves = self._improve(local)
            hashes = _record_hashes(local)
            self.run.on_progress(0, local.total)
            if not moves:
                break
            del local

    def _improve(self, local: LocalSearch) -> int:
        """Make moves until none helps, or the search is stopped; return the number of moves."""
        before, self.local = local.moves, local
        try:
            local.improve(self.run.random, self.slack)
        finally:
            self.order, self.residuals = local.order, local.residuals()
            self.moves += local.moves - before
        return local.moves - before

    def restart(self, limit: int) -> None:
        """Restart from perturbed copies of the best order, on the current lists."""
        climb = ColumnClimb(self.run, self.pool, slack=np.inf)
        assert self.local is not None
        climb.best, climb.total = self.order, self.local.total
        climb.restart(self.local, limit)
        self.order, self.ended_early = climb.best, climb.ended_early
        self.moves += climb.moves
        self.restarts, self.improved = climb.restarts, climb.improved

    def assume_equal_variances(self, moments: Moments) -> None:
        """Continue with a common noise variance, the median residual variance."""
        precision = common_precision(moments, self.residuals)
        self.lists.problem = self.lists.problem.with_setting(PRECISION, precision)


def _record_hashes(local: LocalSearch) -> list[int]:
    """Hash the path and blockers of each variable."""
    notes, found = local.state.notes, []
    for record in local.records:
        first = record + HEADER
        last = first + notes[record + PATH] + notes[record + BLOCKERS]
        found.append(hash(np.sort(notes[first:last]).tobytes()))
    return found


def _suspects(moments: Moments, local: LocalSearch) -> NDArray[np.bool_]:
    """Find the variables whose residual variance exceeds the median by three standard errors."""
    squares = moments.own_scales**2
    variances = local.state.reals[local.records + PATH_RESIDUAL] * squares
    varies = moments.has_noise
    if not varies.any():
        return varies
    limit = np.median(variances[varies]) * (1 + 3 / np.sqrt(0.5 * moments.own_rows))
    return np.asarray(varies & (variances > limit))


def unexplained(moments: Moments, penalty: float) -> NDArray[np.float64]:
    """Compute the fraction of each variable's variance that its best few predictors leave.

    Examples
    --------
    >>> moments = Moments.of(np.column_stack([np.arange(9.0), np.arange(9.0), [1.0, 0, 0] * 3]))
    >>> unexplained(moments, 1.0).round(6).tolist()
    [0.0, 0.0, 1.0]
    """
    problem = problem_of(moments, penalty)
    d = problem.variables
    left = np.empty(d)

    def explain(block: Any) -> None:
        at, room = int(block[0]), FIRST_ROOM
        while at <= block[-1]:
            space = work_space(d, min(room, d))
            at = explain_some(
                problem.correlations, problem.settings, at, int(block[-1]) + 1, left, *space
            )
            room *= 2

    with mapper(available_threads()) as run:
        run(explain, np.array_split(np.arange(d), max(1, d // 256)))
    return left
