"""Pruning of, or search from, one start of a refinement, and the outcome of all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.order import Found, Memory, choose_parents, search
from cosmodag.order.large import LARGE, search_large
from cosmodag.order.moments import Moments
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.scores import SCORES, default_restarts
from cosmodag.order.starts.orders import is_wide
from cosmodag.order.tiles.columns import Columns
from cosmodag.order.tiles.pruning import prune_in_tiles
from cosmodag.refinement.variances import Variances

if TYPE_CHECKING:
    import jax

    from cosmodag.solve.machine.devices import Host


def restarts_for(d: int, rows: float, score: str = "gaussian") -> int:
    """Restarts of a search of d variables: none where they would cost more than they find."""
    return default_restarts(d, score) if d <= LARGE or is_wide(d, rows) else 0


@dataclass(frozen=True, eq=False)
class Job:
    """Data and options that all searches of one call share."""

    moments: Moments
    penalty: float
    support: NDArray[np.bool_] | None
    required: NDArray[np.bool_] | None
    before: NDArray[np.bool_] | None
    random: np.random.Generator
    should_stop: Callable[[], bool]
    on_progress: Callable[[int, float], None] | None
    threads: int | None
    restarts: int | None  # at most; None for `restarts_for`
    device: Host | jax.Device | None = None
    known: dict[bytes, RegressionGraph] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)

    @property
    def arcs(self) -> dict[str, Any]:
        """The price of arcs, and which may and must exist, as options of a choice of parents."""
        return {"penalty": self.penalty, "support": self.support, "required": self.required}

    def pruned(self, order: NDArray[np.int64]) -> RegressionGraph:
        """Prune an order; the result does not depend on the score and is cached."""
        key = order.tobytes()
        if key not in self.known:
            if isinstance(self.moments, Columns):
                self.known[key] = prune_in_tiles(
                    self.moments,
                    order,
                    penalty=self.penalty,
                    device=self.device,
                    should_stop=self.should_stop,
                    threads=self.threads,
                )
            else:
                self.known[key] = choose_parents(
                    self.moments, order, threads=self.threads, **self.arcs
                )
        return self.known[key]

    def start_total(self, score: str, order: NDArray[np.int64]) -> float:
        """Score of an order as it is, pruned."""
        return SCORES[score].total(self.moments, self.pruned(order), self.penalty)

    def restarts_by(self, score: str) -> int:
        """Restarts of a search by a score, at most."""
        return self._default(score) if self.restarts is None else self.restarts

    def _default(self, score: str) -> int:
        return restarts_for(self.moments.variables, float(self.moments.rows.max()), score)

    def finish(
        self, method: str, score: str, name: str, order: NDArray[np.int64], restarts: int = 0
    ) -> Result:
        """Prune, or search from, one start; restarts begin from the result of its search."""
        begin, is_polished = time.perf_counter(), False
        if method == "prune" or self.should_stop():
            graph, total = self.pruned(order), self.start_total(score, order)
            in_tiles = isinstance(self.moments, Columns)
            before_it, moves = total, 0
            early = method != "prune" or (in_tiles and self.should_stop())
        else:
            # Restarts among all columns cost too much where none are made by default.
            is_large = self.moments.variables >= LARGE and not (restarts and self._default(score))
            how: Callable[..., Found] = search_large
            if not is_large:
                # Other starts only have to show where the best search begins.
                how = partial(search, memory=self.memory, with_ends=restarts > 0)
            found = how(
                self.moments,
                order,
                restarts=restarts,
                score=score,
                before=self.before,
                random=self.random,
                should_stop=self.should_stop,
                on_progress=self.on_progress,
                threads=self.threads,
                **self.arcs,
            )
            order, graph, total, moves = found.order, found.graph, found.score, found.moves
            before_it, early = found.start_score, found.ended_early
            is_polished = found.is_polished
        entry = {
            "start": name,
            "score": score,
            "before": before_it,
            "after": total,
            "moves": moves,
            "seconds": time.perf_counter() - begin,
            "chosen": False,
        }
        return Result(order, graph, total, entry, early, is_polished)


@dataclass(frozen=True, eq=False)
class Result:
    """Result of one start."""

    order: NDArray[np.int64]
    graph: RegressionGraph
    total: float
    entry: dict[str, Any]
    ended_early: bool
    is_polished: bool = False


@dataclass(frozen=True)
class Doubt:
    """Evidence against noise that is independent of the parents, but is not Gaussian."""

    kind: str  # "curved", "uneven_noise" or "few_valued_noise"
    # Columns concerned; of arcs, the ends of the one that contradicts the model most.
    columns: tuple[int, ...]
    share: float  # of the arcs that contradict the model, or of the columns
    sentence: str


@dataclass(frozen=True, eq=False)
class Decided:
    """What was assumed of the noise, and the graph that was found."""

    order: NDArray[Any]  # causes first
    # (d, d): the weight of u → v at [u, v], in the data's own units. Stored entries are the arcs; a
    # required arc may weigh 0.
    weights: sparse.csr_array
    noise: str  # "gaussian", "equal-variance" or "non-gaussian"
    reason: str  # why, in one sentence
    # Score of the graph under that noise; with noise that is not Gaussian, of the table with
    # standardised columns and before weak parents were added.
    total: float
    # Per start: name, score before and after, moves, seconds, whether chosen.
    report: list[dict[str, Any]]
    ended_early: bool  # whether a search was asked to stop
    # The numbers compared: ``equal_variance`` and ``gaussian`` (scores of the best graphs),
    # ``margin``, ``margin_needed``, ``non_gaussian_gain``, ``gain_by_chance``, ``arcs_refuted``,
    # ``arcs_bent`` (shares); those that were not needed are absent.
    scores: dict[str, float] = field(default_factory=dict)
    # Set where noise is not Gaussian, but a linear model of such noise does not hold.
    doubt: Doubt | None = None

    def adjacency(self) -> NDArray[np.bool_]:
        """(d, d): the arcs, those of weight 0 too."""
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
        """Record the best result of all starts, and what was compared to choose it."""
        scores = {} if compared is None else compared.numbers()
        weights = best.graph.matrix()
        return cls(best.order, weights, noise, reason, best.total, report, best.ended_early, scores)
