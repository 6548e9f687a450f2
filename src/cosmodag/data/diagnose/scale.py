"""The scale of columns: constants, units, outliers, and sortability by variance and by R²."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from cosmodag.data.diagnose.findings import Finding, about, chosen

Floats = NDArray[np.float64]

# Ratios of standard deviations. Linear models with unit noise reach 1,600 on 100 nodes and 400
# arcs: above this limit, different units are the more likely explanation.
SCALE_RATIO = 1e4
# About the precision of a float64: a sum of both columns loses the smaller one.
UNUSABLE_RATIO = 1e15
# Columns with a smaller ratio count as standardised.
EQUAL_SCALE = 1.001
# In robust standard deviations. Among 100,000 values, exponential noise reaches about 19, and t
# noise with five degrees of freedom exceeded 30 in few tables.
FAR = 50.0

ABOUT_SCALE = (
    "squared-error learners follow the variances of the columns, a cue that standardising removes "
    "and does not replace: trust their directions only if all columns have the same unit and noise "
    "of the same size (OrderSearch() and Cosmo() use variances only where they find equal noise "
    "variances, and report it)"
)
"""Advice about the scale of columns: the second half of a sentence."""

# Limits on the range of a column. The square root of the largest float64 is 1.3e154, and squares
# are summed: larger values overflow before a learner rescales the table.
LARGE = 1e150
# Squares of smaller values lose digits and then underflow.
SMALL = 1e-150

# Largest number of entries in a block of columns, and about the number of rows used for medians.
_BLOCK = 1 << 22
_SAMPLE = 4096

# Scores with a smaller relative difference are tied: variances of standardised columns differ only
# by rounding errors.
TIED = 1e-5


def sizes_of(X: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Compute standard deviation, range and largest robust distance of each column: (d,) each.

    The robust distance of a value is that from the median, in robust standard deviations.
    """
    # An overflow gives infinity or NaN in the summary, which is reported as too large.
    with np.errstate(over="ignore", invalid="ignore"):
        lows = X.min(axis=0).astype(np.float64)
        highs = X.max(axis=0).astype(np.float64)
        deviations = np.empty(X.shape[1])
        width = max(1, _BLOCK // len(X))  # by blocks of columns: no copy of the whole table
        for start in range(0, X.shape[1], width):
            block = slice(start, start + width)
            deviations[block] = np.std(X[:, block], axis=0, dtype=np.float64)
        return deviations, highs - lows, _robust_distance(X, lows, highs)


def _robust_distance(X: NDArray[Any], lows: Floats, highs: Floats) -> Floats:
    """Compute each column's largest distance from its median, in units of 1.4826 × MAD."""
    # Evenly spaced rows: the median of thousands of rows is as good as that of millions.
    sample = X[:: max(1, len(X) // _SAMPLE)].astype(np.float64)
    medians = np.median(sample, axis=0)
    spread = stats.median_abs_deviation(sample, axis=0, scale="normal")
    units: Floats = np.zeros(X.shape[1])
    # The MAD of a column that mostly repeats one value is zero.
    np.divide(np.maximum(highs - medians, medians - lows), spread, out=units, where=spread > 0)
    return units


def standardised(X: NDArray[Any]) -> Floats:
    """Scale columns to mean zero and standard deviation one; constant columns become zero.

    Columns are divided by their largest values first, so that no square overflows.
    """
    largest = np.abs(X).max(axis=0)
    centred = np.asarray(X, np.float64) / np.where(largest > 0, largest, 1.0)
    centred -= centred.mean(axis=0)
    deviations = centred.std(axis=0)
    return np.asarray(centred / np.where(deviations > 0, deviations, 1.0))


def constant(is_constant: NDArray[np.bool_], names: Sequence[str]) -> list[Finding]:
    """Report columns with a single value."""
    sentence = "A column with a single value stays isolated in the graph: leave out {columns}."
    return about("constant", chosen(names, is_constant), sentence)


def out_of_range(spans: Floats, names: Sequence[str]) -> list[Finding]:
    """Report columns whose squares overflow, or lose digits."""
    small = (spans > 0) & (spans < SMALL)
    too_large = (
        "Squares of the values in {columns} exceed the range of double precision: divide the "
        "values by a large number."
    )
    too_small = (
        "Squares of the values in {columns} are too small for double precision: multiply the "
        "values by a large number."
    )
    least = float(spans.min(where=small, initial=np.inf))
    return [
        *about("too_large", chosen(names, spans > LARGE), too_large, spans.max(), "error"),
        *about("too_small", chosen(names, small), too_small, least, "error"),
    ]


def different_scales(
    deviations: Floats, is_constant: NDArray[np.bool_], names: Sequence[str]
) -> list[Finding]:
    """Report standard deviations that differ too much, or not at all."""
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
            "All columns have the same standard deviation, as after standardising, and "
            f"{ABOUT_SCALE}."
        )
        return [Finding("equal_scale", (), ratio, "warning", sentence)]
    pair = (names[small], names[large])
    times = f"The standard deviation of {pair[1]!r} is {ratio:.3g} times that of {pair[0]!r}"
    if ratio <= UNUSABLE_RATIO:
        sentence = f"{times}, which suggests different units, and {ABOUT_SCALE}."
        return [Finding("scale_ratio", pair, ratio, "warning", sentence)]
    sentence = (
        f"{times}, more than double precision can represent in one equation: check the largest "
        "values, or convert the columns to comparable units."
    )
    return [Finding("unusable_scale", pair, ratio, "error", sentence)]


def outliers(distances: Floats, names: Sequence[str]) -> list[Finding]:
    """Report outliers that dominate a squared-error fit."""
    most = float(distances.max())
    sentence = (
        f"Values up to {most:.3g} robust standard deviations from the median let a few rows "
        "dominate a squared-error fit: check {columns}, or take logarithms."
    )
    return about("outliers", chosen(names, distances > FAR), sentence, most)


def varsortability(X: ArrayLike, graph: ArrayLike) -> float:
    """Measure how well the variances of the columns reveal the order of a DAG.

    Varsortability is the fraction of pairs joined by a directed path, counted once for each path
    length, for which the variance grows from cause to effect (Reisach et al. 2021, section 3.1): 1
    if sorting by variance puts causes first, about ½ if variance is uninformative. Variances that
    agree to five digits, as after standardising, are tied, and a tie counts one half.

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

    R²-sortability is defined like varsortability, but with R², the fraction of a column's variance
    explained by a regression on all other columns, instead of the variance (Reisach et al. 2023, *A
    scale-invariant sorting criterion to find a causal order in additive noise models*, equation 3).
    """
    return _alignment(graph, explained_variance(np.asarray(X, dtype=np.float64)))


def explained_variance(X: NDArray[Any]) -> NDArray[np.float64]:
    """Compute R² of each column on all others: 1 − 1 / (C⁻¹)ⱼⱼ for the correlation matrix C.

    A column that others determine has R² = 1, even if C is singular; a constant column has R² = 0.
    """
    explained: NDArray[np.float64] = 1 - 1 / variance_inflation(X)
    return explained


def variance_inflation(
    X: NDArray[Any], smallest: float = float(np.finfo(np.float64).eps)
) -> NDArray[np.float64]:
    """Compute 1/(1 − R²) of each column on all others: the diagonal of C⁻¹, C the correlations.

    C is singular if columns are collinear, or if there are no more rows than columns. Eigenvalues
    below `smallest` times the largest are therefore raised to this limit. Columns that others
    determine then have a very large inflation, in the order of a vanishing ridge, (C + δI)⁻¹ with
    δ → 0. (The pseudo-inverse, which is also in use, gives duplicates a small inflation.)

    Parameters
    ----------
    X : array of shape (n, d)
        Rows are samples.
    smallest : float
        Fraction of the largest eigenvalue of C below which an eigenvalue counts as rounding error;
        use a larger one for data in single precision.

    Returns
    -------
    array of shape (d,)
        Variance inflation factors; 1 for a constant column.

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
    # No other column explains a constant one: its row of C is zero.
    return np.where(deviations > 0, (vectors**2 / values).sum(axis=1), 1.0)


def _alignment(graph: ArrayLike, scores: NDArray[np.float64], tied: float = 0.0) -> float:
    """Compute the fraction of paths along which the score grows; a tie counts one half."""
    arcs = np.asarray(graph) != 0
    difference = scores[None, :] - scores[:, None]
    differs = np.abs(difference) > tied * np.maximum(scores[None, :], scores[:, None])
    growth = (np.sign(difference) * differs + 1) / 2
    step = arcs.astype(np.float32)
    paths, count, grown = arcs, 0, 0.0
    # In round k, `paths` marks the pairs joined by a walk of k arcs.
    for _ in range(len(arcs) - 1):
        if not paths.any():
            break
        count += int(paths.sum())
        grown += float(growth[paths].sum())
        paths = paths.astype(np.float32) @ step > 0
    return grown / count if count else float("nan")
