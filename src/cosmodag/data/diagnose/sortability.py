"""Sortability: how well sorting columns by one number each recovers a causal order."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Scores with a smaller relative difference are tied: variances of standardised columns differ only
# by rounding errors.
TIED = 1e-5


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
