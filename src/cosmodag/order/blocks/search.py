"""Order search among blocks: every variable to its best place, then perturbed restarts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.order.blocks.problem import BlockProblem, FoundBlocks
from cosmodag.order.blocks.records import ParentRecords, Records
from cosmodag.order.order_search import search
from cosmodag.order.parents import check_order, choose_parents
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.restarts import perturbed

# More than rounding, in units of log-likelihood.
LEAST_IMPROVEMENT = 1e-6
SWEEPS = 100


def choose_block_parents(problem: BlockProblem, order: ArrayLike) -> FoundBlocks:
    """Choose the parents of each variable among its predecessors.

    Examples
    --------
    A category of three levels, as two indicators, that depends on the first column:

    >>> from cosmodag.order.moments import Moments
    >>> random = np.random.default_rng(0)
    >>> x, y = random.normal(size=(2, 500))
    >>> level = np.digitize(x + random.normal(size=500), [-0.5, 0.5])
    >>> table = np.column_stack([x, y, level == 1, level == 2])
    >>> problem = BlockProblem(Moments.of(table), np.array([1, 1, 2]), penalty=3.0)
    >>> choose_block_parents(problem, [0, 1, 2]).adjacency.astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    checked = check_order(order, problem.variables, problem.precedence)
    if problem.are_columns:
        graph = choose_parents(problem.moments, checked, **_of_columns(problem))
        return _found(checked, graph)
    return Records(problem).found(checked.tolist())


def search_blocks(
    problem: BlockProblem,
    start: ArrayLike,
    *,
    random: np.random.Generator,
    restarts: int | None = None,
    patience: int = 20,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    records: ParentRecords | None = None,
) -> FoundBlocks:
    """Find the order, and on it the graph, of best score near a start.

    Every variable is put to its best place until none moves; then a few variables of the best order
    are moved at random, and the search goes on from there. Where every variable is one column, this
    is `cosmodag.order.search`.

    Parameters
    ----------
    problem : BlockProblem
    start : (d,) array of int
        Causes first.
    random : Generator
    restarts : int, optional
        At most; by default 2,000 / d, and 50 at most.
    patience : int
        Restarts in a row without success after which the search ends.
    should_stop : function, optional
        Asked before every variable; then the best so far is returned.
    on_progress : function, optional
        Called with the number of restarts and the best score after each.
    records : ParentRecords, optional
        Another score, or records of earlier searches by the same score, to be used and added to.
    """
    d = problem.variables
    checked = check_order(start, d, problem.precedence)
    limit = min(50, 2000 // max(d, 1)) if restarts is None else restarts
    if problem.are_columns and records is None:
        columns = search(
            problem.moments,
            checked,
            before=problem.before,
            random=random,
            restarts=limit,
            patience=patience,
            should_stop=should_stop,
            on_progress=on_progress,
            **_of_columns(problem),
        )
        return replace(
            _found(columns.order, columns.graph),
            score=columns.score,
            start_score=columns.start_score,
            restarts=columns.restarts,
            ended_early=columns.ended_early,
        )
    records = Records(problem) if records is None else records
    climb = _Climb(problem, records, should_stop or (lambda: False))
    best = climb.improved(checked.tolist(), random)
    total, made, idle = records.total(best), 0, 0
    bound = climb.bound.astype(np.uint8)
    while made < limit and idle < patience and not climb.was_stopped:
        order = climb.improved(perturbed(np.array(best), random, bound).tolist(), random)
        made, idle = made + 1, idle + 1
        reached = records.total(order)
        if reached > total + LEAST_IMPROVEMENT:
            best, total, idle = order, reached, 0
        if on_progress is not None:
            on_progress(made, total)
    begun, found = records.found(checked.tolist()), records.found(best)
    if found.score < begun.score:
        found = begun
    return replace(found, start_score=begun.score, restarts=made, ended_early=climb.was_stopped)


def _of_columns(problem: BlockProblem) -> dict[str, Any]:
    """Give the price and the arcs of a search in which every variable is one column."""
    penalty = problem.penalty + problem.arc_penalty
    return {"penalty": penalty, "support": problem.support, "required": problem.required}


def _found(order: NDArray[np.int64], graph: RegressionGraph) -> FoundBlocks:
    total = float(graph.scores.sum())
    widths = graph.adjacency().toarray().astype(np.int64)
    return FoundBlocks(order, widths, graph.scores, total, total)


class _Climb:
    """Local search: every variable to its best place, until none moves."""

    def __init__(
        self, problem: BlockProblem, records: ParentRecords, should_stop: Callable[[], bool]
    ) -> None:
        self.records, self.should_stop = records, should_stop
        self.was_stopped = False
        bound, d = problem.precedence, problem.variables
        self.bound = np.zeros((d, d), np.bool_) if bound is None else bound

    def improved(self, order: list[int], random: np.random.Generator) -> list[int]:
        """Give the order that the search ends at."""
        for _ in range(SWEEPS):
            has_moved = False
            for v in np.array(order)[random.permutation(len(order))].tolist():
                if self.was_stopped or self.should_stop():
                    self.was_stopped = True
                    return order
                moved = self._placed_best(order, v)
                has_moved |= moved != order
                order = moved
            if not has_moved:
                break
        return order

    def _placed_best(self, order: list[int], v: int) -> list[int]:
        """Put one variable to its best place."""
        record, bit = self.records.record, 1 << v
        present = order.index(v)
        rest = [u for u in order if u != v]
        low = max((i + 1 for i, u in enumerate(rest) if self.bound[u, v]), default=0)
        high = min((i for i, u in enumerate(rest) if self.bound[v, u]), default=len(rest))
        # Relative to v in front of all: those that v passes no longer have it before them.
        earlier, passed, totals = 0, 0.0, []
        for place, u in enumerate([*rest, v]):
            if low <= place <= high:
                totals.append((record(v, earlier).score + passed, place))
            if place < len(rest) and place < high:
                passed += record(u, earlier).score - record(u, earlier | bit).score
            earlier |= 1 << u
        best, place = max(totals, key=lambda pair: pair[0])
        now = next(total for total, where in totals if where == present)
        if best <= now + LEAST_IMPROVEMENT:
            return order
        return [*rest[:place], v, *rest[place:]]
