"""The best graph found from several starts."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.gaussian_scores import SCORES
from cosmodag.search.jobs import Job, Result
from cosmodag.search.polish import POLISHED_UP_TO, polish
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.starts.orders import is_wide
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.wide import LARGE

# Maximum number of variables for which every start is searched. With more, only the two starts of
# best score are searched: a search from a bad start takes most of the time (d = 200, standardised:
# 185 of 193 s) and found nothing better.
ALL_UP_TO = 40


def best_of_starts(
    job: Job,
    method: str,
    score: str,
    orders: Mapping[str, NDArray[np.int64]],
    restarts: bool = True,
) -> tuple[Result, list[dict[str, Any]]]:
    """Search from every start, or prune it, and return the best result with a report of all.

    The start of best score is searched first. Once two searches have ended at the same score, the
    remaining starts are only pruned. With more than `ALL_UP_TO` variables at most two starts are
    searched, and with thousands only one, unless rows are few. Restarts begin from the best result.
    """
    names = list(orders)
    if method == "order":
        # Rounded, because the last digits of equal scores depend on the units of the columns.
        names.sort(key=lambda name: -round(job.start_total(score, orders[name]), 6))
    results: list[Result] = []
    d = job.moments.variables
    are_cheap = d < LARGE or is_wide(d, float(job.moments.rows.max()))
    searches = len(names) if d <= ALL_UP_TO else 2 if are_cheap else 1
    for name in names:
        result = job.finish(
            method if len(results) < searches else "prune", score, name, orders[name]
        )
        if any(_are_equal(result.total, other.total) for other in results):
            searches = 0
        results.append(result)
    best = _first_of_best(results)
    most = job.most_restarts(score) if restarts and method == "order" else 0
    if most:
        name = f"{best.entry['start']}, searched"
        best = job.finish(method, score, name, best.order, restarts=most)
        results.append(best)
    best.entry["chosen"] = True
    early = any(result.ended_early for result in results)
    report = [result.entry for result in results]
    graph, total = _polished(job, score, best)
    return Result(best.order, graph, total, best.entry, early), report


def _first_of_best(results: Sequence[Result]) -> Result:
    """Return the result of best score; the first one if several are equal up to rounding."""
    highest = max(result.total for result in results)
    return next(one for one in results if _are_equal(one.total, highest))


def _are_equal(first: float, second: float) -> bool:
    """Whether two scores are equal up to rounding."""
    return math.isclose(first, second, rel_tol=1e-9)


def _polished(job: Job, score: str, best: Result) -> tuple[RegressionGraph, float]:
    """Polish the parents on the best order, if that is cheap; also return the total."""
    moments = job.moments
    is_large = isinstance(moments, Columns) or moments.variables > POLISHED_UP_TO
    if best.is_polished or is_large or SCORES[score].needs_table:
        return best.graph, best.total
    graph = polish(moments, best.order, best.graph, score=score, **job.arcs)
    total = SCORES[score].total(moments, graph, job.penalty)
    best.entry["after"] = total
    return graph, total


def distinct(
    orders: Mapping[str, NDArray[np.int64]], rather_not: Collection[str] = ()
) -> dict[str, NDArray[np.int64]]:
    """Drop orders that repeat another one; of equal orders the first is kept.

    A name in `rather_not` is kept only if no other name has its order.
    """
    kept: dict[bytes, str] = {}
    for name in sorted(orders, key=lambda name: name in rather_not):
        kept.setdefault(np.asarray(orders[name], np.int64).tobytes(), name)
    names = set(kept.values())
    return {name: order for name, order in orders.items() if name in names}
