"""Folds of rows that the content of the table determines."""

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
"""Number of folds of every comparison on held-out rows."""


def row_folds(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """(n,): fold of each row, of nearly equal size, by a hash of the ranks of its values.

    Units, the order of columns and the order of different rows change no fold.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> folds = row_folds(X)
    >>> np.bincount(folds).tolist()
    [10, 10, 10, 10, 10]
    >>> np.array_equal(folds, row_folds(1000 * X[:, ::-1]))
    True
    >>> np.array_equal(folds[::-1], row_folds(X[::-1]))
    True
    """
    total = np.zeros(len(X), np.uint64)
    for column in X.T:
        ranks = np.unique(column, return_inverse=True)[1].astype(np.uint64)
        total += _mixed(ranks)
    places = np.argsort(_mixed(total), kind="stable")
    folds = np.empty(len(X), np.intp)
    folds[places] = np.arange(len(X)) % FOLDS
    return folds


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble numbers by the finaliser of SplitMix64; products wrap around."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
