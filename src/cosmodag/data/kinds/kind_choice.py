"""The kind of each column: declared by the user, inferred from its values, or known before."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.declared import OF_NUMBERS, by_place
from cosmodag.data.kinds.inferred import kinds_of_numbers
from cosmodag.data.kinds.levels import refuse_other_numbers, renumbered
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import is_number
from cosmodag.io.kind_names import KINDS, NOT_EXAMINED, ColumnKind, Kind, label_of
from cosmodag.io.tables.frames import Table


def with_kinds(table: Table, given: Any = "auto") -> Table:
    """Decide the kind of every column of a table, and encode columns declared to hold levels.

    `cosmodag.io.as_table` has already set the kinds of columns of text and of categorical types. A
    column of numbers is binary if it has two distinct values; ordinal if it has three to ten
    distinct whole numbers; a count if its values are non-negative whole numbers that are small, or
    close to zero relative to their spread; and continuous otherwise, or with fewer than 20 values.
    Columns of inferred kinds keep their values. Missing values are NaN.

    Columns whose kind has a reason are not examined again. `given` holds the declared kinds, see
    `check_kinds`.

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
    undecided = [v for v, kind in enumerate(before) if not kind.reason and v not in declared]
    for v, kind in zip(undecided, kinds_of_numbers(table.X, undecided), strict=True):
        kinds[v] = kind
    X = table.X
    for v, entry in declared.items():
        column, kinds[v] = _as_declared(table.names[v], table.X[:, v], before[v], entry)
        if kinds[v].is_levels and column is not None:
            X = np.array(X, np.float64) if X is table.X else X
            X[:, v] = column
    return Table(X, table.names, tuple(kinds))


def _as_declared(
    name: str, column: NDArray[Any], before: ColumnKind, declared: Any
) -> tuple[NDArray[np.float64] | None, ColumnKind]:
    """Return the new values of a column, or None if they do not change, and its declared kind."""
    if isinstance(declared, ColumnKind) and not declared.is_levels:
        declared = declared.kind
    if not isinstance(declared, str):
        given = declared if isinstance(declared, ColumnKind) else ColumnKind("ordinal", declared)
        levels = tuple(label_of(level) for level in given.levels)
        if given.kind in OF_NUMBERS or (given.kind == "binary" and len(levels) > 2):
            found = counted(len(levels), "level")
            raise DataError(f"kinds declares {name!r} as {given.kind}, but with {found}.")
        if not levels or len(set(levels)) < len(levels):
            fault = "a level twice" if levels else "no levels"
            raise DataError(f"kinds gives {name!r} {fault}: list each level once.")
        kind = ColumnKind(given.kind, levels, f"{counted(len(levels), 'level')} as given")
        return _with_levels(name, column, before, kind)
    known: Kind = next(kind for kind in KINDS if kind == declared)
    if not before.is_levels:
        return _numbers_as_declared(name, column, known)
    number, fault = len(before.levels), ""
    if known in OF_NUMBERS:
        fault = "but its values are labels."
    elif known == "binary" and number > 2:
        fault = f"but it has {counted(number, 'level')}."
    elif known == "ordinal" and number > 2 and before.kind != "ordinal":
        fault = (
            "but not the order of its levels: give them from low to high, as in "
            f"{name}: {list(before.levels)}."
        )
    if fault:
        raise DataError(f"kinds declares {name!r} as {known}, {fault}")
    return None, replace(before, kind=known, reason=f"as given, {counted(number, 'level')}")


def _with_levels(
    name: str, column: NDArray[Any], before: ColumnKind, kind: ColumnKind
) -> tuple[NDArray[np.float64], ColumnKind]:
    """Encode a column by the declared levels; return it with its kind.

    In a column of numbers, levels that are numbers written as text are numbers. If all levels are
    words, the column holds level numbers.
    """
    texts = [str(level).strip().lower() for level in kind.levels]
    are_numbers = not any(isinstance(level, str) for level in before.levels)
    if are_numbers and all(map(is_number, texts)):
        truths = {"true": True, "false": False}
        levels = (truths[text] if text in truths else label_of(float(text)) for text in texts)
        kind = replace(kind, levels=tuple(levels))
    numbers = renumbered(name, column, before, kind)
    refuse_other_numbers(name, numbers, kind)
    return numbers, kind


def _numbers_as_declared(
    name: str, column: NDArray[Any], declared: Kind
) -> tuple[NDArray[np.float64] | None, ColumnKind]:
    present = column[~np.isnan(column)]
    if declared == "categorical":
        levels = tuple(label_of(value) for value in np.unique(present).astype(np.float64))
        kind = ColumnKind("categorical", levels, f"as given, {counted(len(levels), 'level')}")
        return renumbered(name, column, NOT_EXAMINED, kind), kind
    if declared == "binary" and len(np.unique(present)) > 2:
        raise DataError(f"kinds declares {name!r} as binary, but it has more than two values.")
    if declared == "count" and ((present < 0).any() or (present != np.round(present)).any()):
        raise DataError(
            f"kinds declares {name!r} as a count, but not all of its values are whole numbers "
            "from zero upwards."
        )
    return None, ColumnKind(declared, reason="as given")
