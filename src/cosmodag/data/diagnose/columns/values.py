"""Findings about the values of a column: two, few, counts, running numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, about, chosen
from cosmodag.data.kinds.value_counts import FEW_VALUES, FEWEST_ROWS, are_counts

__all__ = ["running_ids", "unlike_lines"]

# Increasing integers whose range is at most this many times the number of rows are row numbers.
_SPARSE = 3.0


def unlike_lines(X: NDArray[Any], number: NDArray[np.int64], names: Sequence[str]) -> list[Finding]:
    """Columns of two values, of three to ten, and of counts: their noise is not continuous.

    `number` (d,) has the number of different values of each column, 0 if there are many.
    """
    few = (number > 2) & (number <= FEW_VALUES)
    whole = all((X[:, v] == np.round(X[:, v])).all() for v in np.flatnonzero(few).tolist())
    codes = "name them as categories (kinds=, --categorical) if they are codes, and "
    counts = [
        names[v]
        for v in np.flatnonzero(number > FEW_VALUES).tolist()
        if are_counts(X[:, v], int(number[v]))
    ]
    return [
        *about(
            "binary",
            chosen(names, number == 2),
            "Columns with two values ({columns}) do not have the additive noise of linear "
            "equations, so arcs into them are approximate, and their directions must not be based "
            "on the shape or variance of noise: read such arcs as associations.",
        ),
        *about(
            "few_values",
            chosen(names, few),
            f"Columns with {FEW_VALUES} distinct values or fewer ({{columns}}) do not have the "
            "continuous noise of linear equations, so directions must not be based on the shape or "
            f"variance of noise: {codes if whole else ''}read such arcs as associations.",
        ),
        *about(
            "counts",
            counts,
            "Counts ({columns}) vary more where they are larger, and their relations are rarely "
            "linear: take log(1 + x) or square roots first, and do not base directions on the "
            "shape of noise (noise='gaussian').",
        ),
    ]


def running_ids(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Varying columns that number the rows: equal steps, or distinct integers, few left out."""
    if len(X) < FEWEST_ROWS:
        return []
    found = [names[column] for column in columns if _numbers_rows(X[:, column])]
    sentence = (
        "The column {columns} numbers the rows and is not a measurement, so its arcs only show how "
        "the table was compiled: leave it out."
        if len(found) == 1
        else "The columns {columns} number the rows and are not measurements, so their arcs only "
        "show how the table was compiled: leave them out."
    )
    return about("running_id", found, sentence)


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
