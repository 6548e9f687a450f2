"""Equal noise variances: columns that rule them out, and a comparison of the best graphs."""

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

from cosmodag.search.gaussian_scores import equal_variance_total, gaussian_total, noise_variances
from cosmodag.search.moments import Moments
from cosmodag.search.regression_graph import RegressionGraph

Floats = NDArray[np.float64]

ON_ONE_SCALE = (
    "The columns are on a common scale ({}), so that variances say nothing about the order"
)
"""Reason against equal variances; the gap is for a description of the scale (`common_scale`)."""

# Relative difference below which columns count as rescaled to the same value of a measure: chance
# differences are about 1 / sqrt(2 n).
_EXACT = 1e-4
# Ratio of a mean to the standard deviation from which it is an offset, unrelated to the scale.
_OFFSET = 1e3
# Level of the test that all standard deviations are equal, which rows drawn from a standardised
# table pass.
_LEVEL = 0.01
# Maximum number of columns examined: if half of all columns agree, so do half of these.
_MOST_COLUMNS = 256
# Effective number of values, 1 / Σ p², below which a column counts as few-valued: normal values
# that are rounded to a sixth of their standard deviation have 21.
_FEW = 20.0

# Margin by which equal variances must win, as a share of BIC's penalty of the additional variances,
# ½ (d − 1) log n. Measured shares: .56 to .9 for equal variances (d = 5 to 20, n = 500; less only
# if nearly every pair is joined), below −.4 for noise deviations between .8 and 1.25, up to .34 for
# standardised tables of weak effects at n ≥ 500.
_SHARE = 0.4
_PRICE_OF_ARC = 1.0
# Spread of the logarithms of noise variances, beyond sampling error, up to which a search with
# equal variances is worth its time.
_PLAUSIBLE_SPREAD = 0.3


def common_scale(X: ArrayLike) -> str | None:
    """Describe how the columns were brought to a common scale; None if they were not.

    Columns are on a common scale if at least half of them have exactly the same standard deviation,
    range, interquartile range, median absolute deviation, largest magnitude or mean; or if all
    standard deviations are equal within sampling error, as in rows drawn from a standardised table.
    Variances then say nothing about the causal order.

    The table must be in its original units, not centred; constant columns are ignored.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 2, 3, 4]
    >>> common_scale(X) is None
    True
    >>> common_scale(X / X.std(axis=0))
    'their standard deviations are the same'
    """
    table = np.asarray(X, np.float64)
    columns = np.flatnonzero(np.ptp(table, axis=0) > 0)
    if len(columns) < 2:
        return None
    step = -(-len(columns) // _MOST_COLUMNS)
    table = table[:, columns[::step]]
    for name, measure in _MEASURES.items():
        alike = _count_alike(measure(table))
        if alike >= max(2, 0.5 * table.shape[1]):
            which = "" if alike == table.shape[1] else "at least half of "
            return f"{which}their {name} are the same"
    if _equal_within_error(table):
        return "their standard deviations are the same within sampling error"
    return None


def against_equal(X: Floats, means: Floats | float, counted: Floats | None = None) -> str | None:
    """Give the reason why noise variances cannot be assumed equal; None if they can.

    `X` is a table minus the `means` of its columns; `counted` is as for `few_valued`.
    """
    shared = common_scale(X + means)
    if shared is not None:
        return ON_ONE_SCALE.format(shared)
    if few_valued(X, counted).mean() >= 0.5:
        return "Most columns have few distinct values, which noise of equal variance cannot produce"
    return None


_MEASURES: dict[str, Callable[[Floats], Floats]] = {
    "standard deviations": lambda table: np.asarray(table.std(axis=0)),
    "ranges": lambda table: np.asarray(np.ptp(table, axis=0)),
    "largest magnitudes": lambda table: _without_offsets(table, np.abs(table).max(axis=0)),
    "means": lambda table: _without_offsets(table, table.mean(axis=0)),
    "interquartile ranges": lambda table: np.asarray(
        np.ptp(np.quantile(table, [0.25, 0.75], axis=0), axis=0)
    ),
    "median absolute deviations": lambda table: np.asarray(
        np.median(np.abs(table - np.median(table, axis=0)), axis=0)
    ),
}


def _without_offsets(table: Floats, values: Floats) -> Floats:
    """Set values to 0 that are offsets, far larger than the standard deviation of their column."""
    return np.where(np.abs(values) < _OFFSET * table.std(axis=0), values, 0.0)


def _count_alike(values: Floats) -> int:
    """Count the values in the largest group of equal values that are not near zero."""
    positive = np.sort(values[values > 1e-9 * np.abs(values).max(initial=0.0)])
    ends = np.searchsorted(positive, positive * (1.0 + _EXACT), side="right")
    return int((ends - np.arange(len(positive))).max(initial=0))


def _equal_within_error(table: Floats) -> bool:
    """Test that all standard deviations are equal, by their logarithms."""
    n, d = table.shape
    centred = table - table.mean(axis=0)
    squares = np.mean(centred**2, axis=0)
    tails = np.mean((centred / np.sqrt(squares)) ** 4, axis=0)
    errors = np.maximum(tails - 1.0, 0.1) / (4.0 * n)
    logs = 0.5 * np.log(squares)
    middle = np.average(logs, weights=1.0 / errors)
    return float(np.sum((logs - middle) ** 2 / errors)) < float(chdtri(d - 1, _LEVEL))


def few_valued(X: ArrayLike, counted: Floats | None = None) -> NDArray[np.bool_]:
    r"""Find the columns with few distinct values: categories, counts, scores, many zeros.

    The effective number of values, :math:`1 / \sum p^2` over their shares p, is compared with a
    limit of 20. Constant columns do not count, nor do columns of fewer than 40 rows. Entries that
    were set, where `counted` (n, d) is 0, are left out: many rows may have set the same value.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> table = np.column_stack([random.normal(size=200), random.poisson(4, 200)])
    >>> few_valued(table).tolist()
    [False, True]
    """
    table = np.asarray(X)
    found = np.zeros(table.shape[1], np.bool_)
    for v in range(len(found)):
        column = table[:, v] if counted is None else table[counted[:, v] > 0, v]
        n, sizes = len(column), np.unique(column, return_counts=True)[1]
        is_few = len(sizes) > 1 and n * n / np.sum(sizes.astype(np.float64) ** 2) < _FEW
        found[v] = is_few and n >= 2 * _FEW
    return found


@dataclass(frozen=True)
class Variances:
    """Scores of the best graphs with equal and with unequal noise variances."""

    # Log-likelihoods minus the penalties of arcs and variances, up to a constant.
    equal: float
    unequal: float
    # The first minus the second, and the margin above which equal variances are assumed.
    margin: float
    needed: float

    @property
    def are_equal(self) -> bool:
        """Whether equal variances may be assumed."""
        return self.margin > self.needed

    @property
    def explanation(self) -> str:
        """The decision in one sentence."""
        sides = ["one noise variance for all variables", "a noise variance for each variable"]
        if self.margin > 0 and not self.are_equal:
            return (
                f"The best graph with {sides[0]} scores higher, but by only {self.margin:.0f}, "
                f"less than the required {self.needed:.0f}, so that {sides[1]} was assumed."
            )
        preferred, other = sides if self.are_equal else sides[::-1]
        return (
            f"The best graph with {preferred} scores higher than the best with {other}, by "
            f"{abs(self.margin):.0f} in units of log-likelihood."
        )

    def numbers(self) -> dict[str, float]:
        """Return the numbers under the names that a fit reports."""
        names = ("equal_variance", "gaussian", "margin", "margin_needed")
        return {name: float(value) for name, value in zip(names, astuple(self), strict=True)}


def compare_best(moments: Moments, equal: RegressionGraph, unequal: RegressionGraph) -> Variances:
    """Compare the best graph under equal variances with the best graph under unequal variances.

    Each side is the likelihood of its own model; unequal variances pay BIC's ½ log n for each of
    d − 1 additional parameters. The unequal side is the better of both graphs, since its model
    includes the other one.

    An arc costs 1, as in AIC, because the comparison is about variances and not about sparsity. At
    BIC's ½ log n, the true graph lost to wrong graphs with fewer arcs if nearly every pair is
    joined, although its variances were equal (d = 9, n = 600, 28 to 34 of 36 arcs: margins of 4 to
    22, where 10 are needed; the sparser graphs had 25 to 27 arcs).
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
    """Whether most noise variances are similar, even if some equations lack a parent."""
    varies = moments.has_noise
    if np.count_nonzero(varies) < 2:
        return False
    variances = noise_variances(moments, graph)[varies]
    return spread_of(variances, float(moments.rows.mean())).is_small


class Spread(NamedTuple):
    """Spread of the logarithms of noise variances, and the limit below which it is small."""

    found: float
    limit: float

    @property
    def is_small(self) -> bool:
        """Whether most variances are similar."""
        return self.found < self.limit


def spread_of(variances: Floats, rows: float) -> Spread:
    """Measure the spread of noise variances, robust against a few outliers.

    Each variance was estimated from this number of `rows`.

    Examples
    --------
    >>> spread_of(np.array([1.0, 1.1, 0.9, 30.0]), 1000).is_small
    True
    >>> spread_of(np.array([1.0, 4.0, 0.2, 30.0]), 1000).is_small
    False
    """
    logs: Floats = np.log(np.maximum(variances, np.finfo(np.float64).tiny))
    found = 1.4826 * float(np.median(np.abs(logs - np.median(logs)))) if len(logs) else 0.0
    return Spread(found, _PLAUSIBLE_SPREAD + 2 * math.sqrt(2.0 / rows))
