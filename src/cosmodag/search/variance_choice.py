"""Choice between a common noise variance and a variance for each variable, by their best graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.best import ALL_UP_TO, best_of_starts
from cosmodag.search.jobs import Decided, Job, Result
from cosmodag.search.moments import Moments
from cosmodag.search.starts.orders import HUBS_FIRST, RANDOM, SCALE_FREE
from cosmodag.search.variances import Variances, are_plausible, compare_best
from cosmodag.search.wide import LARGE

# Log-likelihood by which a graph found from an order that depends on units must be better.
_CLEARLY = 1.0


def refine_by_best_score(
    job: Job,
    method: str,
    orders: Mapping[str, NDArray[np.int64]],
    barred: Sequence[str],
    rivals: Mapping[str, NDArray[np.int64]],
    not_equal: str | None,
) -> Decided:
    """Search with equal variances, if they are plausible, and with unequal ones; choose the better.

    The search with a variance for each variable does not start from the barred orders, except from
    those that are rivals, whose result must score clearly higher (`gaussian_best`).
    """
    allowed = {name: order for name, order in orders.items() if name not in barred}
    if not_equal is not None:
        best, report = gaussian_best(job, method, allowed, rivals)
        return Decided.of(best, "gaussian", not_equal, report)
    # A separate generator: the scale-free search must draw the same numbers whether or not equal
    # variances are searched, which depends on units.
    for_equal = replace(job, random=deepcopy(job.random))
    uninformed = (RANDOM, SCALE_FREE, HUBS_FIRST)
    trusted = {name: order for name, order in orders.items() if name not in uninformed}
    trusted = trusted or dict(orders)
    pruned = (job.pruned(order) for order in trusted.values())
    is_plausible = any(are_plausible(job.moments, graph) for graph in pruned)
    equal, report = None, []
    if is_plausible:
        equal, compared, report = _search_equal(for_equal, method, trusted)
        if compared.are_equal:
            return Decided.of(equal, "equal-variance", compared.explanation, report, compared)
        if not barred or equal.ended_early:  # a search that was stopped depends on units anyway
            allowed = {"equal-variance search": equal.order, **allowed}
    best, entries = gaussian_best(job, method, allowed, rivals)
    report += entries
    if equal is None and _compare(job.moments, best, best).are_equal:
        starts = {"gaussian search": best.order, **trusted}
        equal, compared, entries = _search_equal(for_equal, method, starts)
        if compared.are_equal:
            best.entry["chosen"] = False
            report += entries
            return Decided.of(equal, "equal-variance", compared.explanation, report, compared)
        report = entries + report
    compared = _compare(job.moments, equal or best, best)
    return Decided.of(best, "gaussian", compared.explanation, report, compared)


def gaussian_best(
    job: Job,
    method: str,
    orders: Mapping[str, NDArray[np.int64]],
    rivals: Mapping[str, NDArray[np.int64]],
) -> tuple[Result, list[dict[str, Any]]]:
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
    best, report = best_of_starts(job, method, "gaussian", orders)
    if method == "order" and job.moments.variables >= LARGE:
        best_start = report[0]["before"]  # the order of best score is searched first
        totals = {name: job.start_total("gaussian", order) for name, order in rivals.items()}
        rivals = {name: order for name, order in rivals.items() if totals[name] >= best_start}
    if not rivals:
        return best, report
    rival, entries = best_of_starts(job, method, "gaussian", rivals, restarts=False)
    if rival.total <= best.total + _CLEARLY:
        rival.entry["chosen"] = False
        return best, report + entries
    best.entry["chosen"] = rival.entry["chosen"] = False
    found, further = best_of_starts(job, method, "gaussian", {"by units": rival.order})
    return found, [*report, *entries, *further]


def _search_equal(
    job: Job, method: str, orders: Mapping[str, NDArray[np.int64]]
) -> tuple[Result, Variances, list[dict[str, Any]]]:
    """Search with equal variances, and compare the best graph with the best of unequal variances.

    The search with unequal variances is skipped if they already win on the graph found. It starts
    from the order found and from the given orders. With many variables it starts from the order
    found alone: at d = 100 the other starts made the whole fit take 1.43 s instead of .41 s, and
    changed no decision on 3 tables.
    """
    equal, report = best_of_starts(job, method, "equal-variance", orders)
    compared = _compare(job.moments, equal, equal)
    if compared.are_equal:
        starts = {"equal-variance search": equal.order}
        if job.moments.variables <= ALL_UP_TO:
            starts |= orders
        rival, entries = best_of_starts(job, method, "gaussian", starts, restarts=False)
        rival.entry["chosen"] = False
        compared, report = _compare(job.moments, equal, rival), report + entries
    equal.entry["chosen"] = compared.are_equal
    return equal, compared, report


def _compare(moments: Moments, equal: Result, unequal: Result) -> Variances:
    return compare_best(moments, equal.graph, unequal.graph)
