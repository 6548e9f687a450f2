"""Search among categories: from several starts, then from perturbed copies of the best order."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.search.counted.count_state import empty_graph
from cosmodag.search.counted.counted_climb import CountedClimb, CountedMemory, Stopped, never
from cosmodag.search.counted.counted_moves import LEAST_MOVE, copy_graph
from cosmodag.search.counted.counted_problem import CellPrice, CountedProblem

# Largest number of restarts by rule, and the number of restarts times variables.
_MOST_RESTARTS, _RESTART_WORK = 300, 10_000

Bools = NDArray[np.bool_]
Order = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoundCounts:
    """The best graph of a search among categories, in the order of the table's columns."""

    price: CellPrice
    order: Order
    adjacency: Bools  # (d, d): at [u, v] whether u → v
    scores: NDArray[np.float64]  # (d,)
    report: list[dict[str, Any]]
    ended_early: bool
    # Score of the best graph on an order.
    total_of: Callable[[Order], float] = field(repr=False)

    @property
    def score(self) -> float:
        """Total score."""
        return float(self.scores.sum())


class CountedSearch:
    """Searches of one table, which share what was counted.

    Inside, columns stand in an order computed from their content, so that permuting the columns of
    a table permutes the result.

    Examples
    --------
    >>> from cosmodag.search.counted.counted_problem import BIC
    >>> random = np.random.default_rng(0)
    >>> a, b = random.integers(0, 2, (2, 600))
    >>> c = np.where(random.random(600) < 0.1, 1 - (a ^ b), a ^ b)
    >>> problem = CountedProblem(np.column_stack([c, a, b]), np.full(3, 2))
    >>> found = CountedSearch(problem).best(BIC, {}, random=random)
    >>> (found.adjacency | found.adjacency.T).sum(axis=0).tolist()  # three variables, three arcs?
    [2, 1, 1]
    """

    def __init__(self, problem: CountedProblem, should_stop: Callable[[], bool] | None = None):
        self.places = problem.places
        self.problem = problem.with_columns(self.places)
        self.memory = CountedMemory.of(self.problem)
        self.should_stop = should_stop or never

    def best(
        self,
        price: CellPrice,
        orders: Mapping[str, NDArray[Any]],
        *,
        random: np.random.Generator,
        method: str = "order",
        restarts: int | None = None,
        patience: int | None = None,
    ) -> FoundCounts:
        """Search from named orders and from two that the content of the columns gives.

        `method` is ``"order"``, to search for better orders, or ``"prune"``, to choose arcs on the
        given ones. By default there are 10,000 / d restarts, at most 300; the search also ends
        after `patience` in a row without an improvement, by default a third of them.
        """
        d, seed = self.problem.variables, int(random.integers(2**62))
        limit = min(_MOST_RESTARTS, _RESTART_WORK // max(d, 1)) if restarts is None else restarts
        idle_limit = max(20, limit // 3) if patience is None else patience
        starts = {name: np.argsort(self.places)[order] for name, order in orders.items()}
        if method == "order" or not starts:
            starts |= {"content of columns": np.arange(d), "the reverse": np.arange(d)[::-1]}
        report: list[dict[str, Any]] = []
        climb = CountedClimb(self.problem, price, self.memory, self.should_stop)
        best, total, is_stopped = empty_graph(d), -np.inf, False
        copy_graph(climb.graph, best)

        def tried(name: str, begin: Callable[[], None], number: int) -> bool:
            """Climb from a start; keep the graph if it is the best; return whether it is."""
            nonlocal total, is_stopped
            since, before = time.perf_counter(), -np.inf
            try:
                begin()
                before = climb.total
                if method == "order":
                    climb.climb(np.random.default_rng([seed, number]))
            except Stopped:
                is_stopped = True
            is_better = climb.total > total + LEAST_MOVE
            if name:
                entry: dict[str, Any] = {"start": f"{name} ({price.name})", "score": "counts"}
                entry |= {"before": max(before, -1e300), "after": climb.total, "moves": 0}
                report.append({**entry, "seconds": time.perf_counter() - since, "chosen": False})
            if is_better:
                total = climb.total
                copy_graph(climb.graph, best)
            return is_better

        for name, order in starts.items():
            if not is_stopped or not report:
                start = respecting(order, self.problem.precedence)
                tried(name, partial(climb.start, start), len(report))
        made, idle = 0, 0
        since, before = time.perf_counter(), total
        while method == "order" and made < limit and idle < idle_limit and not is_stopped:
            made, number = made + 1, len(starts) + made
            generator = np.random.default_rng([seed, number, 1])
            copy_graph(best, climb.graph)
            idle = 0 if tried("", partial(climb.perturb, generator), number) else idle + 1
        if made:
            name = f"best of these, {made} times perturbed ({price.name})"
            entry = {"start": name, "score": "counts", "before": before, "after": total}
            report.append(
                entry | {"moves": 0, "seconds": time.perf_counter() - since, "chosen": False}
            )
        copy_graph(best, climb.graph)
        return self._found(climb, report, is_stopped)

    def _found(
        self, climb: CountedClimb, report: list[dict[str, Any]], is_stopped: bool
    ) -> FoundCounts:
        places, graph = self.places, climb.graph
        inside = np.argsort(places)
        adjacency = np.ascontiguousarray(graph.parents.T[np.ix_(inside, inside)] != 0)
        order = places[graph.order]
        scores = graph.numbers[0][inside]

        def total_of(order: Order) -> float:
            return climb.total_of(inside[order])

        return FoundCounts(climb.price, order, adjacency, scores, report, is_stopped, total_of)
