"""Outcome of refinement: the graph, what was assumed of the noise, and doubts about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.refinement.jobs import Result
from cosmodag.refinement.noise.variances import Variances

__all__ = ["Decided", "Doubt"]


@dataclass(frozen=True)
class Doubt:
    """Evidence against noise that is independent of the parents, but is not Gaussian.

    Attributes
    ----------
    kind : {"curved", "uneven_noise", "few_valued_noise"}
    columns : tuple of int
        Those concerned; of arcs, the ends of the one that contradicts the model most.
    share : float
        Of the arcs that contradict the model, or of the columns.
    sentence : str
    """

    kind: str
    columns: tuple[int, ...]
    share: float
    sentence: str


@dataclass(frozen=True, eq=False)
class Decided:
    """What was assumed of the noise, and the graph that was found.

    Attributes
    ----------
    order, weights
        The order, causes first, and the (d, d) sparse weights in the data's own units:
        ``weights[u, v]`` is the arc u → v. Stored entries are the arcs; a required arc may weigh 0.
    noise : {"gaussian", "equal-variance", "non-gaussian"}
    reason : str
        Why, in one sentence.
    total : float
        Score of the graph under that noise; with noise that is not Gaussian, of the table with
        standardised columns and before weak parents were added.
    scores : dict of str to float
        The numbers compared: ``equal_variance`` and ``gaussian`` (scores of the best graphs),
        ``margin``, ``margin_needed``, ``non_gaussian_gain``, ``gain_by_chance``,
        ``arcs_refuted``, ``arcs_bent`` (shares); those that were not needed are absent.
    doubt : Doubt or None
        Set where noise is not Gaussian, but a linear model of such noise does not hold.
    report : list of dict
        Per start: name, score before and after, moves, seconds, whether chosen.
    ended_early : bool
        Whether a search was asked to stop.
    """

    order: NDArray[Any]
    weights: sparse.csr_array
    noise: str
    reason: str
    total: float
    report: list[dict[str, Any]]
    ended_early: bool
    scores: dict[str, float] = field(default_factory=dict)
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
