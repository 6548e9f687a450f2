"""Choice between one noise variance for all variables and one for each, by their best graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.large import LARGE
from cosmodag.order.moments import Moments
from cosmodag.order.starts.orders import HUBS_FIRST, RANDOM, SCALE_FREE
from cosmodag.refinement.best import ALL_UP_TO, best_of
from cosmodag.refinement.jobs import Decided, Job, Result
from cosmodag.refinement.variances import Variances, are_plausible, compare_best

# Log-likelihood by which a graph that is found from an order by units must be better.
_CLEARLY = 1.0


def refine_by_best_score(
    job: Job,
    method: str,
    orders: Mapping[str, NDArray[np.int64]],
    barred: Sequence[str],
    rivals: Mapping[str, NDArray[np.int64]],
    not_equal: str | None,
) -> Decided:
    """Search with equal variances where they are plausible, and with unequal ones; compare.

    A graph with a variance for each variable is returned from a search that started at one of the
    barred orders only if this is one of the rivals, and the score clearly higher.
    """
    allowed = {name: order for name, order in orders.items() if name not in barred}
    if not_equal is not None:
        best, report = gaussian_best(job, method, allowed, rivals)
        return Decided.of(best, "gaussian", not_equal, report)
    # A generator of its own: the scale-free score then draws the same numbers whether or not
    # equal variances were searched, which depends on units.
    for_equal = replace(job, random=deepcopy(job.random))
    uninformed = (RANDOM, SCALE_FREE, HUBS_FIRST)
    trusted = {name: order for name, order in orders.items() if name not in uninformed}
    trusted = trusted or dict(orders)
    pruned = (job.finish("prune", "gaussian", "", order).graph for order in trusted.values())
    is_plausible = any(are_plausible(job.moments, graph) for graph in pruned)
    equal, report = None, []
    if is_plausible:
        equal, compared, report = _tried_equal(for_equal, method, trusted)
        if compared.are_equal:
            return Decided.of(equal, "equal-variance", compared.explanation, report, compared)
        if not barred or equal.ended_early:  # a search that was cut short depends on units anyway
            allowed = {"equal-variance search": equal.order, **allowed}
    best, entries = gaussian_best(job, method, allowed, rivals)
    report += entries
    if equal is None and _compare(job.moments, best, best).are_equal:
        starts = {"gaussian search": best.order, **trusted}
        equal, compared, entries = _tried_equal(for_equal, method, starts)
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
    """Search with a variance for each variable, and from rivals whether they lead clearly higher.

    Which of several graphs of one score is found thus does not depend on units, but a better graph
    that only an order by units leads to is not lost: of 10 tables (d = 30, degree 4, noise
    deviations from .5 to 2) there was one, 54 higher, until restarts moved up to fifteen variables.
    Among thousands of variables only rivals that begin as high as the best of the other orders are
    searched: on standardised tables they begin lower, took 116 of 124 s at d = 5,000, and won on
    none of 7 tables. Of 50 variables a rival that began lower won on one of 64, by 37.
    """
    best, report = best_of(job, method, "gaussian", orders)
    if method == "order" and job.moments.variables >= LARGE:
        begun = report[0]["before"]  # of the order of best score
        totals = {name: job.start_total("gaussian", order) for name, order in rivals.items()}
        rivals = {name: order for name, order in rivals.items() if totals[name] >= begun}
    if not rivals:
        return best, report
    rival, entries = best_of(job, method, "gaussian", rivals, restarts=False)
    if rival.total <= best.total + _CLEARLY:
        rival.entry["chosen"] = False
        return best, report + entries
    best.entry["chosen"] = rival.entry["chosen"] = False
    found, further = best_of(job, method, "gaussian", {"by units": rival.order})
    return found, [*report, *entries, *further]


def _tried_equal(
    job: Job, method: str, orders: Mapping[str, NDArray[np.int64]]
) -> tuple[Result, Variances, list[dict[str, Any]]]:
    """Search with equal variances, and compare the best graph with the best of unequal ones.

    The second search is left out where unequal variances win on the graph found already. It starts
    from the same orders and from the one found; among many variables from that one alone: at
    d = 100 the others made the whole fit take 1.43 s in place of .41 s, and changed no decision on
    3 tables.
    """
    equal, report = best_of(job, method, "equal-variance", orders)
    compared = _compare(job.moments, equal, equal)
    if compared.are_equal:
        starts = {"equal-variance search": equal.order}
        if job.moments.variables <= ALL_UP_TO:
            starts |= orders
        rival, entries = best_of(job, method, "gaussian", starts, restarts=False)
        rival.entry["chosen"] = False
        compared, report = _compare(job.moments, equal, rival), report + entries
    equal.entry["chosen"] = compared.are_equal
    return equal, compared, report


def _compare(moments: Moments, equal: Result, unequal: Result) -> Variances:
    return compare_best(moments, equal.graph, unequal.graph)
