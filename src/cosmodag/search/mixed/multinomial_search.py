"""Last step of a search with categories: arcs are turned or dropped by multinomial likelihoods.

The search scores a category by the Gaussian density of its indicators. This is fast, but only an
approximation: a probability that depends on a number is a curve even if its logarithm is a line, so
arcs between numbers and categories often get the wrong direction.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import is_dag, respecting
from cosmodag.search import BlockProblem, FoundBlocks
from cosmodag.search.blocks import BlockScore
from cosmodag.search.mixed.multinomial import fit_levels
from cosmodag.search.mixed.table import ROWS_OF_LEVELS, BlockTable

_LEAST_GAIN = 1e-6
_MOST_STEPS = 200

Widths = NDArray[np.int64]
NewParents = dict[int, frozenset[int]]


def turn_and_drop(
    table: BlockTable,
    problem: BlockProblem,
    found: FoundBlocks,
    should_stop: Callable[[], bool] | None = None,
    records: BlockScore | None = None,
) -> FoundBlocks:
    """Turn and drop arcs while that raises the score, with multinomial likelihoods of categories.

    On 8 tables each of 20 variables, half of them categories, class errors fell from 4.4 to 4.0
    with lines and from 5.2 to 3.0 with curves; wrong arcs per variable fell from .32 to .18. Adding
    arcs as well gained .2 more in five times the time.

    `found` is the result of the search for the problem, and `records` are those of the search. Once
    `should_stop` returns True, the graph so far is returned, with ``ended_early``.
    """
    d = problem.variables
    if not any(table.embedding.is_levels(v) for v in range(d)):
        return found
    scores = _LocalScores(table, problem, records or BlockScore(problem))
    stop = should_stop or (lambda: False)
    parents = [frozenset(np.flatnonzero(found.widths[:, v]).tolist()) for v in range(d)]
    for step in range(_MOST_STEPS):
        gain, best, is_stopped = _LEAST_GAIN, None, False
        for change in _changes(parents, problem):
            is_stopped = stop()
            if is_stopped:
                break
            more = sum(scores.of(v, new) - scores.of(v, parents[v]) for v, new in change.items())
            if more > gain and _is_allowed(parents, change, problem.constraints.precedence):
                gain, best = more, change
        if is_stopped:
            found = replace(found, ended_early=True)
            if step == 0:  # the likelihoods of the present graph are not known yet
                return found
            break
        if best is None:
            break
        for v, new in best.items():
            parents[v] = new
    widths = np.stack([scores.widths(v, parents[v]) for v in range(d)], axis=1)
    local = np.array([scores.of(v, parents[v]) for v in range(d)])
    before = problem.constraints.precedence
    bound = widths > 0 if before is None else (widths > 0) | before
    order = respecting(found.order, bound)
    return replace(found, order=order, widths=widths, scores=local, score=float(local.sum()))


def _changes(parents: list[frozenset[int]], problem: BlockProblem) -> Iterator[NewParents]:
    """Yield each drop and each turn of one arc, as the new parents of the variables concerned."""
    support, fixed = problem.constraints.support, problem.constraints.required
    for v, own in enumerate(parents):
        for u in own:
            if fixed is not None and fixed[u, v]:
                continue
            yield {v: own - {u}}
            if support is None or support[v, u]:
                yield {v: own - {u}, u: parents[u] | {v}}


def _is_allowed(
    parents: list[frozenset[int]], change: NewParents, before: NDArray[np.bool_] | None
) -> bool:
    """Whether the graph, together with the required precedence, has no cycle after a change."""
    if len(change) < 2:
        return True
    d = len(parents)
    arcs = np.zeros((d, d), np.bool_) if before is None else before.copy()
    for v, own in enumerate(parents):
        arcs[list(change.get(v, own)), v] = True
    return is_dag(arcs)


class _LocalScores:
    """Scores of a variable given a set of parents, relative to no parents; cached."""

    def __init__(self, table: BlockTable, problem: BlockProblem, records: BlockScore) -> None:
        self.table, self.problem, self.records = table, problem, records
        self.known: dict[tuple[int, frozenset[int]], tuple[float, Widths]] = {}
        self.fitted: dict[tuple[int, bytes], float] = {}

    def of(self, v: int, parents: frozenset[int]) -> float:
        """Score of v with the given parents."""
        return self._best(v, parents)[0]

    def widths(self, v: int, parents: frozenset[int]) -> Widths:
        """(d,): number of columns of each variable in the equation of v."""
        return self._best(v, parents)[1]

    def _best(self, v: int, parents: frozenset[int]) -> tuple[float, Widths]:
        key = (v, parents)
        if key not in self.known:
            score, widths = self.records.score_with(v, sorted(parents))
            if self.table.embedding.is_levels(v):
                options = list(self._narrower(widths))
                scores = [self._category_score(v, option) for option in options]
                best = int(np.argmax(scores))
                score, widths = scores[best], options[best]
            self.known[key] = (score, widths)
        return self.known[key]

    def _narrower(self, widths: Widths) -> Iterator[Widths]:
        """Widths with all curves replaced by lines, the given ones, and with one curve replaced."""
        shortest = np.where(widths > 0, np.minimum(widths, self.table.embedding.shortest), 0)
        yield shortest
        if np.array_equal(shortest, widths):
            return
        yield widths
        curved = np.flatnonzero(widths > shortest)
        for u in curved if len(curved) > 1 else ():
            narrower = widths.copy()
            narrower[u] = shortest[u]
            yield narrower

    def _category_score(self, v: int, widths: Widths) -> float:
        """Penalised gain of the multinomial likelihood over that without parents."""
        gain = self._likelihood(v, widths) - self._likelihood(v, np.zeros_like(widths))
        price = self.problem.penalty * int(self.table.embedding.widths[v]) * widths.sum()
        return float(gain - price - self.problem.arc_penalty * np.count_nonzero(widths))

    def _likelihood(self, v: int, widths: Widths) -> float:
        """Multinomial log-likelihood of a category; of evenly spaced rows if there are many."""
        key = (v, widths.tobytes())
        if key not in self.fitted:
            table = self.table
            rows = np.arange(len(table.X))[table.rows_of(v)]
            some = rows[:: -(-len(rows) // ROWS_OF_LEVELS)]
            levels = table.embedding.levels_of(table.X[some, v], v)
            count = int(table.embedding.widths[v]) + 1
            _, likelihood = fit_levels(table.design(widths, some), levels, count)
            effective = 2.0 * self.records.settings[v, 0]  # number of rows in the search's score
            self.fitted[key] = float(likelihood * effective / len(some))
        return self.fitted[key]
