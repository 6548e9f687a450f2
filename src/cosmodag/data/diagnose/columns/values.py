"""Findings about the values of a column: two, few, counts, running numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.kinds.value_counts import FEW_VALUES, FEWEST_ROWS, are_counts
from cosmodag.errors import name_list

__all__ = ["binary", "counts", "few_values", "running_ids"]

# Increasing integers whose range is at most this many times the number of rows are row numbers.
_SPARSE = 3.0


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
            "name them as categories (kinds=, --categorical) if they are codes, and "
            if whole
            else ""
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


def running_ids(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> Iterator[Finding]:
    """Columns that number the rows: equal steps, or distinct integers with few left out.

    Parameters
    ----------
    X : (n, d) array
    columns : list of int
        The varying columns.
    names : sequence of str
    """
    if len(X) < FEWEST_ROWS:
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
    head = values[:FEWEST_ROWS]
    steps = np.diff(head)
    if steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return bool(np.allclose(np.diff(values), steps[0], rtol=1e-6, atol=0))
    if (head != np.round(head)).any():
        return False
    span = float(values.max()) - float(values.min())
    if span >= _SPARSE * len(values) or len(np.unique(values)) < len(values):
        return False
    return span == len(values) - 1 or bool((np.diff(values) > 0).all())
