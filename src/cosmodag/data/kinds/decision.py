"""The kind of every column: as declared, or inferred from the number of its different values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.declared import as_declared, by_place
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind
from cosmodag.io.tables.frames import Table

__all__ = ["FEWEST_ROWS", "FEW_VALUES", "are_counts", "value_counts", "with_kinds"]

FEW_VALUES = 10
"""Columns with at most this many distinct values are called few-valued."""

FEWEST_ROWS = 20
"""With fewer rows, any column has few values and may be sorted by chance."""

_HEAD = 256
# Standard deviation below which steps of one are coarse, and distance of the mean from zero, in
# standard deviations, below which the bound at zero makes relations non-linear.
_COARSE, _NEAR_ZERO = 5.0, 2.0
_CONTINUOUS = ColumnKind("continuous", reason="numbers")


def with_kinds(table: Table, given: Any = "auto") -> Table:
    """Decide the kind of every column of a table, and encode columns declared to hold levels.

    Columns of text and of types for categories have their kinds from `cosmodag.io.as_table`. Among
    numbers, two values are binary; three to ten different whole numbers are ordinal; non-negative
    whole numbers that are small, or close to zero relative to their spread, are counts; all others
    are continuous. Such columns keep their values. Nothing is inferred from fewer than 20 values.

    Missing values are NaN. Columns whose kind has a reason are not examined again. `given` holds
    declared kinds, see `check_kinds`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 1] = X[:, 1] > 0
    >>> X[:, 2] = np.arange(50) % 4
    >>> [kind.kind for kind in with_kinds(Table(X, ["dose", "smoker", "ward"])).kinds]
    ['continuous', 'binary', 'ordinal']
    >>> found = with_kinds(Table(X, ["dose", "smoker", "ward"]), {"ward": "categorical"})
    >>> found.kinds[2].levels
    (0, 1, 2, 3)
    """
    declared = by_place(given, table.names)
    before = table.kinds or (NOT_EXAMINED,) * len(table.names)
    kinds = list(before)
    open_places = [v for v, kind in enumerate(before) if not kind.reason and v not in declared]
    for v, kind in zip(open_places, _inferred(table.X, open_places), strict=True):
        kinds[v] = kind
    X = table.X
    for v, entry in declared.items():
        column, kinds[v] = as_declared(table.names[v], table.X[:, v], before[v], entry)
        if kinds[v].is_levels and column is not None:
            X = np.array(X, np.float64) if X is table.X else X
            X[:, v] = column
    return Table(X, table.names, tuple(kinds))


def _inferred(X: NDArray[Any], places: list[int]) -> list[ColumnKind]:
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
