"""The best graph among blocks of columns, from several starts."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.order import BlockProblem, FoundBlocks, choose_block_parents, search_blocks
from cosmodag.order.blocks import ParentRecords

# Random starts, and up to how many variables they cost little.
_RANDOM, _RANDOM_UP_TO = 2, 60


def best_blocks(
    problem: BlockProblem,
    orders: Mapping[str, NDArray[Any]],
    *,
    random: np.random.Generator,
    method: str = "order",
    restarts: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    records: ParentRecords | None = None,
) -> tuple[FoundBlocks, list[dict[str, Any]]]:
    """Search from every start, and go on from the best.

    Parameters
    ----------
    problem : BlockProblem
    orders : mapping of names to orders
        To start from, beside random ones.
    random : Generator
    method : {"order", "prune"}
        Search for better orders, or choose arcs on those given.
    restarts : int, optional
        From perturbed copies of the best order; by default as many as `search_blocks` makes.
    should_stop : function, optional
    records : ParentRecords, optional
        As for `search_blocks`; all searches share them.

    Returns
    -------
    FoundBlocks
    list of dict
        One record for each start.
    """
    d = problem.variables
    report: list[dict[str, Any]] = []
    starts = {name: respecting(order, problem.precedence) for name, order in orders.items()}
    if method == "order" or not starts:
        for number in range(_RANDOM if d <= _RANDOM_UP_TO else not starts):
            drawn = respecting(random.permutation(d), problem.precedence)
            starts[f"random {number + 1}"] = drawn
    best: FoundBlocks | None = None
    options: dict[str, Any] = {"random": random, "should_stop": should_stop, "records": records}

    def note(name: str, found: FoundBlocks, begin: float) -> None:
        seconds = time.perf_counter() - begin
        entry: dict[str, Any] = {"start": name, "score": "blocks", "before": found.start_score}
        entry |= {"after": found.score, "moves": 0, "seconds": seconds, "chosen": False}
        report.append(entry)

    for name, order in starts.items():
        begin = time.perf_counter()
        if method == "prune":
            choose = choose_block_parents
            found = choose(problem, order) if records is None else records.found(order.tolist())
        else:
            found = search_blocks(problem, order, restarts=0, **options)
        note(name, found, begin)
        if best is None or found.score > best.score:
            best = found
    assert best is not None
    if method == "order" and restarts != 0 and not best.ended_early:
        begin = time.perf_counter()
        best = search_blocks(problem, best.order, restarts=restarts, **options)
        note("best of these, searched further", best, begin)
    totals = [float(entry["after"]) for entry in report]
    report[int(np.argmax(totals))]["chosen"] = True
    return best, report


def turned_losses(
    problem: BlockProblem, records: ParentRecords, found: FoundBlocks
) -> NDArray[np.float64]:
    """Say how much of the score is lost where the head of each arc comes before its tail.

    For an arc u → v, v goes to just before u, or u to just after v, alone or with those in between
    that must move along; parents are chosen anew, and the better of the orders counts: an upper
    bound of what the best graph without that arrow loses.

    Returns
    -------
    (d, d) array
        NaN where there is no arc, infinite for a required one.
    """
    total = records.total(found.order.tolist())
    adjacency = found.adjacency
    losses = np.full(adjacency.shape, np.nan)
    bound = problem.precedence
    for u, v in zip(*np.nonzero(adjacency), strict=True):
        if bound is not None and bound[u, v]:
            losses[u, v] = np.inf
            continue
        turned = np.zeros_like(adjacency) if bound is None else bound.copy()
        turned[v, u] = True
        best = max(records.total(one.tolist()) for one in _turned(found.order, turned, u, v))
        losses[u, v] = max(total - best, 0.0)
    return losses


def _turned(
    order: NDArray[np.int64], before: NDArray[np.bool_], u: int, v: int
) -> list[NDArray[np.int64]]:
    """Give orders near a given one in which v comes before u: u moved back, or v moved forward."""
    listed = order.tolist()
    first, last = listed.index(u), listed.index(v)
    front, middle, end = listed[:first], listed[first + 1 : last], listed[last + 1 :]
    choices = ([*front, v, u, *middle, *end], [*front, *middle, v, u, *end])
    return [respecting(choice, before) for choice in choices]
