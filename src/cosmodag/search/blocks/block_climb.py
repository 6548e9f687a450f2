"""Order search among blocks: move single variables to their best places, then restart."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.search.blocks.block_problem import BlockProblem, FoundBlocks
from cosmodag.search.blocks.block_records import ParentRecords, Records
from cosmodag.search.column_search import search
from cosmodag.search.kernel.moves import LEAST_IMPROVEMENT
from cosmodag.search.parents import check_order, choose_parents
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.restarts import perturbed

MOST_SWEEPS = 100


def choose_block_parents(problem: BlockProblem, order: ArrayLike) -> FoundBlocks:
    """Choose the parents of each variable among its predecessors.

    Examples
    --------
    A category of three levels, as two indicators, that depends on the first column:

    >>> from cosmodag.search.moments import Moments
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
        graph = choose_parents(problem.moments, checked, **_column_options(problem))
        return _as_blocks(checked, graph)
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
    """Search for the order, and the graph on it, of best score, starting from an order.

    Single variables are moved to their best places until none moves. Each restart moves a few
    variables of the best order at random and searches again. If every variable is one column, this
    is `cosmodag.search.search`.

    Parameters
    ----------
    problem : BlockProblem
    start : (d,) array of int
        Causes first.
    random : Generator
    restarts : int, optional
        Maximum number of restarts; by default 2,000 / d, at most 50.
    patience : int
        The search ends after this number of consecutive restarts without an improvement.
    should_stop : function, optional
        Called before every variable is moved; once it returns True, the best order so far is
        returned.
    on_progress : function, optional
        Called after each restart with the number of restarts and the best score.
    records : ParentRecords, optional
        The score to use, with the records of earlier searches; by default new `Records`.
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
            **_column_options(problem),
        )
        return replace(
            _as_blocks(columns.order, columns.graph),
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


def _column_options(problem: BlockProblem) -> dict[str, Any]:
    """Options of the column search for a problem in which every variable is one column."""
    penalty = problem.penalty + problem.arc_penalty
    return {"penalty": penalty, "support": problem.support, "required": problem.required}


def _as_blocks(order: NDArray[np.int64], graph: RegressionGraph) -> FoundBlocks:
    total = float(graph.scores.sum())
    widths = graph.adjacency().toarray().astype(np.int64)
    return FoundBlocks(order, widths, graph.scores, total, total)


class _Climb:
    """Local search: move each variable to its best place, until none moves."""

    def __init__(
        self, problem: BlockProblem, records: ParentRecords, should_stop: Callable[[], bool]
    ) -> None:
        self.records, self.should_stop = records, should_stop
        self.was_stopped = False
        bound, d = problem.precedence, problem.variables
        self.bound = np.zeros((d, d), np.bool_) if bound is None else bound

    def improved(self, order: list[int], random: np.random.Generator) -> list[int]:
        """Return the order at which the local search ends."""
        for _ in range(MOST_SWEEPS):
            has_moved = False
            for v in np.array(order)[random.permutation(len(order))].tolist():
                if self.was_stopped or self.should_stop():
                    self.was_stopped = True
                    return order
                moved = self._with_best_place(order, v)
                has_moved |= moved != order
                order = moved
            if not has_moved:
                break
        return order

    def _with_best_place(self, order: list[int], v: int) -> list[int]:
        """Move one variable to its best place."""
        record, bit = self.records.record, 1 << v
        present = order.index(v)
        rest = [u for u in order if u != v]
        low = max((i + 1 for i, u in enumerate(rest) if self.bound[u, v]), default=0)
        high = min((i for i, u in enumerate(rest) if self.bound[v, u]), default=len(rest))
        # Totals relative to v at the front; the variables that v passes lose it as a predecessor.
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
