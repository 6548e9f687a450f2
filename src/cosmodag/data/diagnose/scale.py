"""The scale of columns: constants, units, outliers, and what sorting by a number each recovers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from cosmodag.data.diagnose.findings import Finding, about, chosen

Floats = NDArray[np.float64]

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
    "learners of squared error follow the variances of the columns, a cue that standardising "
    "removes and does not replace: trust their directions only if all columns have the same unit "
    "and noise of the same size (OrderSearch() and Cosmo() use variances only where they find "
    "equal noise variances, and report it)"
)
"""Advice about the scale of columns, for all tables; a part of a sentence."""

# Learners rescale a table, but squares of values above this overflow before that: the square root
# of the largest float64 is 1.3e154, and squares are summed.
LARGE = 1e150
# Likewise, squares of values below this lose digits and then underflow.
SMALL = 1e-150

_BLOCK = 1 << 22
_SAMPLE = 4096

# Scores with a smaller relative difference are tied: variances of standardised columns differ only
# by rounding errors.
TIED = 1e-5


def summary_of(X: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Compute the standard deviation, the range and the robust distance of each column: (d,) each.

    The robust distance is that of the value farthest from the median.
    """
    # Overflow here gives infinity or NaN in the summary, which is reported as too large.
    with np.errstate(over="ignore", invalid="ignore"):
        lows = X.min(axis=0).astype(np.float64)
        highs = X.max(axis=0).astype(np.float64)
        deviations = np.empty(X.shape[1])
        width = max(1, _BLOCK // len(X))  # columns at a time, to avoid a copy of the whole table
        for start in range(0, X.shape[1], width):
            block = slice(start, start + width)
            deviations[block] = np.std(X[:, block], axis=0, dtype=np.float64)
        return deviations, highs - lows, _robust_distance(X, lows, highs)


def _robust_distance(X: NDArray[Any], lows: Floats, highs: Floats) -> Floats:
    """Compute each column's largest distance from its median, in units of 1.4826 × the MAD."""
    # A regular sample of rows: the median of thousands is as good as that of millions.
    sample = X[:: max(1, len(X) // _SAMPLE)].astype(np.float64)
    medians = np.median(sample, axis=0)
    spread = stats.median_abs_deviation(sample, axis=0, scale="normal")
    units: Floats = np.zeros(X.shape[1])
    # The MAD of a column that mostly repeats one value is zero.
    np.divide(np.maximum(highs - medians, medians - lows), spread, out=units, where=spread > 0)
    return units


def standardised(X: NDArray[Any]) -> Floats:
    """Columns of mean zero and deviation one; constant ones are zero.

    They are divided by their largest values first, so that no square overflows.
    """
    largest = np.abs(X).max(axis=0)
    centred = np.asarray(X, np.float64) / np.where(largest > 0, largest, 1.0)
    centred -= centred.mean(axis=0)
    deviations = centred.std(axis=0)
    return np.asarray(centred / np.where(deviations > 0, deviations, 1.0))


def constant(is_constant: NDArray[np.bool_], names: Sequence[str]) -> list[Finding]:
    """Columns with a single value."""
    sentence = "A column with a single value stays isolated in the graph: leave out {columns}."
    return about("constant", chosen(names, is_constant), sentence)


def out_of_range(spans: Floats, names: Sequence[str]) -> list[Finding]:
    """Columns whose squares overflow, or lose their digits."""
    small = (spans > 0) & (spans < SMALL)
    too_large = (
        "Squares of the values in {columns} exceed the range of double precision: divide them by a "
        "large number."
    )
    too_small = (
        "Squares of the values in {columns} are too small for double precision: multiply them by a "
        "large number."
    )
    least = float(spans.min(where=small, initial=np.inf))
    return [
        *about("too_large", chosen(names, spans > LARGE), too_large, spans.max(), "error"),
        *about("too_small", chosen(names, small), too_small, least, "error"),
    ]


def different_scales(
    deviations: Floats, is_constant: NDArray[np.bool_], names: Sequence[str]
) -> list[Finding]:
    """Compare standard deviations that differ too much, or not at all."""
    varying = np.flatnonzero(~is_constant & (deviations > 0) & np.isfinite(deviations))
    if len(varying) < 2:
        return []
    small = int(varying[np.argmin(deviations[varying])])
    large = int(varying[np.argmax(deviations[varying])])
    ratio = float(deviations[large] / deviations[small])
    if EQUAL_SCALE <= ratio <= SCALE_RATIO:
        return []
    if ratio < EQUAL_SCALE:
        sentence = (
            f"All columns have the same standard deviation, as if standardised, and {ABOUT_SCALE}."
        )
        return [Finding("equal_scale", (), ratio, "warning", sentence)]
    pair = (names[small], names[large])
    times = f"The standard deviation of {pair[1]!r} is {ratio:.3g} times that of {pair[0]!r}"
    if ratio <= UNUSABLE_RATIO:
        sentence = f"{times}, as happens where units differ, and {ABOUT_SCALE}."
        return [Finding("scale_ratio", pair, ratio, "warning", sentence)]
    sentence = (
        f"{times}, more than double precision can represent in one equation: check the largest "
        "values, or convert the columns to comparable units."
    )
    return [Finding("unusable_scale", pair, ratio, "error", sentence)]


def outliers(distances: Floats, names: Sequence[str]) -> list[Finding]:
    """Outliers that dominate a squared-error fit."""
    most = float(distances.max())
    sentence = (
        f"Values up to {most:.3g} robust standard deviations from the median let a few rows "
        "dominate a squared-error fit: check {columns}, or take logarithms."
    )
    return about("outliers", chosen(names, distances > FAR), sentence, most)


def varsortability(X: ArrayLike, graph: ArrayLike) -> float:
    """Measure how well the variances of the columns reveal the order of a DAG.

    This is the share of pairs joined by a directed path, counted once for every path length, for
    which variance grows from cause to effect (Reisach et al. 2021, section 3.1): 1 if sorting by
    variance puts causes first, about ½ if it is uninformative. Variances that agree to five digits,
    as after standardising, are tied, and a tie counts one half.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows are samples.
    graph : array of shape (d, d)
        A DAG, non-zero at [u, v] for the arc u → v; in a graph with cycles, walks of up to d − 1
        arcs are counted.

    Returns
    -------
    float
        Between 0 and 1; NaN for a graph without arcs.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> X = np.column_stack([x, 2 * x])
    >>> varsortability(X, [[0, 1], [0, 0]]), varsortability(X, [[0, 0], [1, 0]])
    (1.0, 0.0)
    """
    return _alignment(graph, np.var(np.asarray(X), axis=0, dtype=np.float64), TIED)


def r2_sortability(X: ArrayLike, graph: ArrayLike) -> float:
    """Measure how well the columns' R² reveal the order of a DAG, independently of scale.

    As `varsortability`, but with the share of a column's variance that a regression on all other
    columns explains in place of the variance (Reisach et al. 2023, *A scale-invariant sorting
    criterion to find a causal order in additive noise models*, equation 3).

    Parameters
    ----------
    X, graph
        As in `varsortability`.

    Returns
    -------
    float
        Between 0 and 1; NaN for a graph without arcs.
    """
    return _alignment(graph, explained_variance(np.asarray(X, dtype=np.float64)))


def explained_variance(X: NDArray[Any]) -> NDArray[np.float64]:
    """Compute R² of each column on all others: 1 − 1 / (C⁻¹)ⱼⱼ for the correlation matrix C.

    A column that others determine has R² = 1, whether or not C can be inverted; a constant one
    has R² = 0.
    """
    explained: NDArray[np.float64] = 1 - 1 / variance_inflation(X)
    return explained


def variance_inflation(
    X: NDArray[Any], smallest: float = float(np.finfo(np.float64).eps)
) -> NDArray[np.float64]:
    """Compute 1/(1 − R²) of each column on all others: the diagonal of C⁻¹, C the correlations.

    If C is singular, because columns are collinear or there are no more rows than columns,
    eigenvalues below a share of the largest are raised to it. Columns that others determine then
    have a very large inflation, ordered as by a vanishing ridge, (C + δI)⁻¹ with δ → 0. (The
    pseudo-inverse, also in use, gives duplicates a small one.)

    Parameters
    ----------
    X : array of shape (n, d)
        Rows are samples.
    smallest : float
        The share of the largest eigenvalue of C that counts as rounding error: larger for data in
        single precision.

    Returns
    -------
    array of shape (d,)
        At least 1, and 1 for a constant column.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 10_000))
    >>> variance_inflation(np.column_stack([x, x + y])).round(1).tolist()
    [2.0, 2.0]
    """
    deviations = np.std(X, axis=0, dtype=np.float64)
    centred = X - np.mean(X, axis=0, dtype=np.float64)
    standard = centred / np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(standard.T @ standard / len(X))
    values = np.maximum(values, max(smallest * values[-1], np.finfo(float).tiny))
    # No column explains a constant one: its row of C is zero except for the ridge.
    return np.where(deviations > 0, (vectors**2 / values).sum(axis=1), 1.0)


def _alignment(graph: ArrayLike, scores: NDArray[np.float64], tied: float = 0.0) -> float:
    """Compute the share of paths along which the score grows; a tie counts one half."""
    arcs = np.asarray(graph) != 0
    difference = scores[None, :] - scores[:, None]
    differs = np.abs(difference) > tied * np.maximum(scores[None, :], scores[:, None])
    growth = (np.sign(difference) * differs + 1) / 2
    step = arcs.astype(np.float32)
    paths, count, grown = arcs, 0, 0.0
    # Round k holds the pairs joined by walks of k arcs; a DAG has finitely many.
    for _ in range(len(arcs) - 1):
        if not paths.any():
            break
        count += int(paths.sum())
        grown += float(growth[paths].sum())
        paths = paths.astype(np.float32) @ step > 0
    return grown / count if count else float("nan")
