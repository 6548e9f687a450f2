"""Search among blocks of columns from several starts, and the evidence for each direction."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.search.blocks import BlockProblem, choose_block_parents, search_blocks
from cosmodag.search.local_scores import FoundBlocks, Score
from cosmodag.search.search_run import Run

# Number of random starts, and the number of variables up to which they take little time.
_RANDOM_STARTS, _MOST_VARIABLES = 2, 60


def best_blocks(
    problem: BlockProblem,
    orders: Mapping[str, NDArray[Any]],
    run: Run,
    *,
    method: str = "order",
    score: Score | None = None,
) -> tuple[FoundBlocks, list[dict[str, Any]]]:
    """Search from every start, then with restarts from the best result.

    Random orders are added to the given ones, which have names, if there are none, and to a search
    of few variables. `method` is ``"order"``, to search for better orders, or ``"prune"``, to
    choose arcs on the given ones; `score` is as for `search_blocks`. The report has an entry per
    search: its start, its scores before and after, its time, and whether it was chosen.
    """
    d, respected = problem.variables, problem.constraints.respected
    report: list[dict[str, Any]] = []
    starts = {name: respected(order) for name, order in orders.items()}
    if method == "order" or not starts:
        for number in range(_RANDOM_STARTS if d <= _MOST_VARIABLES else not starts):
            starts[f"random {number + 1}"] = respected(run.random.permutation(d))

    def searched(name: str, order: NDArray[Any], most: int | None) -> FoundBlocks:
        begin = time.perf_counter()
        if method == "prune":
            on_order = score.found if score else partial(choose_block_parents, problem)
            found = on_order(order.tolist())
        else:
            found = search_blocks(problem, order, run.with_restarts(most), score)
        seconds = time.perf_counter() - begin
        entry: dict[str, Any] = {"start": name, "score": "blocks", "before": found.start_score}
        entry |= {"after": found.score, "moves": 0, "seconds": seconds, "chosen": False}
        report.append(entry)
        return found

    results = [searched(name, order, 0) for name, order in starts.items()]
    best = max(results, key=lambda found: found.score)
    if method == "order" and run.restarts != 0 and not best.ended_early:
        best = searched("best of these, searched further", best.order, run.restarts)
    totals = [float(entry["after"]) for entry in report]
    report[int(np.argmax(totals))]["chosen"] = True
    return best, report


def turned_losses(
    found: FoundBlocks,
    total_of: Callable[[NDArray[np.int64]], float],
    bound: NDArray[np.bool_] | None,
    should_stop: Callable[[], bool],
) -> NDArray[np.float64]:
    """Compute the loss of score if the head of each arc must come before its tail.

    For an arc u → v, v is moved to just before u, or u to just after v, with those in between that
    must move along, where `bound` has which u must come before v. `total_of` is the score of the
    best graph on an order, and the better order counts. The result is an upper bound on the loss of
    the best graph in which v comes before u. It is at [u, v]; NaN if there is no such arc, or once
    `should_stop` returns True; infinite if its direction is required.
    """
    adjacency = found.adjacency
    losses = np.full(adjacency.shape, np.nan)
    if should_stop():
        return losses
    total = total_of(found.order)
    for u, v in zip(*np.nonzero(adjacency), strict=True):
        if bound is not None and bound[u, v]:
            losses[u, v] = np.inf
            continue
        turned = np.zeros_like(adjacency) if bound is None else bound.copy()
        turned[v, u] = True
        orders = _orders_with_first(found.order, turned, v, u)
        best = max(total_of(order) for order in orders)
        if should_stop():
            break
        losses[u, v] = max(total - best, 0.0)
    return losses


def _orders_with_first(
    order: NDArray[np.int64], before: NDArray[np.bool_], v: int, u: int
) -> list[NDArray[np.int64]]:
    """Move v to just before u, or u to just after v; `before` is then restored."""
    listed = order.tolist()
    first, last = listed.index(u), listed.index(v)
    front, middle, end = listed[:first], listed[first + 1 : last], listed[last + 1 :]
    choices = ([*front, v, u, *middle, *end], [*front, *middle, v, u, *end])
    return [respecting(choice, before) for choice in choices]
