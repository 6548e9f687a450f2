"""Scores of a graph, all sums over variables, and which of them fits a table."""

import math

import numpy as np
from numpy.typing import NDArray

from cosmodag.refine.graph import Graph
from cosmodag.refine.moments import Moments

__all__ = [
    "SCORES",
    "compare_variances",
    "default_penalty",
    "equal_variance_total",
    "gaussian_total",
    "noise_variances",
    "total_of",
]

SCORES = ("gaussian", "equal-variance")


def default_penalty(n: float, d: int) -> float:
    """Penalty c per arc, in units of log-likelihood: an extended BIC, log max(n, d)."""
    return math.log(max(n, d, 2))


def noise_variances(moments: Moments, graph: Graph) -> NDArray[np.float64]:
    """Residual variance of each variable, in the data's own units; 0 for constant columns."""
    return np.asarray(graph.residuals * moments.own_scales**2)


def gaussian_total(moments: Moments, graph: Graph, penalty: float) -> float:
    """−Σ_v (n_v/2) log(share of the variance left) − c · arcs: does not depend on units."""
    return float(-0.5 * moments.own_rows @ np.log(graph.residuals)) - penalty * graph.arcs


def equal_variance_total(moments: Moments, graph: Graph, penalty: float) -> float:
    """−(Σ n_v / 2) log(Σ RSS_v / Σ n_v) − c · arcs, over the columns that vary."""
    varies = moments.own_scales > 0
    rows = moments.own_rows[varies]
    if not len(rows):
        return 0.0
    squares = float(rows @ noise_variances(moments, graph)[varies])
    return -0.5 * float(rows.sum()) * math.log(squares / rows.sum()) - penalty * graph.arcs


def compare_variances(moments: Moments, graph: Graph) -> float:
    """By how much BIC prefers one noise variance for all to one for each (d − 1 more).

    Positive: equal variances. Both likelihoods are those of the same graph.
    """
    varies = moments.own_scales > 0
    rows = moments.own_rows[varies]
    if len(rows) < 2:
        return 0.0
    left = noise_variances(moments, graph)[varies]
    equal = -0.5 * rows.sum() * math.log(float(rows @ left) / rows.sum())
    unequal = -0.5 * float(rows @ np.log(left))
    return float(equal - unequal) + 0.5 * (len(rows) - 1) * math.log(float(rows.mean()))


def total_of(score: str, moments: Moments, graph: Graph, penalty: float) -> float:
    """Total by the name of the score."""
    total = gaussian_total if score == "gaussian" else equal_variance_total
    return total(moments, graph, penalty)
