"""Equal or unequal noise variances: the best graph under each, by its own penalised likelihood."""

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.moments import Moments
from cosmodag.order.regression_graph import RegressionGraph
from cosmodag.order.scores import equal_variance_total, gaussian_total, noise_variances

__all__ = ["Spread", "Variances", "are_plausible", "compare_best", "spread_of"]

# Share of BIC's price of the further variances, ½ (d − 1) log n, by which equal variances must win.
# Measured shares: tables of equal variances .56 to .9 (d = 5 to 20, n = 500; less only where nearly
# every pair is joined), deviations between .8 and 1.25 below −.4, standardised tables of weak
# effects at n ≥ 500 up to .34.
_SHARE = 0.4
_PRICE_OF_ARC = 1.0
# Spread of log noise variances, beyond sampling, with which one variance for all is worth a search.
_PLAUSIBLE_SPREAD = 0.3


@dataclass(frozen=True)
class Variances:
    """Scores of the best graphs, with one noise variance for all and with one for each.

    Attributes
    ----------
    equal, unequal : float
        Log-likelihood less the price of arcs and variances; a constant is left out.
    margin, needed : float
        By how much the first is higher, and by how much it must be.
    """

    equal: float
    unequal: float
    margin: float
    needed: float

    @property
    def are_equal(self) -> bool:
        """Whether equal variances may be assumed."""
        return self.margin > self.needed

    @property
    def explanation(self) -> str:
        """What was decided, in one sentence."""
        sides = ["one noise variance for all variables", "a noise variance for each variable"]
        if self.margin > 0 and not self.are_equal:
            return (
                f"The best graph with {sides[0]} scores higher, but by {self.margin:.0f} only, "
                f"less than the {self.needed:.0f} asked for, so that {sides[1]} was assumed."
            )
        preferred, other = sides if self.are_equal else sides[::-1]
        return (
            f"The best graph with {preferred} scores higher than the best with {other}, by "
            f"{abs(self.margin):.0f} in units of log-likelihood."
        )

    def numbers(self) -> dict[str, float]:
        """Return the numbers by the names under which a fit reports them."""
        names = {
            "equal": "equal_variance",
            "unequal": "gaussian",
            "margin": "margin",
            "needed": "margin_needed",
        }
        return {names[name]: float(value) for name, value in asdict(self).items()}


def compare_best(moments: Moments, equal: RegressionGraph, unequal: RegressionGraph) -> Variances:
    """Compare the best graph under equal variances with the best graph under unequal ones.

    Each has the likelihood of its own model; unequal variances pay BIC's ½ log n for d − 1 further
    parameters. The unequal side takes the better of both graphs, since it allows whatever the equal
    side does.

    An arc costs 1, as in AIC. The question is what holds of the variances, not which graph is
    sparse: at BIC's price, ½ log n, the true graph lost to wrong ones with fewer arcs where nearly
    every pair is joined, although its variances were equal (d = 9, n = 600, 28 to 34 of 36 arcs:
    margins of 4 to 22, of the 10 that are needed; the sparser graphs had 25 to 27 arcs).

    Parameters
    ----------
    moments : Moments
    equal, unequal : RegressionGraph
        The best that searches found.
    """
    varies = moments.has_noise
    rows = moments.own_rows[varies]
    if len(rows) < 2:
        return Variances(0.0, 0.0, 0.0, 0.0)
    log_rows = math.log(float(rows.mean()))
    penalty = _PRICE_OF_ARC
    own_units = -float(rows @ np.log(moments.own_scales[varies]))
    one = equal_variance_total(moments, equal, penalty) - 0.5 * log_rows
    each = max(gaussian_total(moments, graph, penalty) for graph in (equal, unequal))
    each += own_units - 0.5 * len(rows) * log_rows
    price = 0.5 * (len(rows) - 1) * log_rows
    return Variances(one, each, one - each, _SHARE * price)


def are_plausible(moments: Moments, graph: RegressionGraph) -> bool:
    """Whether most noise variances are alike, even if some equations lack a parent."""
    varies = moments.has_noise
    if np.count_nonzero(varies) < 2:
        return False
    variances = noise_variances(moments, graph)[varies]
    return spread_of(variances, float(moments.rows.mean())).is_small


class Spread(NamedTuple):
    """Spread of the logarithms of noise variances, and what is small enough to be one variance."""

    found: float
    limit: float

    @property
    def is_small(self) -> bool:
        """Whether most variances are alike."""
        return self.found < self.limit


def spread_of(variances: NDArray[np.float64], rows: float) -> Spread:
    """Measure how different noise variances are, leaving out the few that are far from the others.

    Parameters
    ----------
    variances : (k,) array
    rows : float
        From which each was estimated.

    Examples
    --------
    >>> spread_of(np.array([1.0, 1.1, 0.9, 30.0]), 1000).is_small
    True
    >>> spread_of(np.array([1.0, 4.0, 0.2, 30.0]), 1000).is_small
    False
    """
    logs: NDArray[np.float64] = np.log(np.maximum(variances, np.finfo(np.float64).tiny))
    found = 1.4826 * float(np.median(np.abs(logs - np.median(logs)))) if len(logs) else 0.0
    return Spread(found, _PLAUSIBLE_SPREAD + 2 * math.sqrt(2.0 / rows))
