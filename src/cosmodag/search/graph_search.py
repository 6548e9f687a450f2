"""Searches from several starts under one score, and their best graph."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.search.column_score import ColumnScore
from cosmodag.search.column_search import search
from cosmodag.search.gaussian_scores import default_restarts
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import Run
from cosmodag.search.starts.orders import is_wide
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.variances import Variances
from cosmodag.search.wide import LARGE, search_large

Orders = Mapping[str, NDArray[np.int64]]
Report = list[dict[str, Any]]

# Maximum number of variables for which every start is searched. With more, only the two starts of
# best score are searched: a search from a bad start takes most of the time (d = 200, standardised:
# 185 of 193 s) and found nothing better.
ALL_UP_TO = 40


@dataclass(frozen=True)
class Doubt:
    """Evidence against a linear model with independent non-Gaussian noise."""

    kind: str  # "curved", "uneven_noise" or "few_valued_noise"
    # The columns concerned; if arcs contradict the model, the ends of the worst one.
    columns: tuple[int, ...]
    share: float  # of the arcs that contradict the model, or of the columns concerned
    sentence: str


@dataclass(frozen=True, eq=False)
class Decided:
    """The noise model that was chosen, and the graph found with it."""

    order: NDArray[Any]  # causes first
    # (d, d): the weight of u → v at [u, v], in the units of the data. Stored entries are the arcs;
    # the weight of a required arc may be 0.
    weights: sparse.csr_array
    noise: str  # "gaussian", "equal-variance" or "non-gaussian"
    reason: str  # the reason for this choice, in one sentence
    # Score of the graph with this noise; for non-Gaussian noise, with standardised columns and
    # before weak parents are added.
    total: float
    # For each start: name, score before and after, moves, seconds, whether it was chosen.
    report: Report
    ended_early: bool  # whether ``run.should_stop`` ended a search
    # The numbers compared: ``equal_variance`` and ``gaussian`` (scores of the best graphs),
    # ``margin``, ``margin_needed``, ``non_gaussian_gain``, ``gain_by_chance``, ``arcs_refuted``,
    # ``arcs_bent`` (shares); numbers that were not needed are absent.
    scores: dict[str, float] = field(default_factory=dict)
    # Set if the noise is not Gaussian, but a linear model with such noise is refuted.
    doubt: Doubt | None = None

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the arcs (d, d), including those of weight 0."""
        arcs = self.weights.astype(np.bool_)
        arcs.data[:] = True
        return np.asarray(arcs.toarray())


@dataclass(frozen=True, eq=False)
class Result:
    """Result from one start."""

    order: NDArray[np.int64]
    graph: RegressionGraph
    total: float
    entry: dict[str, Any]
    ended_early: bool
    is_polished: bool = False

    def decided(
        self, noise: str, reason: str, report: Report, compared: Variances | None = None
    ) -> Decided:
        """Name the noise model, and the scores compared to choose it."""
        scores = {} if compared is None else compared.numbers()
        weights = self.graph.matrix()
        return Decided(
            self.order, weights, noise, reason, self.total, report, self.ended_early, scores
        )


def restarts_for(d: int, rows: float, score: str = "gaussian") -> int:
    """Compute the default number of restarts: none if they would cost more than they find."""
    return default_restarts(d, score) if d <= LARGE or is_wide(d, rows) else 0


@dataclass(frozen=True, eq=False)
class GraphSearch:
    """Searches under one score that share the parents chosen on earlier orders.

    `method` is ``"order"``, to search near each start, or ``"prune"``, to choose parents on it.
    """

    score: ColumnScore
    run: Run
    method: str = "order"

    def under(self, name: str) -> GraphSearch:
        """Replace the criterion."""
        return replace(self, score=self.score.under(name))

    def start_total(self, order: NDArray[np.int64]) -> float:
        """Compute the score of the parents chosen on an order."""
        return self.score.total(self.score.chosen(order, self.run))

    @property
    def restarts_by_rule(self) -> int:
        """Default number of restarts."""
        rows, name = float(self.score.moments.rows.max()), self.score.criterion.name
        return restarts_for(self.score.variables, rows, name)

    def best(self, orders: Orders, restarts: bool = True) -> tuple[Result, Report]:
        """Search from every start, or prune it, and return the best result with a report of all.

        The start of best score is searched first. Once two searches have ended at the same score,
        the remaining starts are only pruned. With more than `ALL_UP_TO` variables at most two
        starts are searched, and with thousands only one, unless rows are few. Restarts begin from
        the best result.
        """
        names, d = list(orders), self.score.variables
        if self.method == "order":
            # Rounded, because the last digits of equal scores depend on the units of the columns.
            names.sort(key=lambda name: -round(self.start_total(orders[name]), 6))
        are_cheap = d < LARGE or is_wide(d, float(self.score.moments.rows.max()))
        searches = len(names) if d <= ALL_UP_TO else 2 if are_cheap else 1
        searches = searches if self.method == "order" else 0
        results: list[Result] = []
        for name in names:
            searched = len(results) < searches
            result = (self._searched if searched else self._pruned)(name, orders[name])
            if any(_are_equal(result.total, other.total) for other in results):
                searches = 0
            results.append(result)
        highest = max(result.total for result in results)
        best = next(one for one in results if _are_equal(one.total, highest))
        most = self.restarts_by_rule if self.run.restarts is None else self.run.restarts
        if restarts and self.method == "order" and most:
            best = self._searched(f"{best.entry['start']}, searched", best.order, most)
            results.append(best)
        best.entry["chosen"] = True
        early = any(result.ended_early for result in results)
        if self.score.can_polish and not best.is_polished:
            graph = self.score.polished(best.order, best.graph)
            best = replace(best, graph=graph, total=self.score.total(graph))
            best.entry["after"] = best.total
        return replace(best, ended_early=early), [result.entry for result in results]

    def _pruned(self, name: str, order: NDArray[np.int64]) -> Result:
        """Choose parents on a start."""
        begin = time.perf_counter()
        graph, total = self.score.chosen(order, self.run), self.start_total(order)
        entry = self._entry(name, total, total, 0, begin)
        is_cut = isinstance(self.score.moments, Columns) and self.run.should_stop()
        return Result(order, graph, total, entry, is_cut)

    def _searched(self, name: str, order: NDArray[np.int64], restarts: int = 0) -> Result:
        """Search from a start."""
        if self.run.should_stop():
            return replace(self._pruned(name, order), ended_early=True)
        begin, run = time.perf_counter(), self.run.with_restarts(restarts)
        # Restarts among all columns cost too much if there are none by default.
        if self.score.variables < LARGE or (restarts > 0 and self.restarts_by_rule > 0):
            # Searches without restarts only have to show from which order to restart.
            found = search(self.score, order, run, with_ends=restarts > 0)
        else:
            found = search_large(self.score, order, run)
        entry = self._entry(name, found.start_score, found.score, found.moves, begin)
        return Result(
            found.order, found.graph, found.score, entry, found.ended_early, found.is_polished
        )

    def _entry(
        self, name: str, before: float, after: float, moves: int, begin: float
    ) -> dict[str, Any]:
        return {
            "start": name,
            "score": self.score.criterion.name,
            "before": before,
            "after": after,
            "moves": moves,
            "seconds": time.perf_counter() - begin,
            "chosen": False,
        }


def _are_equal(first: float, second: float) -> bool:
    """Whether two scores are equal up to rounding."""
    return math.isclose(first, second, rel_tol=1e-9)
