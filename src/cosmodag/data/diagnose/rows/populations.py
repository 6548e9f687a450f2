"""A finding about several populations in one table: clusters of rows."""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from cosmodag.data.diagnose.findings import Finding

__all__ = ["several_populations", "valley"]

_DIRECTIONS = 3
_FEWEST_ROWS = 50
_GRID = 100
# Limit on √n times the depth of a valley. Uniform samples, which have the deepest valleys of all
# unimodal distributions, stayed below it in 1,499 of 1,500 tables with 60 to 5,000 rows, measured
# on a grid of 200 points, twice as fine as the one used.
_DEEP = 1.15


def several_populations(
    standard: NDArray[np.float64], few_valued: NDArray[np.float64]
) -> list[Finding]:
    """Search for clusters along the directions of largest variance.

    The common part of many columns is a sum of many causes and has one mode; if rows come from two
    populations with different means, it has two. Few-valued columns are regressed out first: the
    learner can already use them to separate populations. All columns are centred, and continuous
    ones have unit variance.
    """
    n, k = standard.shape
    if n < _FEWEST_ROWS or k < 2:
        return []
    last = (max(0, k - _DIRECTIONS), k - 1)
    _, vectors = linalg.eigh(standard.T @ standard / n, subset_by_index=last)
    along = standard @ vectors
    if few_valued.shape[1]:
        along = along - few_valued @ np.linalg.lstsq(few_valued, along, rcond=None)[0]
    deepest = float(max(np.sqrt(n) * valley(values) for values in along.T))
    if deepest <= _DEEP:
        return []
    sentence = (
        "The rows fall into clusters, as if they came from several populations, and arcs then join "
        "columns that differ between populations without a causal relation: fit each population "
        "separately, or add a column that names the population of each row."
    )
    return [Finding("several_populations", (), deepest, "warning", sentence)]


def valley(values: NDArray[np.float64]) -> float:
    """Depth of the valley between two modes: distance to the closest unimodal distribution.

    A unimodal distribution function is convex before its mode and concave after it. The depth is
    the minimum, over positions of the mode, of the larger of two distances: to the greatest convex
    minorant before it and to the least concave majorant after it. It is close to twice the dip of
    Hartigan and Hartigan (1985).

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=400)
    >>> x[:200] += 6
    >>> valley(x) > 0.1 > valley(x[200:])
    True
    """
    places = np.unique(np.linspace(0, len(values) - 1, _GRID).round().astype(np.intp))
    points, first = np.unique(np.sort(values)[places], return_index=True)
    heights = (places[first] + 0.5) / len(values)
    if len(points) < 4:
        return 0.0

    def before(mode: int) -> float:
        return _above_minorant(points[: mode + 1], heights[: mode + 1])

    def after(mode: int) -> float:
        return _above_minorant(-points[mode:][::-1], 1 - heights[mode:][::-1])

    low, high = 1, len(points) - 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if before(middle) < after(middle) else (low, middle)
    return min(max(before(mode), after(mode)) for mode in (low, high))


def _above_minorant(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Largest distance of points above their greatest convex minorant.

    Its slopes are those between the points, made to increase by weighted least squares.
    """
    widths = np.diff(x)
    slopes = optimize.isotonic_regression(np.diff(y) / widths, weights=widths).x
    return float(np.max(y[1:] - y[0] - np.cumsum(slopes * widths), initial=0.0))
