"""Findings about time series: columns that change over time, drift, or repeat.

The equations of a window graph are the same at all times. Each column is first regressed on its own
last values, so that the residuals are nearly independent from row to row, and ordinary tests apply
to them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import fdtrc

from cosmodag.data.diagnose.findings import Finding, about, chosen
from cosmodag.data.diagnose.row_findings import rows_follow
from cosmodag.data.diagnose.scale import standardised
from cosmodag.runtime.warning_filters import ignoring

_FEWEST_ROWS = 50
_MOST_ROWS = 50_000
# Number of earlier values on which a column is regressed.
_MEMORY = 3
# Number of parts of a series whose means and variances are compared.
_PARTS = 5
# False-alarm probability of each test for a table of stationary series.
_CHANCE = 0.002
# Critical value of the Dickey-Fuller test with a constant, at 10 %: nine in ten series with a unit
# root have a larger statistic.
_DICKEY_FULLER = -2.57
# The power at a frequency is compared with that of the frequencies up to _AROUND away, except for
# those up to _PEAK away, which belong to the same peak.
_PEAK, _AROUND = 2, 16
# A season repeats at least this many times.
_FEWEST_PERIODS = 4


def changing_series(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Report columns whose distribution changes over time.

    The columns vary. Rows are in time order, one series after another. Findings are ``unit_root``,
    ``changing_mean``, ``changing_variance`` and ``season``.
    """
    if len(X) < _FEWEST_ROWS or not columns:
        return []
    used = standardised(X[:_MOST_ROWS, columns])
    own = [names[column] for column in columns]
    chance = _CHANCE / len(columns)
    roots = unit_root_statistics(used)
    residuals, means = _regress_on_memory(used)
    spreads = _levene(np.array_split(residuals, _PARTS))
    lengths = periods(used, chance)
    is_season = np.isfinite(lengths)
    length = float(np.median(lengths[is_season])) if is_season.any() else np.nan
    return [
        *about(
            "unit_root",
            chosen(own, roots > _DICKEY_FULLER),
            "The values of {columns} drift like a random walk (a unit root is not excluded), so "
            "unrelated columns seem to cause one another: learn from the differences between "
            "successive rows.",
            roots.max(),
        ),
        *about(
            "changing_mean",
            chosen(own, (means < chance) & (roots <= _DICKEY_FULLER)),
            "The mean of {columns} changes over time, but equations are assumed to be the same at "
            "all times: subtract the trend, or learn from a part of the rows.",
            means.min(),
        ),
        *about(
            "changing_variance",
            chosen(own, spreads < chance),
            "The noise of {columns} is stronger at some times than at others, so standard errors "
            "are wrong: learn from a part of the rows, or from logarithms.",
            spreads.min(),
        ),
        *about(
            "season",
            chosen(own, is_season),
            f"The values of {{columns}} repeat about every {length:.3g} rows, and such a season is "
            "a common cause that is not in the table: subtract the seasonal means first.",
            length,
        ),
    ]


def residuals_follow(
    residuals: NDArray[Any], columns: list[int], names: Sequence[str], lags: int
) -> list[Finding]:
    """Report residuals of a window graph that are correlated with those of the time before."""
    found = rows_follow(residuals, columns, names)
    if not found:
        return []
    sentence = (
        f"Residuals of {{columns}} are still correlated with those of the time before (strongest "
        f"correlation {found[0].value:.2f}), so lags={lags} (--lags {lags}) is too small, or "
        "causes are hidden: learn with more lags (lags=, --lags)."
    )
    return about("few_lags", found[0].columns, sentence, found[0].value)


def unit_root_statistics(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the statistic of the augmented Dickey-Fuller test with a constant for each column.

    >>> steps = np.random.default_rng(0).normal(size=(300, 2))
    >>> walk, noise = unit_root_statistics(np.column_stack([np.cumsum(steps[:, 0]), steps[:, 1]]))
    >>> walk > -2.57, noise > -2.57
    (np.True_, np.False_)
    """
    changes = np.diff(X, axis=0)
    n = len(changes) - _MEMORY
    found = np.empty(X.shape[1])
    for v in range(X.shape[1]):
        level = X[_MEMORY : _MEMORY + n, v]
        regressors = np.column_stack([level, _lagged_values(changes[:, v]), np.ones(n)])
        response = changes[_MEMORY:, v]
        inverse = np.linalg.pinv(regressors.T @ regressors)
        weights = inverse @ (regressors.T @ response)
        residuals = response - regressors @ weights
        variance = float(residuals @ residuals) / max(n - regressors.shape[1], 1)
        error = np.sqrt(max(variance * inverse[0, 0], np.finfo(np.float64).tiny))
        found[v] = weights[0] / error
    return found


def _regress_on_memory(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Regress each column on its own last values, with a constant for each part of the series.

    Returns the residuals, (n − 3, d), and the p-values of the F tests that all constants of a
    column are equal, (d,).
    """
    n = len(X) - _MEMORY
    constants = np.zeros((n, _PARTS))
    for place, rows in enumerate(np.array_split(np.arange(n), _PARTS)):
        constants[rows, place] = 1.0
    free = n - _MEMORY - _PARTS
    residuals, p_values = np.empty((n, X.shape[1])), np.ones(X.shape[1])
    for v in range(X.shape[1]):
        before = _lagged_values(X[:, v])
        residuals[:, v] = _residuals_of(np.column_stack([before, constants]), X[_MEMORY:, v])
        common = _residuals_of(np.column_stack([before, np.ones(n)]), X[_MEMORY:, v])
        most, least = float(common @ common), float(residuals[:, v] @ residuals[:, v])
        if least > 0:
            ratio = (most - least) / (_PARTS - 1) / (least / free)
            p_values[v] = fdtrc(_PARTS - 1, free, ratio)
    return residuals, p_values


def _lagged_values(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """List the three values before each value, the last one first: (n − 3, 3)."""
    return np.column_stack([x[_MEMORY - lag : len(x) - lag] for lag in range(1, _MEMORY + 1)])


def _residuals_of(
    regressors: NDArray[np.float64], response: NDArray[np.float64]
) -> NDArray[np.float64]:
    weights = np.linalg.lstsq(regressors, response, rcond=None)[0]
    return np.asarray(response - regressors @ weights)


def _levene(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Compute the p-value of Levene's test, about medians, for each column.

    It is an analysis of variance of the distances from the medians, as in `scipy.stats.levene`,
    which takes a millisecond for each column.
    """
    distances = [np.abs(part - np.median(part, axis=0)) for part in parts]
    with ignoring(stats.ConstantInputWarning):
        p_values = stats.f_oneway(*distances).pvalue
    return np.nan_to_num(p_values, nan=1.0)


def periods(X: NDArray[np.float64], chance: float = _CHANCE) -> NDArray[np.float64]:
    """Estimate the length of the season of each column, in rows; NaN without a season.

    A season raises the power of a single frequency far above that of the frequencies around it; the
    memory of a series raises whole ranges of frequencies.

    >>> random = np.random.default_rng(0)
    >>> season = np.sin(2 * np.pi * np.arange(240) / 12)
    >>> X = np.column_stack([season + random.normal(size=240), random.normal(size=240)])
    >>> periods(X).round(1).tolist()
    [12.0, nan]
    """
    n, d = X.shape
    taper = np.hanning(n)[:, None]
    power = np.abs(np.fft.rfft((X - X.mean(axis=0)) * taper, axis=0)) ** 2
    first, last = _FEWEST_PERIODS, len(power) - 1
    if last <= first:
        return np.full(d, np.nan)
    places = np.arange(first, last)
    low = [np.maximum(places - reach, 1) for reach in (_AROUND, _PEAK)]
    high = [np.minimum(places + reach, last) + 1 for reach in (_PEAK, _AROUND)]
    sums = np.concatenate([np.zeros((1, d)), np.cumsum(power, axis=0)])
    around = (low[1] - low[0]) + (high[1] - high[0])
    level = (sums[low[1]] - sums[low[0]]) + (sums[high[1]] - sums[high[0]])
    level = np.maximum(level / around[:, None], np.finfo(np.float64).tiny)
    # The taper correlates neighbouring frequencies, so only half of them count as independent.
    independent = 0.5 * around[:, None]
    p_values = (1 + power[places] / level / independent) ** -independent
    highest = p_values.argmin(axis=0)
    is_peak = p_values[highest, np.arange(d)] < chance / len(places)
    return np.where(is_peak, n / places[highest], np.nan)
