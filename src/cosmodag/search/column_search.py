"""The order search: a local search, then restarts from perturbed copies of the best order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.column_problem import problem_of
from cosmodag.search.gaussian_scores import default_penalty, default_restarts, score_for
from cosmodag.search.moments import Moments
from cosmodag.search.parents import Choose, check_order, choose_parents, with_required
from cosmodag.search.polish import POLISHED_UP_TO, polish
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.restarts import Climb, Memory

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
        Whether ``should_stop`` ended the search.
    is_polished : bool
        Whether the parents were improved by `polish`.
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


def search(
    moments: Moments,
    start: ArrayLike,
    *,
    random: np.random.Generator,
    score: str = "gaussian",
    penalty: float | None = None,
    support: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    before: NDArray[np.bool_] | None = None,
    restarts: int | None = None,
    patience: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    with_ends: bool = True,
    choose: Choose | None = None,
) -> Found:
    r"""Find the order, and the graph on it, with the best score near a start.

    An order is scored by the parents that `choose_parents` finds on it:

    .. math:: \sum_v \Big( -\frac{n}{2} \log \mathrm{var}(v \mid P_v) - c\,|P_v| \Big).

    For every arc v → u, four moves put u before v: alone, or with ancestors or descendants in
    between. The best move of each variable is made if it improves the score, until no move does. A
    restart moves a few variables of the best order at random and searches again from there; the
    better order is kept. The search ends after ``restarts`` restarts, or after ``patience``
    consecutive restarts without improvement.

    With ``score="equal-variance"``, a scale-free search is followed by rounds that fix the noise
    variance at the median residual variance :math:`\sigma^2` and maximise
    :math:`-\tfrac{n}{2} \mathrm{var}(v \mid P)/\sigma^2 - c|P|`.

    Parameters
    ----------
    moments : Moments
    start : (d,) array of int
        The start, causes first.
    random : Generator
        Draws the order in which variables are tried, and the perturbations.
    score : {"gaussian", "equal-variance", "non-gaussian"}
        Gaussian noise with a variance for each variable, Gaussian noise with a common variance, or
        noise of any shape (`cosmodag.search.entropy.score`), which needs moments with their table.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    support, required : (d, d) arrays of bool, optional
        Allowed arcs, and arcs that are always included.
    before : (d, d) array of bool, optional
        Whether u must come before v, at [u, v], in addition to the required arcs; transitively
        closed. The start must agree with it.
    restarts : int, optional
        Maximum number of restarts; by default `default_restarts`, which is 0 with equal variances.
    patience : int, optional
        Number of consecutive restarts without improvement after which the search ends; by default
        the larger of 20 and a third of the number of variables.
    should_stop : function, optional
        Called about every second; when it returns True, the best result so far is returned.
    on_progress : function, optional
        Called after each restart with the number of restarts and the best score.
    threads : int, optional
        Number of threads, which does not affect the result.
    memory : Memory, optional
        Records of earlier searches with the same moments, penalty and constraints; used and
        extended.
    with_ends : bool
        Whether the first search also tries each variable at both ends of the order, which takes
        about a third longer and finds hubs; ignored with equal variances.
    choose : function, optional
        Chooses the parents on an order as `choose_parents` does with these moments, penalty and
        arcs; a caller that has chosen them before may keep the results.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = search(Moments.of(data.X), np.arange(10), random=np.random.default_rng(0))
    >>> found.score > found.start_score
    True
    """
    criterion = score_for(moments, score)
    d = moments.variables
    first = check_order(start, d, before, required)
    before = with_required(before, required)
    penalty = default_penalty(float(moments.rows.max()), d) if penalty is None else float(penalty)
    arcs: dict[str, Any] = {"support": support, "required": required}
    problem_with = partial(problem_of, moments, penalty, before=before, **arcs)

    def choose_here(order: NDArray[np.int64]) -> RegressionGraph:
        return choose_parents(moments, order, penalty=penalty, threads=threads, **arcs)

    choose = choose or choose_here
    start_graph = choose(first)
    if threads is None and d < _SHARED_FROM:
        threads = 1
    count = available_threads(threads)
    with mapper(count) as run:
        stop = should_stop or (lambda: False)
        climb = Climb(run, count, random, stop, on_progress, criterion.slack(penalty))
        with_ends &= not criterion.has_common_variance
        # Except for moves to the ends, an exact search is not needed with entropies, since no trial
        # ends early anyway, nor with a common variance, since the rounds below follow.
        is_exact = with_ends or not (criterion.needs_table or criterion.has_common_variance)
        local = climb.search(problem_with(), first, memory, is_exact, with_ends)
        for _ in range(ROUNDS if criterion.has_common_variance else 0):
            moves = climb.moves
            problem = problem_with(precision=common_precision(moments, climb.residuals))
            local = climb.search(problem, climb.best, with_ends=False)
            if climb.moves == moves or climb.ended_early:
                break
        most = default_restarts(d, score) if restarts is None else restarts
        climb.restart(local, most, patience)
    is_polished = climb.restarts > 0 and d <= POLISHED_UP_TO and not criterion.needs_table
    finalists = climb.bests[-FINALISTS if is_polished else -1 :][::-1]
    graphs = [choose(order) for order in finalists]
    if is_polished:
        pairs = zip(finalists, graphs, strict=True)
        graphs = [polish(moments, *pair, score=score, penalty=penalty, **arcs) for pair in pairs]
    orders, graphs = [*finalists, first], [*graphs, start_graph]
    totals = [criterion.total(moments, graph, penalty) for graph in graphs]
    best = int(np.argmax(totals))
    return Found(
        orders[best],
        graphs[best],
        totals[best],
        totals[-1],
        moves=climb.moves,
        restarts=climb.restarts,
        improved=climb.improved,
        ended_early=climb.ended_early,
        is_polished=is_polished,
    )


def common_precision(moments: Moments, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the variance of each variable by the median residual variance."""
    squares = moments.own_scales**2
    varies = moments.has_noise
    median = float(np.median((residuals * squares)[varies])) if varies.any() else 1.0
    return squares / median
