"""Last steps of a search with categories: arcs turned or dropped by multinomial likelihoods.

The search scores a category by the Gaussian density of its indicators, which is fast and close,
but a probability that depends on a number is a curve even where its logarithm is a line: directions
between numbers and categories suffer.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import is_dag, respecting
from cosmodag.order import BlockProblem, FoundBlocks
from cosmodag.order.blocks import Records
from cosmodag.order.mixed.multinomial import fit_levels
from cosmodag.order.mixed.table import ROWS_OF_LEVELS, BlockTable

_LEAST_GAIN = 1e-6
_MOST_STEPS = 200

Widths = NDArray[np.int64]


def improved(
    table: BlockTable,
    problem: BlockProblem,
    found: FoundBlocks,
    should_stop: Callable[[], bool] | None = None,
    records: Records | None = None,
) -> FoundBlocks:
    """Turn and drop arcs while that raises the score, categories by their multinomial likelihood.

    Class errors before and after, 8 tables each of 20 variables, half of them categories: 4.4 and
    4.0 with lines, 5.2 and 3.0 with curves; wrong arcs fell by a half, .32 to .18 per variable.
    Adding arcs as well gained .2 more in five times the time.

    Parameters
    ----------
    table : BlockTable
    problem : BlockProblem
        With the prices and what is known of the graph.
    found : FoundBlocks
        Result of the search.
    should_stop : function, optional
    records : Records, optional
        Of the problem, from the search.

    Returns
    -------
    FoundBlocks
        ``score`` is the new one; its order agrees with the new graph.
    """
    d = problem.variables
    if not any(table.embedding.is_levels(v) for v in range(d)):
        return found
    scores = _LocalScores(table, problem, records or Records(problem))
    stop = should_stop or (lambda: False)
    parents = [frozenset(np.flatnonzero(found.widths[:, v]).tolist()) for v in range(d)]
    for _ in range(_MOST_STEPS):
        gain, best = _LEAST_GAIN, None
        for change in _changes(parents, problem):
            more = sum(scores.at(v, new) - scores.at(v, parents[v]) for v, new in change.items())
            if more > gain and _is_allowed(parents, change, problem.precedence):
                gain, best = more, change
        if best is None or stop():
            break
        for v, new in best.items():
            parents[v] = new
    widths = np.stack([scores.widths(v, parents[v]) for v in range(d)], axis=1)
    local = np.array([scores.at(v, parents[v]) for v in range(d)])
    bound = widths > 0 if problem.precedence is None else (widths > 0) | problem.precedence
    order = respecting(found.order, bound)
    return replace(found, order=order, widths=widths, scores=local, score=float(local.sum()))


Change = dict[int, frozenset[int]]


def _changes(parents: list[frozenset[int]], problem: BlockProblem) -> Iterator[Change]:
    """Yield new parents of one or two variables: each arc dropped, each arc turned."""
    support, fixed = problem.support, problem.required
    for v, own in enumerate(parents):
        for u in own:
            if fixed is not None and fixed[u, v]:
                continue
            yield {v: own - {u}}
            if support is None or support[v, u]:
                yield {v: own - {u}, u: parents[u] | {v}}


def _is_allowed(
    parents: list[frozenset[int]], change: Change, before: NDArray[np.bool_] | None
) -> bool:
    """Whether the graph has no cycle after a change, with what must come before what."""
    if len(change) < 2:
        return True
    d = len(parents)
    arcs = np.zeros((d, d), np.bool_) if before is None else before.copy()
    for v, own in enumerate(parents):
        arcs[list(change.get(v, own)), v] = True
    return is_dag(arcs.astype(np.float64))


class _LocalScores:
    """Scores of a variable given a set of parents, relative to none; remembered."""

    def __init__(self, table: BlockTable, problem: BlockProblem, records: Records) -> None:
        self.table, self.problem, self.records = table, problem, records
        self.known: dict[tuple[int, frozenset[int]], tuple[float, Widths]] = {}
        self.fitted: dict[tuple[int, bytes], float] = {}

    def at(self, v: int, parents: frozenset[int]) -> float:
        """Score of v."""
        return self._best(v, parents)[0]

    def widths(self, v: int, parents: frozenset[int]) -> Widths:
        """(d,): how many columns of each parent the equation uses."""
        return self._best(v, parents)[1]

    def _best(self, v: int, parents: frozenset[int]) -> tuple[float, Widths]:
        key = (v, parents)
        if key not in self.known:
            score, widths = self.records.given(v, sorted(parents))
            if self.table.embedding.is_levels(v):
                options = list(self._fewer(widths))
                worth = [self._levels(v, option) for option in options]
                best = int(np.argmax(worth))
                score, widths = worth[best], options[best]
            self.known[key] = (score, widths)
        return self.known[key]

    def _fewer(self, widths: Widths) -> Iterator[Widths]:
        """Columns as chosen, without all curves, and without each of them."""
        shortest = np.where(widths > 0, np.minimum(widths, self.table.embedding.shortest), 0)
        yield shortest
        if np.array_equal(shortest, widths):
            return
        yield widths
        curved = np.flatnonzero(widths > shortest)
        for u in curved if len(curved) > 1 else ():
            fewer = widths.copy()
            fewer[u] = shortest[u]
            yield fewer

    def _levels(self, v: int, widths: Widths) -> float:
        """Penalised gain of the multinomial likelihood of a category over no parents."""
        gain = self._likelihood(v, widths) - self._likelihood(v, np.zeros_like(widths))
        price = self.problem.penalty * int(self.table.embedding.widths[v]) * widths.sum()
        return float(gain - price - self.problem.arc_penalty * np.count_nonzero(widths))

    def _likelihood(self, v: int, widths: Widths) -> float:
        """Log-likelihood of a category, of all rows if these are few."""
        key = (v, widths.tobytes())
        if key not in self.fitted:
            table = self.table
            rows = np.arange(len(table.X))[table.rows_of(v)]
            some = rows[:: -(-len(rows) // ROWS_OF_LEVELS)]
            levels = table.embedding.levels_of(table.X[some, v], v)
            count = int(table.embedding.widths[v]) + 1
            _, likelihood = fit_levels(table.design(widths, some), levels, count)
            counting = 2.0 * self.records.settings[v, 0]  # rows, as the search counts them
            self.fitted[key] = float(likelihood * counting / len(some))
        return self.fitted[key]
