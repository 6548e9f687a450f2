"""Findings about the scale of the columns: constants, units, outliers."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, chosen
from cosmodag.errors import name_list

__all__ = [
    "ABOUT_SCALE",
    "EQUAL_SCALE",
    "FAR",
    "LARGE",
    "SCALE_RATIO",
    "SMALL",
    "Summary",
    "constant",
    "different_scales",
    "outliers",
    "summary_of",
    "too_large",
    "too_small",
]

# Linear models with unit noise reach ratios of 1,600 on 100 nodes and 400 arcs: above this,
# different units are the more likely explanation.
SCALE_RATIO = 1e4
# One unit in the last place of the larger column: adding both loses the smaller.
UNUSABLE_RATIO = 1e15
# Ratio below which columns count as standardised.
EQUAL_SCALE = 1.001
# In robust standard deviations; among 100,000 values exponential noise reaches about 19, and
# t noise with five degrees of freedom passed 30 in few tables.
FAR = 50.0

ABOUT_SCALE = (
    "learners of squared error follow the variances of the columns, which standardising hides and "
    "does not cure: trust their directions only if the columns share a unit and their noise a "
    "size (OrderSearch() and Cosmo() decide directions from units only where they find equal noise "
    "variances, and say so)"
)
"""What is true of scale, in all tables; a part of a sentence."""

# Learners rescale a table, but squares of values above this overflow before that: the square root
# of the largest float64 is 1.3e154, and squares are summed.
LARGE = 1e150
# Likewise, squares of values below this lose digits and then underflow.
SMALL = 1e-150

_BLOCK = 1 << 22
_SAMPLE = 4096


class Summary(NamedTuple):
    """Summary statistics of the columns, (d,) each."""

    deviations: NDArray[np.float64]
    spans: NDArray[np.float64]
    distances: NDArray[np.float64]


def summary_of(X: NDArray[Any]) -> Summary:
    """Compute deviations, ranges and distances from the median in a few passes over the table."""
    # Overflow here gives infinity or NaN in the summary, which is reported as too large.
    with np.errstate(over="ignore", invalid="ignore"):
        lows = X.min(axis=0).astype(np.float64)
        highs = X.max(axis=0).astype(np.float64)
        deviations = np.empty(X.shape[1])
        for block in _blocks(X):
            deviations[block] = np.std(X[:, block], axis=0, dtype=np.float64)
        return Summary(deviations, highs - lows, _robust_distance(X, lows, highs))


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    """Split a table into groups of columns, to avoid a copy of the whole table."""
    width = max(1, _BLOCK // len(X))
    for start in range(0, X.shape[1], width):
        yield slice(start, start + width)


def _robust_distance(
    X: NDArray[Any], lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute each column's largest distance from its median, in units of 1.4826 × the MAD."""
    # A regular sample of rows: the median of thousands is as good as that of millions.
    sample = X[:: max(1, len(X) // _SAMPLE)].astype(np.float64)
    medians = np.median(sample, axis=0)
    spread = 1.4826 * np.median(np.abs(sample - medians), axis=0)
    units: NDArray[np.float64] = np.zeros(X.shape[1])
    # The MAD of a column that mostly repeats one value is zero.
    np.divide(np.maximum(highs - medians, medians - lows), spread, out=units, where=spread > 0)
    return units


def constant(is_constant: NDArray[np.bool_], names: Sequence[str]) -> Iterator[Finding]:
    """Columns with a single value."""
    if is_constant.any():
        found = chosen(names, is_constant)
        yield Finding(
            "constant",
            found,
            len(found),
            "warning",
            "A column with a single value stays isolated in the graph: leave out "
            f"{name_list(found)}.",
        )


def too_large(spans: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    """Values whose squares overflow."""
    large = spans > LARGE
    if large.any():
        found = chosen(names, large)
        yield Finding(
            "too_large",
            found,
            float(spans.max()),
            "error",
            f"Squares of the values in {name_list(found)} exceed the range of double precision: "
            "divide them by a large number.",
        )


def too_small(spans: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    """Columns whose values cannot be squared without losing their digits."""
    small = (spans > 0) & (spans < SMALL)
    if small.any():
        found = chosen(names, small)
        yield Finding(
            "too_small",
            found,
            float(spans[small].min()),
            "error",
            f"Squares of the values in {name_list(found)} are too small for double precision: "
            "multiply them by a large number.",
        )


def different_scales(
    deviations: NDArray[np.float64], is_constant: NDArray[np.bool_], names: Sequence[str]
) -> Iterator[Finding]:
    """Look for standard deviations that differ too much, or not at all."""
    varying = np.flatnonzero(~is_constant & (deviations > 0) & np.isfinite(deviations))
    if len(varying) < 2:
        return
    small = int(varying[np.argmin(deviations[varying])])
    large = int(varying[np.argmax(deviations[varying])])
    ratio = float(deviations[large] / deviations[small])
    if ratio > UNUSABLE_RATIO:
        yield Finding(
            "unusable_scale",
            (names[small], names[large]),
            ratio,
            "error",
            f"The standard deviation of {names[large]!r} is {ratio:.3g} times that of "
            f"{names[small]!r}, more than double precision can represent in one equation: check "
            "the largest values, or convert the columns to comparable units.",
        )
    elif ratio > SCALE_RATIO:
        yield Finding(
            "scale_ratio",
            (names[small], names[large]),
            ratio,
            "warning",
            f"The standard deviation of {names[large]!r} is {ratio:.3g} times that of "
            f"{names[small]!r}, as happens where units differ, and {ABOUT_SCALE}.",
        )
    elif ratio < EQUAL_SCALE:
        yield Finding(
            "equal_scale",
            (),
            ratio,
            "warning",
            f"All columns have the same standard deviation, as if standardised, and {ABOUT_SCALE}.",
        )


def outliers(distances: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    """Outliers that dominate a squared-error fit."""
    far = distances > FAR
    if far.any():
        found, most = chosen(names, far), float(distances.max())
        yield Finding(
            "outliers",
            found,
            most,
            "warning",
            f"Values up to {most:.3g} robust standard deviations from the median let a few rows "
            f"dominate a squared-error fit: check {name_list(found)}, or take logarithms.",
        )
