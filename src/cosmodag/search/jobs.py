"""One job of a refinement, which prunes a start or searches from it, and the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.runtime.devices import Host
from cosmodag.runtime.later import jax
from cosmodag.search import Found, Memory, choose_parents, search
from cosmodag.search.gaussian_scores import SCORES, default_restarts
from cosmodag.search.moments import Moments
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.starts.orders import is_wide
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.tiles.tile_pruning import prune_in_tiles
from cosmodag.search.variances import Variances
from cosmodag.search.wide import LARGE, search_large


def restarts_for(d: int, rows: float, score: str = "gaussian") -> int:
    """Compute the default number of restarts: none if they would cost more than they find."""
    return default_restarts(d, score) if d <= LARGE or is_wide(d, rows) else 0


@dataclass(frozen=True, eq=False)
class Job:
    """Data and options shared by all searches of one refinement."""

    moments: Moments
    penalty: float
    support: NDArray[np.bool_] | None
    required: NDArray[np.bool_] | None
    before: NDArray[np.bool_] | None
    random: np.random.Generator
    should_stop: Callable[[], bool]
    on_progress: Callable[[int, float], None] | None
    threads: int | None
    restarts: int | None  # maximum number; None for `restarts_for`
    device: Host | jax.Device | None = None
    cache: dict[bytes, RegressionGraph] = field(default_factory=dict)  # pruned orders
    memory: Memory = field(default_factory=Memory)

    @property
    def arcs(self) -> dict[str, Any]:
        """Options for a choice of parents: penalty per arc, allowed and required arcs."""
        return {"penalty": self.penalty, "support": self.support, "required": self.required}

    def pruned(self, order: NDArray[np.int64]) -> RegressionGraph:
        """Prune an order; the result does not depend on the score and is cached."""
        key = order.tobytes()
        if key not in self.cache:
            if isinstance(self.moments, Columns):
                self.cache[key] = prune_in_tiles(
                    self.moments,
                    order,
                    penalty=self.penalty,
                    device=self.device,
                    should_stop=self.should_stop,
                    threads=self.threads,
                )
            else:
                self.cache[key] = choose_parents(
                    self.moments, order, threads=self.threads, **self.arcs
                )
        return self.cache[key]

    def start_total(self, score: str, order: NDArray[np.int64]) -> float:
        """Compute the total score of a pruned order."""
        return SCORES[score].total(self.moments, self.pruned(order), self.penalty)

    def most_restarts(self, score: str) -> int:
        """Return the maximum number of restarts of a search with a score."""
        return self._default_restarts(score) if self.restarts is None else self.restarts

    def _default_restarts(self, score: str) -> int:
        return restarts_for(self.moments.variables, float(self.moments.rows.max()), score)

    def finish(
        self, method: str, score: str, name: str, order: NDArray[np.int64], restarts: int = 0
    ) -> Result:
        """Prune a start, or search from it; restarts begin from the result of the search."""
        begin, is_polished = time.perf_counter(), False
        if method == "prune" or self.should_stop():
            graph, total = self.pruned(order), self.start_total(score, order)
            in_tiles = isinstance(self.moments, Columns)
            start_total, moves = total, 0
            early = method != "prune" or (in_tiles and self.should_stop())
        else:
            # Restarts among all columns cost too much if there are none by default.
            has_restarts = restarts > 0 and self._default_restarts(score) > 0
            search_from: Callable[..., Found] = search_large
            if self.moments.variables < LARGE or has_restarts:
                # Searches without restarts only have to show from which order to restart.
                search_from = partial(search, memory=self.memory, with_ends=restarts > 0)
            found = search_from(
                self.moments,
                order,
                restarts=restarts,
                score=score,
                before=self.before,
                random=self.random,
                should_stop=self.should_stop,
                on_progress=self.on_progress,
                threads=self.threads,
                choose=self.pruned,
                **self.arcs,
            )
            order, graph, total, moves = found.order, found.graph, found.score, found.moves
            start_total, early = found.start_score, found.ended_early
            is_polished = found.is_polished
        entry = {
            "start": name,
            "score": score,
            "before": start_total,
            "after": total,
            "moves": moves,
            "seconds": time.perf_counter() - begin,
            "chosen": False,
        }
        return Result(order, graph, total, entry, early, is_polished)


@dataclass(frozen=True, eq=False)
class Result:
    """Result from one start."""

    order: NDArray[np.int64]
    graph: RegressionGraph
    total: float
    entry: dict[str, Any]
    ended_early: bool
    is_polished: bool = False


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
    report: list[dict[str, Any]]
    ended_early: bool  # whether ``should_stop`` ended a search
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

    @classmethod
    def of(
        cls,
        best: Result,
        noise: str,
        reason: str,
        report: list[dict[str, Any]],
        compared: Variances | None = None,
    ) -> Decided:
        """Create from the best result of all starts, and the scores compared to choose it."""
        scores = {} if compared is None else compared.numbers()
        weights = best.graph.matrix()
        return cls(best.order, weights, noise, reason, best.total, report, best.ended_early, scores)
