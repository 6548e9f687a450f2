"""Graphs of tables of categories alone: parents act jointly, or their effects add up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search import BlockProblem, FoundBlocks
from cosmodag.search.blocks import BlockScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.counted.counted_problem import CHEAP, DEAR, CountedProblem
from cosmodag.search.counted.counted_search import CountedSearch, FoundCounts
from cosmodag.search.counted.level_graphs import LevelGraph
from cosmodag.search.mixed.mixed_search import best_blocks
from cosmodag.search.mixed.multinomial_search import turn_and_drop
from cosmodag.search.mixed.table import BlockTable
from cosmodag.search.search_run import Run

# Effects of levels add up in a search of its own if the indicators of all levels are at most this
# many columns, or if every variable has two levels.
_MOST_INDICATORS = 100

Order = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoryGraph:
    """A graph that a search among categories has found."""

    name: str
    problem: BlockProblem
    found: FoundBlocks
    report: list[dict[str, Any]]
    total_of: Callable[[Order], float] = field(repr=False)  # score of the best graph on an order

    @property
    def as_levels(self) -> LevelGraph:
        """The graph without what its search knows."""
        found = self.found
        joint = np.zeros(len(found.order), np.bool_) if found.joint is None else found.joint
        return LevelGraph(self.name, found.adjacency, joint)


class CategorySearches:
    """Searches of a table of categories by several scores.

    `orders` are named starts, and `method` is that of
    `cosmodag.search.mixed.mixed_search.best_blocks`.
    """

    def __init__(
        self,
        table: BlockTable,
        problem: BlockProblem,
        orders: Mapping[str, NDArray[Any]],
        run: Run,
        method: str,
    ) -> None:
        self.table, self.problem, self.orders = table, problem, dict(orders)
        self.seed = int(run.random.integers(2**62))
        self.run, self.method, self.should_stop = run, method, run.should_stop

    def _seeded(self) -> Run:
        """Return settings with the same random numbers for every search."""
        return replace(self.run, random=np.random.default_rng(self.seed))

    def graphs(self) -> list[CategoryGraph]:
        """Search by two prices of joint effects, and with effects that add up, in this order.

        Effects that add up are an assumption, which tables of counts do not make: they come last. A
        stop leaves out the searches that have not begun.
        """
        problem = counted_problem(self.table, self.problem)
        counting = CountedSearch(problem, self.should_stop)
        found: list[CategoryGraph] = []
        for price in (DEAR, CHEAP):
            if not found or not self.should_stop():
                one = counting.best(
                    price,
                    self.orders,
                    random=np.random.default_rng(self.seed),
                    method=self.method,
                    restarts=self.run.restarts,
                )
                found.append(self._jointly(problem, one))
        widths = self.table.embedding.widths
        if self.should_stop() or (widths.max() > 1 and widths.sum() > _MOST_INDICATORS):
            return found
        return [*found, self._added(counting.places, found)]

    def _jointly(self, problem: CountedProblem, one: FoundCounts) -> CategoryGraph:
        adjacency, has_room = one.adjacency.copy(), problem.has_room
        if problem.required is not None:  # with more cells than rows, their effects add up
            adjacency |= problem.required & ~has_room
        found = FoundBlocks(
            one.order,
            adjacency * self.table.embedding.widths[:, None],
            one.scores,
            one.score,
            one.score,
            ended_early=one.ended_early,
            joint=adjacency.any(axis=0) & has_room,
        )
        name = f"joint effects of levels ({one.price.name})"
        return CategoryGraph(name, self.problem, found, one.report, one.total_of)

    def _added(self, places: Order, others: list[CategoryGraph]) -> CategoryGraph:
        """Search with effects that add up, on columns in the order of their content."""
        inside, square = np.argsort(places), np.ix_(places, places)
        table = self.table.with_columns(places)
        constraints = self.problem.constraints
        masks = (constraints.support, constraints.required, constraints.before)
        moved = (None if mask is None else mask[square] for mask in masks)
        problem = table.problem(Constraints(*moved))
        added = BlockScore(problem)
        starts = self.orders
        if self.method == "order":
            starts = starts | {one.report[0]["start"]: one.found.order for one in others}
        found, report = best_blocks(
            problem,
            {name: inside[order] for name, order in starts.items()},
            self._seeded(),
            method=self.method,
            score=None if problem.are_columns else added,
        )
        if self.method == "order":
            found = turn_and_drop(table, problem, found, self.should_stop, added)
        outside = np.ix_(inside, inside)
        found = replace(
            found,
            order=places[found.order],
            widths=found.widths[outside],
            scores=found.scores[inside],
        )

        def total_of(order: Order) -> float:
            return added.total(inside[order].tolist())

        return CategoryGraph("effects that add up", self.problem, found, report, total_of)


def counted_problem(table: BlockTable, problem: BlockProblem) -> CountedProblem:
    """Take the levels of a table, and the constraints of its search."""
    embedding = table.embedding
    columns = [embedding.levels_of(table.X[:, v], v) for v in range(problem.variables)]
    return CountedProblem(
        np.column_stack(columns),
        embedding.widths + 1,
        None if table.counted is None else table.counted > 0,
        table.share,
        problem.constraints.support,
        problem.constraints.required,
        problem.constraints.before,
    )
