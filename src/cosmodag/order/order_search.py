"""The order search: a local search, then restarts from perturbed copies of the best order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.order.moments import Moments
from cosmodag.order.parents import check_order, choose_parents, with_required
from cosmodag.order.polish import POLISHED_UP_TO, polish
from cosmodag.order.problem import problem_of
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.restarts import Climb, Memory
from cosmodag.order.scores import default_penalty, default_restarts, score_for
from cosmodag.solve.machine.threads import available_threads, mapper

# Orders that are polished after restarts. Better parents can change which of them is the best: on a
# table of 50 variables and 500 rows the last but a few led to a BIC lower by 9.
FINALISTS = 4
# Rounds with one noise variance for all, each with the variance of the one before.
ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes
    ----------
    order : (d,) array of int
    graph : RegressionGraph
        The parents chosen on that order; polished after restarts of up to 200 variables.
    score : float
        Total of the score searched for; never below that of the start.
    start_score : float
    moves, restarts : int
    improved : list of (int, float)
        Restarts that found a better order, and its score.
    ended_early : bool
        Whether it was asked to stop.
    is_polished : bool
        Whether `polish` has looked at the parents.
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


# Variables from which several threads are worth starting: with 15, two threads took 1.7 times the
# CPU time of one, and twice the time.
_SHARED_FROM = 20


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
) -> Found:
    r"""Search the order, and on it the graph, of best score near a start.

    An order is scored by the parents that `choose_parents` finds on it:

    .. math:: \sum_v \Big( -\frac{n}{2} \log \mathrm{var}(v \mid P_v) - c\,|P_v| \Big).

    For every arc v → u four moves put u before v, alone or with ancestors or descendants in
    between; for each variable the best one is made if it improves the score, until none does. Then
    a few variables of the best order are moved at random, and the search goes on from there; the
    better order is kept. Restarts end after ``restarts``, or after ``patience`` in a row without
    success.

    With ``score="equal-variance"`` the noise variance is fixed at the median :math:`\sigma^2` of
    what is left, and :math:`-\tfrac{n}{2} \mathrm{var}(v \mid P)/\sigma^2 - c|P|` is maximised, in
    rounds, after a scale-free search.

    Parameters
    ----------
    moments : Moments
    start : (d,) array of int
        The start, causes first.
    random : Generator
        Draws turns and perturbations.
    score : {"gaussian", "equal-variance", "non-gaussian"}
        A noise variance for each variable, or one for all; or noise of any shape
        (`cosmodag.order.entropy.score`), with moments that hold their table.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    support, required : (d, d) arrays of bool, optional
        Arcs that may exist, and arcs that are always in.
    before : (d, d) array of bool, optional
        What must come before what, beside the required arcs; transitively closed. The start must
        agree.
    restarts : int, optional
        At most; by default `default_restarts`, which is 0 with equal variances.
    patience : int, optional
        Restarts in a row without success after which the search ends; by default the larger of 20
        and a third of the number of variables.
    should_stop : function, optional
        Asked about every second; then the best so far is returned.
    on_progress : function, optional
        Called with the number of restarts and the best score after each.
    threads : int, optional
        The result does not depend on it.
    memory : Memory, optional
        Records from searches with the same moments, penalty and rules, to be used and added to.
    with_ends : bool
        Whether the first search also tries each variable at both ends of the order, which costs
        about a third more and finds hubs; not with equal variances.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = search(Moments.of(data.X), np.arange(10), random=np.random.default_rng(0))
    >>> found.score > found.start_score
    True
    """
    aim = score_for(moments, score)
    d = moments.variables
    first = check_order(start, d, before, required)
    before = with_required(before, required)
    penalty = default_penalty(float(moments.rows.max()), d) if penalty is None else float(penalty)
    arcs: dict[str, Any] = {"support": support, "required": required}
    problem_with = partial(problem_of, moments, penalty, before=before, **arcs)

    def choose(order: NDArray[np.int64]) -> RegressionGraph:
        return choose_parents(moments, order, penalty=penalty, threads=threads, **arcs)

    begun = choose(first)
    start_score = aim.total(moments, begun, penalty)
    if threads is None and moments.variables < _SHARED_FROM:
        threads = 1
    count = available_threads(threads)
    with mapper(count) as run:
        stop = should_stop or (lambda: False)
        climb = Climb(run, count, random, stop, on_progress, aim.slack(penalty))
        with_ends &= not aim.has_common_variance
        # Trials by entropies never end early, and rounds follow where one variance is common.
        is_exact = with_ends or not (aim.needs_table or aim.has_common_variance)
        local = climb.search(problem_with(), first, memory, is_exact, with_ends)
        for _ in range(ROUNDS if aim.has_common_variance else 0):
            moves = climb.moves
            problem = problem_with(precision=common_precision(moments, climb.residuals))
            local = climb.search(problem, climb.best, with_ends=False)
            if climb.moves == moves or climb.ended_early:
                break
        most = default_restarts(d, score) if restarts is None else restarts
        climb.restart(local, most, patience)
    is_polished = climb.restarts > 0 and d <= POLISHED_UP_TO and not aim.needs_table
    finalists = climb.bests[-FINALISTS if is_polished else -1 :][::-1]
    graphs = [choose(order) for order in finalists]
    if is_polished:
        pairs = zip(finalists, graphs, strict=True)
        graphs = [polish(moments, *pair, score=score, penalty=penalty, **arcs) for pair in pairs]
    totals = [aim.total(moments, graph, penalty) for graph in graphs]
    best = int(np.argmax(totals))
    order, graph, total = finalists[best], graphs[best], totals[best]
    if total < start_score:
        order, graph, total = first, begun, start_score
    return Found(
        order,
        graph,
        total,
        start_score,
        climb.moves,
        climb.restarts,
        climb.improved,
        climb.ended_early,
        is_polished,
    )


def common_precision(moments: Moments, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance of each variable over the median of what is left of them."""
    squares = moments.own_scales**2
    varies = moments.has_noise
    middle = float(np.median((residuals * squares)[varies])) if varies.any() else 1.0
    return squares / middle
