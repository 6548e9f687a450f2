"""Columns that rule out an assumption on the noise: on a common scale, or of few values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

__all__ = ["common_scale", "few_valued"]

# Relative difference below which two measures count as rescaled to be equal: chance differences
# are about 1 / sqrt(2 n).
_EXACT = 1e-4
# Standard deviations from which a mean is an offset, which has nothing to do with scale.
_OFFSET = 1e3
# Level of the test that all deviations are equal: rows taken from a standardised table pass.
_LEVEL = 0.01
# Columns examined; where half of all columns agree, so does half of these.
_LOOKED_AT = 256
# Effective number of values, 1 / Σ p², below which a column counts as few-valued: normal values
# that are rounded to a sixth of their deviation have 21.
_FEW = 20.0


def common_scale(X: ArrayLike) -> str | None:
    """Describe how columns were brought to a common scale; None where they were not.

    Half of the columns, or more, have exactly the same standard deviation, range, interquartile
    range, median absolute deviation, largest magnitude or mean; or all standard deviations are
    equal within sampling error, as those of rows drawn from a standardised table. In either case
    variances say nothing about the order of causes.

    Parameters
    ----------
    X : (n, d) array
        In the units that were given, not centred; constant columns are left out.

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
    step = -(-len(columns) // _LOOKED_AT)
    table = table[:, columns[::step]]
    for name, measure in _MEASURES.items():
        if _half_agree(measure(table)):
            return f"their {name} are the same"
    if _equal_within_error(table):
        return "their standard deviations are the same within sampling error"
    return None


def _interquartile(table: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.quantile(table, [0.25, 0.75], axis=0)
    return np.asarray(high - low)


def _median_deviation(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.median(np.abs(table - np.median(table, axis=0)), axis=0))


_MEASURES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "standard deviations": lambda table: np.asarray(table.std(axis=0)),
    "ranges": lambda table: np.asarray(np.ptp(table, axis=0)),
    "largest magnitudes": lambda table: _beside_spread(table, np.abs(table).max(axis=0)),
    "means": lambda table: _beside_spread(table, table.mean(axis=0)),
    "interquartile ranges": _interquartile,
    "median absolute deviations": _median_deviation,
}


def _beside_spread(table: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of columns, or 0 where they are an offset, far above what the column varies."""
    return np.where(np.abs(values) < _OFFSET * table.std(axis=0), values, 0.0)


def _half_agree(values: NDArray[np.float64]) -> bool:
    """Whether half of some values, two at least, are equal; values near zero do not count."""
    positive = np.sort(values[values > 1e-9 * np.abs(values).max(initial=0.0)])
    if len(positive) < 2:
        return False
    ends = np.searchsorted(positive, positive * (1.0 + _EXACT), side="right")
    alike = int((ends - np.arange(len(positive))).max())
    return alike >= max(2.0, 0.5 * len(values))


def _equal_within_error(table: NDArray[np.float64]) -> bool:
    """Test that all standard deviations are equal, by their logarithms."""
    n, d = table.shape
    centred = table - table.mean(axis=0)
    squares = np.mean(centred**2, axis=0)
    tails = np.mean((centred / np.sqrt(squares)) ** 4, axis=0)
    errors = np.maximum(tails - 1.0, 0.1) / (4.0 * n)
    logs = 0.5 * np.log(squares)
    middle = np.average(logs, weights=1.0 / errors)
    return float(np.sum((logs - middle) ** 2 / errors)) < float(chdtri(d - 1, _LEVEL))


def few_valued(X: ArrayLike) -> NDArray[np.bool_]:
    r"""Find columns that have few distinct values: categories, counts, scores, many zeros.

    The effective number of values is :math:`1 / \sum p^2` over their shares p.

    Parameters
    ----------
    X : (n, d) array

    Returns
    -------
    (d,) array of bool
        False for constant columns, and for all where half the rows are fewer than the limit.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> table = np.column_stack([random.normal(size=200), random.poisson(4, 200)])
    >>> few_valued(table).tolist()
    [False, True]
    """
    table = np.asarray(X)
    n, d = table.shape
    found = np.zeros(d, np.bool_)
    for v in range(d):
        sizes = np.unique(table[:, v], return_counts=True)[1]
        found[v] = len(sizes) > 1 and n * n / np.sum(sizes.astype(np.float64) ** 2) < _FEW
    return found if n >= 2 * _FEW else np.zeros(d, np.bool_)
