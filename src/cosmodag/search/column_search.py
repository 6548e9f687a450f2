"""The order search: a local search, then restarts from perturbed copies of the best order."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.search.column_score import ColumnScore
from cosmodag.search.gaussian_scores import default_restarts
from cosmodag.search.local import pool_of
from cosmodag.search.moments import Moments
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.restarts import ColumnClimb
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
