"""The number of different values of columns, and whether they are counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST_ROWS", "FEW_VALUES", "are_counts", "value_counts"]

FEW_VALUES = 10
"""Columns with at most this many distinct values are called few-valued."""

FEWEST_ROWS = 20
"""With fewer rows, any column has few values and may be sorted by chance."""

_HEAD = 256
# Standard deviation below which steps of one are coarse, and distance of the mean from zero, in
# standard deviations, below which the bound at zero makes relations non-linear.
_COARSE, _NEAR_ZERO = 5.0, 2.0


def value_counts(X: NDArray[Any]) -> NDArray[np.int64]:
    """Count the distinct values of each column; 0 if the first values mostly differ.

    Columns without ties among their first rows are not examined further.
    """
    if len(X) < FEWEST_ROWS:
        return np.zeros(X.shape[1], np.int64)
    head = np.sort(X[:_HEAD], axis=0)
    different = 1 + (np.diff(head, axis=0) != 0).sum(axis=0)
    tied = np.flatnonzero(different <= len(head) // 2)
    found = np.zeros(X.shape[1], np.int64)
    found[tied] = [len(np.unique(X[:, column])) for column in tied.tolist()]
    return found


def are_counts(values: NDArray[Any], number: int) -> bool:
    """Whether numbers, of which `number` differ, are counts: whole, with ties, and near zero."""
    if number == len(values) or values.min() < 0 or (values != np.round(values)).any():
        return False
    deviation = float(np.std(values, dtype=np.float64))
    mean = float(np.mean(values, dtype=np.float64))
    return deviation < _COARSE or mean < _NEAR_ZERO * deviation
