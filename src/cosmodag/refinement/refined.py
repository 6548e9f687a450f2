"""A finished order: the graph that refinement chose on it, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.refinement.jobs import Result
from cosmodag.refinement.noise.variances import Variances

__all__ = ["Refined"]


@dataclass(frozen=True, eq=False)
class Refined:
    """A finished order.

    Attributes
    ----------
    order : (d,) array of int
    graph : RegressionGraph
        Arcs, weights in the data's own units, residual variances.
    score : {"gaussian", "equal-variance"}
        The score used.
    why : str
        One sentence that says what was picked, and why.
    total : float
        Score of the graph.
    report : list of dict
        Per start: name, score before and after, moves, seconds, whether chosen.
    ended_early : bool
        Whether a search was asked to stop.
    compared : Variances or None
        Scores of the best graphs with equal and with unequal variances, where both were searched.
    """

    order: NDArray[np.int64]
    graph: RegressionGraph
    score: str
    why: str
    total: float
    report: list[dict[str, Any]]
    ended_early: bool
    compared: Variances | None = None

    @property
    def weights(self) -> Any:
        """(d, d) ``csr_array``: W[u, v] is the arc u → v."""
        return self.graph.matrix()

    @classmethod
    def of(
        cls,
        best: Result,
        score: str,
        why: str,
        report: list[dict[str, Any]],
        compared: Variances | None = None,
    ) -> Refined:
        """Record the best result of all starts."""
        return cls(
            best.order, best.graph, score, why, best.total, report, best.ended_early, compared
        )
