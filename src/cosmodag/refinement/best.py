"""The best graph that several starts lead to."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.large import LARGE
from cosmodag.order.polish import POLISHED_UP_TO, polish
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.scores import SCORES
from cosmodag.order.starts.orders import is_wide
from cosmodag.order.tiles.columns import Columns
from cosmodag.refinement.jobs import Job, Result

# Up to this size every start is searched; beyond it the two of best score, since a search from a
# bad one takes most of the time (d = 200, standardised: 185 of 193 s) and found nothing better.
ALL_UP_TO = 40


def best_of(
    job: Job,
    method: str,
    score: str,
    orders: Mapping[str, NDArray[np.int64]],
    restarts: bool = True,
) -> tuple[Result, list[dict[str, Any]]]:
    """Finish every start, and take the best.

    The start of best score is searched first; once two searches have ended at the same score, or
    two have been made among many variables, the other starts are only pruned. Restarts are made
    from the best.
    """
    names = list(orders)
    if method == "order":
        # Rounded, since equal scores differ in their last digits by the units of the columns.
        names.sort(key=lambda name: -round(job.start_total(score, orders[name]), 6))
    results: list[Result] = []
    d = job.moments.variables
    are_two_cheap = d < LARGE or is_wide(d, float(job.moments.rows.max()))
    searches = len(names) if d <= ALL_UP_TO else 2 if are_two_cheap else 1
    for name in names:
        how = method if len(results) < searches else "prune"
        result = job.finish(how, score, name, orders[name])
        if _agree(result, results):
            searches = 0
        results.append(result)
    best = _first_of_best(results)
    most = job.restarts_by(score) if restarts and method == "order" else 0
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
    """Take the result of best score; of equal ones but for rounding, the first."""
    highest = max(result.total for result in results)
    return next(one for one in results if math.isclose(one.total, highest, rel_tol=1e-9))


def _polished(job: Job, score: str, best: Result) -> tuple[RegressionGraph, float]:
    """Look once more at the parents that the best order has, where that costs little."""
    moments = job.moments
    is_large = isinstance(moments, Columns) or moments.variables > POLISHED_UP_TO
    if best.is_polished or is_large or SCORES[score].needs_table:
        return best.graph, best.total
    graph = polish(moments, best.order, best.graph, score=score, **job.arcs)
    total = SCORES[score].total(moments, graph, job.penalty)
    best.entry["after"] = total
    return graph, total


def _agree(result: Result, others: Sequence[Result]) -> bool:
    """Tell whether a search ended where another had, after different moves."""
    return any(math.isclose(result.total, other.total, rel_tol=1e-9) for other in others)


def distinct(orders: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """Drop orders that are there under another name already."""
    seen: set[bytes] = set()
    kept = {}
    for name, order in orders.items():
        key = np.asarray(order, np.int64).tobytes()
        if key not in seen:
            seen.add(key)
            kept[name] = order
    return kept
