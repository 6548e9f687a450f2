"""The kind of a column of numbers, inferred from its values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.io.columns.refused import FEW_VALUES as FEW_VALUES
from cosmodag.io.kind_names import ColumnKind

FEWEST_ROWS = 20
"""With fewer rows, any column has few values and may be sorted by chance."""

# Number of rows in which ties are looked for first.
_HEAD = 256

# A column of whole numbers is a count if its standard deviation is below the first limit, so that
# steps of one are coarse, or if its mean is fewer than the second number of standard deviations
# above zero, so that the bound at zero makes relations non-linear.
_COARSE, _NEAR_ZERO = 5.0, 2.0

_CONTINUOUS = ColumnKind("continuous", reason="numbers")


def kinds_of_numbers(X: NDArray[Any], places: list[int]) -> list[ColumnKind]:
    """Infer the kinds of some columns of numbers; missing values are NaN."""
    if not places:
        return []
    part = X if len(places) == X.shape[1] else X[:, places]
    gaps = np.isnan(part).any(axis=0)
    number = value_counts(part)
    kinds = []
    for k, few in enumerate(number.tolist()):
        values = part[~np.isnan(part[:, k]), k] if gaps[k] else part[:, k]
        if gaps[k]:
            few = int(value_counts(values[:, None])[0])
        kinds.append(_CONTINUOUS if few == 0 else _kind_of(values, few))
    return kinds


def _kind_of(values: NDArray[Any], number: int) -> ColumnKind:
    if number == 2:
        low, high = (f"{value:g}" for value in np.unique(values))
        return ColumnKind("binary", reason=f"two values, {low} and {high}")
    is_whole = number > 2 and bool((values == np.round(values)).all())
    if is_whole and number <= FEW_VALUES:
        return ColumnKind("ordinal", reason=f"{number} different whole numbers")
    if is_whole and are_counts(values, number):
        return ColumnKind("count", reason="whole numbers from zero upwards")
    return _CONTINUOUS


def value_counts(X: NDArray[Any]) -> NDArray[np.int64]:
    """Count the distinct values of each column that has many ties.

    The result is 0 for columns with more than 128 distinct values in the first 256 rows (with fewer
    rows, more than half as many as rows; likewise among rows that are not zero), and for tables of
    fewer than 20 rows.
    """
    if len(X) < FEWEST_ROWS:
        return np.zeros(X.shape[1], np.int64)
    head = np.sort(X[:_HEAD], axis=0)
    different = 1 + (np.diff(head, axis=0) != 0).sum(axis=0)
    # Many zeros are no ties: whether amounts are counts must not depend on the share of zeros.
    zeros = np.count_nonzero(head == 0, axis=0)
    others, present = different - (zeros > 0), len(head) - zeros
    are_tied = (different <= FEW_VALUES) | (others <= present // 2)
    tied = np.flatnonzero((different <= len(head) // 2) & are_tied)
    found = np.zeros(X.shape[1], np.int64)
    found[tied] = [len(np.unique(X[:, column])) for column in tied.tolist()]
    return found


def are_counts(values: NDArray[Any], number: int) -> bool:
    """Whether values are counts: non-negative whole numbers with ties, small or close to zero.

    `number` is the number of distinct values.
    """
    if number == len(values) or values.min() < 0 or (values != np.round(values)).any():
        return False
    deviation = float(np.std(values, dtype=np.float64))
    mean = float(np.mean(values, dtype=np.float64))
    return deviation < _COARSE or mean < _NEAR_ZERO * deviation
