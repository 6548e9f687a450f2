"""The best graph, with a common noise variance or one of each variable, and the choice of these."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError, DataWarning
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import SCORES
from cosmodag.search.graph_search import (
    ALL_UP_TO,
    Decided,
    GraphSearch,
    Orders,
    Report,
    Result,
)
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from cosmodag.search.starts.orders import (
    EQUAL_VARIANCE,
    HUBS_FIRST,
    RANDOM,
    SCALE_FREE,
    VARIANCE,
    further_starts,
)
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.tiles.tile_pruning import tiles_are_better
from cosmodag.search.variances import Variances, are_plausible, compare_best
from cosmodag.search.wide import LARGE

# Log-likelihood by which a graph found from an order that depends on units must be better.
_CLEARLY = 1.0


def refine_linear(
    data: ArrayLike | Moments,
    starts: Mapping[str, ArrayLike],
    run: Run | None = None,
    *,
    method: str = "order",
    score: str = "auto",
    penalty: float | None = None,
    constraints: Constraints = NO_CONSTRAINTS,
    further: bool = True,
    scale_free: bool = False,
    by_units: Collection[str] = (),
    not_equal: str | None = None,
) -> Decided:
    """Find the DAG with the best score on given orders, or on orders near them.

    Parameters
    ----------
    data : (n, d) array or Moments
    starts : mapping of names to orders
        The orders of a learner; may be empty if ``further`` adds some. Starts that contradict the
        constraints are changed to agree.
    run : Run, optional
        There are by default no restarts for more than 1,000 variables, unless there are far fewer
        rows.
    method : {"prune", "order"}
        Keep the orders and choose parents, or search for better orders near them.
    score : {"auto", "gaussian", "equal-variance"}
        Gaussian likelihood with a noise variance for each variable, which does not depend on units,
        or with a common noise variance. ``"auto"`` uses the latter if its best graph scores higher
        by a margin than the best graph with a variance for each variable.
    penalty : float, optional
        Per arc; by default `default_penalty`.
    constraints : Constraints
    further : bool
        Whether a search also starts from `further_starts`.
    scale_free : bool
        Whether the score with a variance for each variable may start only from orders that do not
        depend on units. Then the result does not depend on units either, even if several graphs
        have the same score.
    by_units : collection of str
        Names of starts that depend on units, in addition to the orders by variances. With
        ``scale_free``, a result from these starts is used only if its score is clearly higher.
    not_equal : str, optional
        Reason, in one sentence, why ``score="auto"`` must not assume equal variances.

    Examples
    --------
    >>> from cosmodag import simulate
    >>> data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    >>> found = refine_linear(data.X, {}, Run.seeded(0))
    >>> bool(np.all((found.weights.toarray() != 0) == data.graph)), found.noise
    (True, 'equal-variance')
    """
    run = run or Run()
    if method not in ("prune", "order"):
        raise DataError(f"method is {method!r}: it must be 'prune' or 'order'.")
    names = tuple(one.name for one in SCORES.values() if not one.needs_table)
    if score not in ("auto", *names):
        raise DataError(f"score is {score!r}: it must be one of 'auto', {names}.")
    is_ruled = constraints.support is not None or constraints.required is not None
    moments = _moments(data, run, in_tiles=method == "prune" and not is_ruled)
    gaussian = ColumnScore.of(moments, penalty=penalty, constraints=constraints)
    searches = GraphSearch(gaussian, run, method)
    orders = {name: constraints.respected(order) for name, order in starts.items()}
    if further and method == "order":
        orders |= further_starts(moments, run.random, constraints, gaussian.penalty)
    if not orders:
        raise DataError("There is no order to start from: give at least one in `starts`.")
    follow_units = {VARIANCE, EQUAL_VARIANCE, *by_units}
    orders = distinct(orders, follow_units if scale_free else ())
    follow_units &= orders.keys()
    can_bar = scale_free and len(orders) > len(follow_units)
    barred = [name for name in orders if name in follow_units] if can_bar else []
    rivals = {name: orders[name] for name in barred if name in by_units}
    if score == "auto":
        return _with_better_variances(searches, orders, barred, rivals, not_equal)
    if SCORES[score].has_common_variance:
        best, report = searches.under(score).best(orders)
    else:
        orders = {name: order for name, order in orders.items() if name not in barred}
        best, report = _gaussian_best(searches, orders, rivals)
    return best.decided(score, f"The score {score!r} was requested.", report)


def _with_better_variances(
    searches: GraphSearch,
    orders: Orders,
    barred: Sequence[str],
    rivals: Orders,
    not_equal: str | None,
) -> Decided:
    """Search with equal variances, if they are plausible, and with unequal ones; choose the better.

    The search with a variance for each variable does not start from the barred orders, except from
    those that are rivals, whose result must score clearly higher (`_gaussian_best`).
    """
    allowed = {name: order for name, order in orders.items() if name not in barred}
    if not_equal is not None:
        best, report = _gaussian_best(searches, allowed, rivals)
        return best.decided("gaussian", not_equal, report)
    moments, run = searches.score.moments, searches.run
    # A separate generator: the scale-free search must draw the same numbers whether or not equal
    # variances are searched, which depends on units.
    for_equal = replace(searches, run=replace(run, random=deepcopy(run.random)))
    uninformed = (RANDOM, SCALE_FREE, HUBS_FIRST)
    trusted = {name: order for name, order in orders.items() if name not in uninformed}
    trusted = trusted or dict(orders)
    pruned = (searches.score.chosen(order, run) for order in trusted.values())
    equal, report = None, []
    if any(are_plausible(moments, graph) for graph in pruned):
        equal, compared, report = _search_equal(for_equal, trusted)
        if compared.are_equal:
            return equal.decided("equal-variance", compared.explanation, report, compared)
        if not barred or equal.ended_early:  # a search that was stopped depends on units anyway
            allowed = {"equal-variance search": equal.order, **allowed}
    best, entries = _gaussian_best(searches, allowed, rivals)
    report += entries
    if equal is None and compare_best(moments, best.graph, best.graph).are_equal:
        starts = {"gaussian search": best.order, **trusted}
        equal, compared, entries = _search_equal(for_equal, starts)
        if compared.are_equal:
            best.entry["chosen"] = False
            report += entries
            return equal.decided("equal-variance", compared.explanation, report, compared)
        report = entries + report
    compared = compare_best(moments, (equal or best).graph, best.graph)
    return best.decided("gaussian", compared.explanation, report, compared)


def _gaussian_best(searches: GraphSearch, orders: Orders, rivals: Orders) -> tuple[Result, Report]:
    """Search with a variance for each variable; use rivals only if they lead to a higher score.

    The score must be clearly higher, so that units never decide between graphs of equal score. A
    better graph that is found only from a rival, an order that depends on units, is nevertheless
    used: of 10 tables (d = 30, degree 4, noise deviations from .5 to 2), one had such a graph, 54
    higher, before restarts moved up to fifteen variables.

    With thousands of variables, only rivals that begin at least as high as the best of the other
    orders are searched: on standardised tables they begin lower, took 116 of 124 s at d = 5,000,
    and won on none of 7 tables. With 50 variables, a rival that began lower won on one of 64
    tables, by 37.
    """
    best, report = searches.best(orders)
    if searches.method == "order" and searches.score.variables >= LARGE:
        best_start = report[0]["before"]  # the order of best score is searched first
        totals = {name: searches.start_total(order) for name, order in rivals.items()}
        rivals = {name: order for name, order in rivals.items() if totals[name] >= best_start}
    if not rivals:
        return best, report
    rival, entries = searches.best(rivals, restarts=False)
    if rival.total <= best.total + _CLEARLY:
        rival.entry["chosen"] = False
        return best, report + entries
    best.entry["chosen"] = rival.entry["chosen"] = False
    found, further = searches.best({"by units": rival.order})
    return found, [*report, *entries, *further]


def _search_equal(searches: GraphSearch, orders: Orders) -> tuple[Result, Variances, Report]:
    """Search with equal variances, and compare the best graph with the best of unequal variances.

    The search with unequal variances is skipped if they already win on the graph found. It starts
    from the order found and from the given orders. With many variables it starts from the order
    found alone: at d = 100 the other starts made the whole fit take 1.43 s instead of .41 s, and
    changed no decision on 3 tables.
    """
    equal, report = searches.under("equal-variance").best(orders)
    moments = searches.score.moments
    compared = compare_best(moments, equal.graph, equal.graph)
    if compared.are_equal:
        starts = {"equal-variance search": equal.order}
        if searches.score.variables <= ALL_UP_TO:
            starts |= orders
        rival, entries = searches.best(starts, restarts=False)
        rival.entry["chosen"] = False
        compared = compare_best(moments, equal.graph, rival.graph)
        report += entries
    equal.entry["chosen"] = compared.are_equal
    return equal, compared, report


def distinct(orders: Orders, rather_not: Collection[str] = ()) -> dict[str, NDArray[np.int64]]:
    """Drop orders that repeat another one; of equal orders the first is kept.

    A name in `rather_not` is kept only if no other name has its order.
    """
    kept: dict[bytes, str] = {}
    for name in sorted(orders, key=lambda name: name in rather_not):
        kept.setdefault(np.asarray(orders[name], np.int64).tobytes(), name)
    names = set(kept.values())
    return {name: order for name, order in orders.items() if name in names}


def _moments(data: ArrayLike | Moments, run: Run, in_tiles: bool) -> Moments:
    """Compute the moments of a table; without correlations if it is pruned in tiles."""
    if isinstance(data, Moments):
        return data
    table = np.asarray(data)
    if in_tiles and table.ndim == 2 and tiles_are_better(table.shape[1], run.device):
        return Columns.of(table)
    moments = Moments.of(table)
    if moments.unit != 1:
        warnings.warn(
            f"The correlations of {moments.variables:,} variables are kept with nine digits to "
            "save memory: variables that others explain to 99.99999 % may have wrong parents.",
            DataWarning,
            stacklevel=2,
        )
    return moments
