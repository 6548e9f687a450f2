"""Scores of a graph, all sums over variables."""

import math

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.moments import Moments
from cosmodag.order.regression_graph import RegressionGraph

__all__ = [
    "NEGLIGIBLE",
    "NON_GAUSSIAN",
    "SCORES",
    "default_penalty",
    "equal_variance_total",
    "gaussian_total",
    "growing_penalty",
    "noise_variances",
    "total_of",
]

SCORES = ("gaussian", "equal-variance")
# The score of moments that hold their table (`cosmodag.order.entropy.score`).
NON_GAUSSIAN = "non-gaussian"
# Shares of a variance below this are rounding error.
NEGLIGIBLE = 1e-13


def default_penalty(n: float, d: int) -> float:
    r"""Penalty c per arc, in units of log-likelihood: an extended BIC, never below :math:`\log n`.

    .. math:: c = \max\left(\log n,\; \tfrac12 \log n + \gamma \log d\right)

    with :math:`\gamma = \tfrac34` up to as many variables as rows, 1 from twice as many on, and
    between them in between.

    BIC's ½ log n admits arcs by chance: with few rows or many variables most of the arcs found are
    false. On fresh tables in arbitrary units with small coefficients, differences between
    equivalence classes at c = ½, ¾, 1, 1½ and 2 log n were 38, 27, 25, 28, 30 (d = 50, n = 1,000),
    75, 57, 47, 49, 50 (d = 50, n = 200) and 1483, 503, 298, 240, 251 (d = 300, n = 200; 236 at this
    c). On the true order of strong linear graphs (ER4, n = 1,000) wrong arcs per variable at
    c = log max(n, d) and ½ log n + log d were .056 and .034 (d = 500), .057 and .007 (d = 2,000),
    but .38 and .55 where rows are few (d = 100, n = 200): hence ¾. With fewer rows than variables
    (d = 300, n = 120, standardised) differences per variable between equivalence classes at γ = ¾,
    1 and 1¼ were .39, .36, .36 (degree 2), .54, .51, .53 (degree 4), .89, .72, .84 and 1.15, 1.01,
    1.07 (hubs, 1 and 2 parents each), and .19, .06, .05 where coefficients are large: hence 1.

    Examples
    --------
    >>> round(default_penalty(1000, 30), 2), round(default_penalty(1000, 20_000), 2)
    (6.91, 13.36)
    """
    rows, columns = math.log(max(n, 2)), math.log(max(d, 1))
    wide = min(1.0, max(0.0, (columns - rows) / math.log(2)))
    return max(rows, 0.5 * rows + (0.75 + 0.25 * wide) * columns)


def growing_penalty(penalty: float, d: int) -> float:
    """Penalty while growing: a third of that per arc, or more if chance would add arcs.

    Parents whose effects cancel gain little one by one; shrinking, at the full penalty, removes the
    others. Growing at the full penalty lost such parents: ER6 d = 30
    .19 wrong arcs per variable instead of .003, ER4 with 200 rows .31 instead of .15. With a half
    of it in place of a third, true orders still scored too low, so that no restart led to them:
    BIC after 60 restarts (d = 50, ten tables each) 6, −20 and −9 above that of the truth with a
    half, −8, −23 and −9 with a third, −8, −25 and −9 with a quarter, in 1, 1.2 and 1.5 times the
    time. Above log d − 1.6 about one of d candidates without an effect is taken.

    Examples
    --------
    >>> growing_penalty(6.0, 30), round(growing_penalty(10.0, 5000), 2)
    (2.0, 6.92)
    """
    return min(penalty, max(penalty / 3, math.log(max(d, 1)) - 1.6))


def noise_variances(moments: Moments, graph: RegressionGraph) -> NDArray[np.float64]:
    """Residual variance of each variable, in the data's own units; 0 for constant columns."""
    return np.asarray(graph.residuals * moments.own_scales**2)


def gaussian_total(moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """−Σ_v (n_v/2) log(share of the variance left) − c · arcs: does not depend on units."""
    return float(-0.5 * moments.own_rows @ np.log(graph.residuals)) - penalty * graph.arcs


def equal_variance_total(moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """−(Σ n_v / 2) log(Σ RSS_v / Σ n_v) − c · arcs, over columns that vary and have an equation."""
    varies = moments.has_noise
    rows = moments.own_rows[varies]
    if not len(rows):
        return 0.0
    squares = float(rows @ noise_variances(moments, graph)[varies])
    return -0.5 * float(rows.sum()) * math.log(squares / rows.sum()) - penalty * graph.arcs


def total_of(score: str, moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """Total by the name of the score."""
    if score == NON_GAUSSIAN:
        return float(graph.scores.sum())
    total = gaussian_total if score == "gaussian" else equal_variance_total
    return total(moments, graph, penalty)
