"""Findings about the values of a column: two, few, counts, running numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.errors import name_list

__all__ = [
    "FEW_VALUES",
    "are_counts",
    "binary",
    "counts",
    "few_values",
    "running_ids",
    "value_counts",
]

FEW_VALUES = 10
"""Columns with at most this many distinct values are called few-valued."""

_HEAD = 256
# With fewer rows, any column has few values and may be sorted by chance.
_FEWEST_ROWS = 20
# Standard deviation below which steps of one are coarse, and distance of the mean from zero, in
# standard deviations, below which the bound at zero makes relations non-linear.
_COARSE, _NEAR_ZERO = 5.0, 2.0
# Increasing integers whose range is at most this many times the number of rows are row numbers.
_SPARSE = 3.0


def value_counts(X: NDArray[Any]) -> NDArray[np.int64]:
    """Count the distinct values of each column; 0 if the first values mostly differ.

    Columns without ties among their first rows are not examined further.
    """
    if len(X) < _FEWEST_ROWS:
        return np.zeros(X.shape[1], np.int64)
    head = np.sort(X[:_HEAD], axis=0)
    different = 1 + (np.diff(head, axis=0) != 0).sum(axis=0)
    tied = np.flatnonzero(different <= len(head) // 2)
    found = np.zeros(X.shape[1], np.int64)
    found[tied] = [len(np.unique(X[:, column])) for column in tied.tolist()]
    return found


def binary(number: NDArray[np.int64], names: Sequence[str]) -> Iterator[Finding]:
    """Columns with two values."""
    found = tuple(names[column] for column in np.flatnonzero(number == 2).tolist())
    if found:
        yield Finding(
            "binary",
            found,
            len(found),
            "warning",
            f"Columns with two values ({name_list(found)}) do not have the additive noise of "
            "linear equations, so arcs into them are approximate, and their directions must not be "
            "based on the shape or variance of noise: read such arcs as associations.",
        )


def few_values(
    X: NDArray[Any], number: NDArray[np.int64], names: Sequence[str]
) -> Iterator[Finding]:
    """Columns with three to ten values."""
    few = np.flatnonzero((number > 2) & (number <= FEW_VALUES))
    found = tuple(names[column] for column in few.tolist())
    if found:
        whole = all((X[:, column] == np.round(X[:, column])).all() for column in few.tolist())
        codes = (
            "use one 0/1 column per level if they are codes of categories, and " if whole else ""
        )
        yield Finding(
            "few_values",
            found,
            len(found),
            "warning",
            f"Columns with {FEW_VALUES} distinct values or fewer ({name_list(found)}) do not have "
            "the continuous noise of linear equations, so directions must not be based on the "
            f"shape or variance of noise: {codes}read such arcs as associations.",
        )


def counts(X: NDArray[Any], number: NDArray[np.int64], names: Sequence[str]) -> Iterator[Finding]:
    """Non-negative integers that are small, or close to zero relative to their spread."""
    found = [
        column
        for column in np.flatnonzero(number > FEW_VALUES).tolist()
        if are_counts(X[:, column], int(number[column]))
    ]
    if found:
        named = tuple(names[column] for column in found)
        yield Finding(
            "counts",
            named,
            len(named),
            "warning",
            f"Counts ({name_list(named)}) vary more where they are larger, and their relations "
            "are rarely linear: take log(1 + x) or square roots first, and do not base directions "
            "on the shape of noise (noise='gaussian').",
        )


def are_counts(values: NDArray[Any], number: int) -> bool:
    """Whether numbers, of which `number` differ, are counts: whole, with ties, and near zero."""
    if number == len(values) or values.min() < 0 or (values != np.round(values)).any():
        return False
    deviation = float(np.std(values, dtype=np.float64))
    mean = float(np.mean(values, dtype=np.float64))
    return deviation < _COARSE or mean < _NEAR_ZERO * deviation


def running_ids(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> Iterator[Finding]:
    """Columns that number the rows: equal steps, or distinct integers with few left out.

    Parameters
    ----------
    X : (n, d) array
    columns : list of int
        The varying columns.
    names : sequence of str
    """
    if len(X) < _FEWEST_ROWS:
        return
    found = tuple(names[column] for column in columns if _numbers_rows(X[:, column]))
    if found:
        yield Finding(
            "running_id",
            found,
            len(found),
            "warning",
            f"The column {name_list(found)} numbers the rows and is not a measurement, so its arcs "
            "only show how the table was compiled: leave it out."
            if len(found) == 1
            else f"The columns {name_list(found)} number the rows and are not measurements, so "
            "their arcs only show how the table was compiled: leave them out.",
        )


def _numbers_rows(values: NDArray[Any]) -> bool:
    head = values[:_FEWEST_ROWS]
    steps = np.diff(head)
    if steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return bool(np.allclose(np.diff(values), steps[0], rtol=1e-6, atol=0))
    if (head != np.round(head)).any():
        return False
    span = float(values.max()) - float(values.min())
    if span >= _SPARSE * len(values) or len(np.unique(values)) < len(values):
        return False
    return span == len(values) - 1 or bool((np.diff(values) > 0).all())
