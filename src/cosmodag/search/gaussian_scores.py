"""Scores of a graph, their penalties, and how orders are searched with them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.search.moments import Moments
from cosmodag.search.regression_graph import RegressionGraph

# Shares of a variance below this are rounding errors.
NEGLIGIBLE = 1e-13


def default_penalty(n: float, d: int) -> float:
    r"""Compute the penalty c per arc, an extended BIC of at least :math:`\log n`.

    .. math:: c = \max\left(\log n,\; \tfrac12 \log n + \gamma \log d\right)

    in units of log-likelihood, with :math:`\gamma = \tfrac34` for :math:`d \le n`, 1 for
    :math:`d \ge 2n`, and linear in :math:`\log d` in between.

    BIC's ½ log n admits arcs by chance: with few rows or many variables, most of the arcs found are
    false. On fresh tables in arbitrary units with small coefficients, the numbers of differences
    between the found and the true equivalence class at c = ½, ¾, 1, 1½ and 2 log n were 38, 27, 25,
    28, 30 (d = 50, n = 1,000), 75, 57, 47, 49, 50 (d = 50, n = 200) and 1483, 503, 298, 240, 251
    (d = 300, n = 200; 236 at this c). On the true order of strong linear graphs (ER4, n = 1,000),
    wrong arcs per variable at c = log max(n, d) and ½ log n + log d were .056 and .034 (d = 500),
    .057 and .007 (d = 2,000), but .38 and .55 with few rows (d = 100, n = 200): hence ¾. With fewer
    rows than variables (d = 300, n = 120, standardised), differences per variable between
    equivalence classes at γ = ¾, 1 and 1¼ were .39, .36, .36 (degree 2), .54, .51, .53 (degree 4),
    .89, .72, .84 and 1.15, 1.01, 1.07 (hubs, 1 and 2 parents each), and .19, .06, .05 with large
    coefficients: hence 1.

    Examples
    --------
    >>> round(default_penalty(1000, 30), 2), round(default_penalty(1000, 20_000), 2)
    (6.91, 13.36)
    """
    rows, columns = math.log(max(n, 2)), math.log(max(d, 1))
    wide = min(1.0, max(0.0, (columns - rows) / math.log(2)))
    return max(rows, 0.5 * rows + (0.75 + 0.25 * wide) * columns)


def most_parents(rows: ArrayLike) -> NDArray[np.float64]:
    """Compute the maximum number of parents of a variable: (rows − 5) // 4, at least one.

    In two rows, any variable is a linear function of any other: the maximum is then zero. With more
    parents, a variable can be fitted by chance, whatever the penalty: with n − 2 parents, 136 to
    153 arcs were found in 10 rows of 30 independent columns, and 3 to 8 with this limit. With
    limits of n − 2, and of (n − 5) / 4, 5 and 8, differences per variable between equivalence
    classes (standardised ER4, ten tables each) were 3.85, 1.24, 1.44, 2.55 (d = 100, n = 60), .67,
    .10, .18, .50 (d = 300, n = 120) and .02, .02, .02, .04 (d = 300, n = 200).

    Examples
    --------
    >>> most_parents([2.0, 4.0, 13.0, 1000.0]).tolist()
    [0.0, 1.0, 2.0, 248.0]
    """
    return np.maximum((np.asarray(rows) - 5) // 4, np.asarray(rows) > 2)


def growing_penalty(penalty: float, d: int) -> float:
    """Compute the penalty while growing: a third of that per arc, or more to avoid chance arcs.

    Parents whose effects cancel gain little individually; shrinking, at the full penalty, removes
    the others. Growing at the full penalty lost such parents: .19 instead of .003 wrong arcs per
    variable (ER6, d = 30), .31 instead of .15 (ER4, 200 rows). With a half instead of a third, true
    orders still scored too low, so that no restart led to them: BIC after 60 restarts (d = 50, ten
    tables each) was 6, −20 and −9 above that of the truth with a half, −8, −23 and −9 with a third,
    and −8, −25 and −9 with a quarter, in 1, 1.2 and 1.5 times the time. At a penalty of
    log d − 1.6, about one of d candidates without an effect is added.

    Examples
    --------
    >>> growing_penalty(6.0, 30), round(growing_penalty(10.0, 5000), 2)
    (2.0, 6.92)
    """
    return min(penalty, max(penalty / 3, math.log(max(d, 1)) - 1.6))


def noise_variances(moments: Moments, graph: RegressionGraph) -> NDArray[np.float64]:
    """Compute the residual variance of each variable in the units of the data; 0 if constant."""
    return np.asarray(graph.residuals * moments.own_scales**2)


def gaussian_total(moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """Compute −Σ_v (n_v/2) log(residual share of the variance) − c · arcs, whatever the units."""
    return float(-0.5 * moments.own_rows @ np.log(graph.residuals)) - penalty * graph.arcs


def equal_variance_total(moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """Compute −(Σ n_v / 2) log(Σ RSS_v / Σ n_v) − c · arcs over variables with noise."""
    varies = moments.has_noise
    rows = moments.own_rows[varies]
    if not len(rows):
        return 0.0
    squares = float(rows @ noise_variances(moments, graph)[varies])
    return -0.5 * float(rows.sum()) * math.log(squares / rows.sum()) - penalty * graph.arcs


def _sum_of_scores(moments: Moments, graph: RegressionGraph, penalty: float) -> float:
    """Sum the local scores, which include the penalties."""
    return float(graph.scores.sum())


@dataclass(frozen=True)
class Criterion:
    """A score of graphs, and how orders are searched with it."""

    name: str
    # Computes the score of a graph from moments, the graph and the penalty per arc.
    total: Callable[[Moments, RegressionGraph, float], float]
    # The default number of restarts is this divided by the number of variables, at most 200.
    restart_work: int = 40_000
    # Whether all noise variances are equal. A scale-free search, without moves to the ends of the
    # order, is then followed by rounds, each with the common variance that results from the
    # previous round.
    has_common_variance: bool = False
    # Whether moments must hold their table, which other scores refuse. Parents are chosen by
    # Gaussian evidence, but the score is another one: Gaussian gains are no bounds of the gain of a
    # move, and `cosmodag.search.polish` does not apply.
    needs_table: bool = False

    def slack(self, penalty: float) -> float:
        """Return how far a trial's bound may fall below the best gain in the quick search."""
        return math.inf if self.needs_table else penalty


SCORES = {
    score.name: score
    for score in (
        Criterion("gaussian", gaussian_total),
        # Restarts changed the score of 1 of 35 tables, by .2, and improved no graph (30 and 100
        # variables, 200 and 1,000 rows, equal and mildly unequal variances); with restarts, a
        # search took 3.5 times the CPU time.
        Criterion("equal-variance", equal_variance_total, restart_work=0, has_common_variance=True),
        # The score of `cosmodag.search.entropy.score`. With twice as many restarts, 100 variables
        # and 300 rows took 1.26 times the CPU time of an earlier search by insertions, and easier
        # tables of 200 and 300 variables ended at the same scores.
        Criterion("non-gaussian", _sum_of_scores, restart_work=2_000, needs_table=True),
    )
}
"""Scores by name; another score can be added under a name of its own."""


def criterion_for(moments: Moments, name: str) -> Criterion:
    """Look up a score by name; refuse one that needs a table if there is none, and vice versa."""
    has_table = moments.table is not None
    allowed = tuple(one.name for one in SCORES.values() if one.needs_table == has_table)
    if name not in allowed:
        raise DataError(f"score is {name!r}: it must be one of {allowed}.")
    return SCORES[name]


def default_restarts(d: int, score: str = "gaussian") -> int:
    """Compute the default maximum number of restarts of a search of d variables.

    Examples
    --------
    >>> default_restarts(30), default_restarts(1000), default_restarts(100_000)
    (200, 40, 0)
    >>> default_restarts(30, "non-gaussian"), default_restarts(30, "equal-variance")
    (66, 0)
    """
    return min(200, SCORES[score].restart_work // max(d, 1))
