"""Kinds of columns: what the numbers of a column mean, inferred from the values or said."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.values import FEW_VALUES, are_counts, value_counts
from cosmodag.errors import DataError, name_list
from cosmodag.io.columns import nearest, numbered_names
from cosmodag.io.frames import Table
from cosmodag.io.kinds import KINDS, NOT_EXAMINED, ColumnKind, Kind, label_of
from cosmodag.io.levels import encode_as

__all__ = ["KINDS", "ColumnKind", "Kind", "check_kinds", "declared_names", "matched", "with_kinds"]

# With fewer values, a column of a continuous variable may have few different ones by chance.
_FEWEST_ROWS = 20
_CONTINUOUS = ColumnKind("continuous", reason="numbers")


def with_kinds(table: Table, asked: Any = "auto") -> Table:
    """Decide the kind of every column of a table, and encode columns that are said to hold levels.

    Columns of text and of types for categories have their kinds from `cosmodag.io.as_table`. Among
    numbers, two values are binary; three to ten different whole numbers are ordinal; non-negative
    whole numbers that are small, or close to zero relative to their spread, are counts; all others
    are continuous. Such columns keep their values. Nothing is inferred from fewer than 20 values.

    Parameters
    ----------
    table : Table
        Missing values are NaN. Columns whose kind has a reason are not examined again.
    asked : "auto", mapping or sequence
        What the user says, see `check_kinds`.

    Returns
    -------
    Table
        The table with a kind, and its reason, for every column.

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
    said = _by_place(asked, table.names)
    before = table.kinds or (NOT_EXAMINED,) * len(table.names)
    kinds = list(before)
    open_places = [v for v, kind in enumerate(before) if not kind.reason and v not in said]
    for v, kind in zip(open_places, _inferred(table.X, open_places), strict=True):
        kinds[v] = kind
    X = table.X
    for v, wish in said.items():
        column, kinds[v] = _as_said(table.names[v], table.X[:, v], before[v], wish)
        if kinds[v].is_levels and column is not None:
            X = np.array(X, np.float64) if X is table.X else X
            X[:, v] = column
    return Table(X, table.names, tuple(kinds))


def check_kinds(asked: Any) -> None:
    """Refuse a description of kinds that cannot be used.

    It is ``"auto"``; a mapping from names of columns; or a sequence with an entry for each column.
    An entry is a kind, the levels of an ordinal column from low to high, a `ColumnKind`, or, in a
    sequence, ``"auto"`` or None.
    """
    if isinstance(asked, str) and asked != "auto":
        raise DataError(
            f"kinds is {asked!r}: give 'auto', a mapping such as {{'region': 'categorical'}}, or "
            "one kind for each column."
        )
    if isinstance(asked, Mapping):
        entries = [*asked.values()]
    elif asked == "auto" or asked is None:
        entries = []
    elif isinstance(asked, Sequence):
        entries = [entry for entry in asked if entry not in (None, "auto")]
    else:
        raise DataError(f"kinds is a {type(asked).__name__}: give 'auto', a mapping or a list.")
    for entry in entries:
        if isinstance(entry, str) and entry not in KINDS:
            raise DataError(
                f"kinds has the entry {entry!r}: it must be one of {', '.join(KINDS)}, or a list "
                "of levels from low to high."
            )
        if not isinstance(entry, str | list | tuple | ColumnKind):
            raise DataError(
                f"kinds has an entry of type {type(entry).__name__}: give one of "
                f"{', '.join(KINDS)}, or a list of levels from low to high."
            )


def declared_names(asked: Any, data: Any) -> list[str]:
    """Names of the columns of a table that are said to hold levels, for `cosmodag.io.as_table`."""
    check_kinds(asked)
    if isinstance(asked, str) or asked is None:
        return []
    if isinstance(asked, Mapping):
        entries = {str(name): wish for name, wish in asked.items()}
    else:
        own = getattr(data, "column_names", getattr(data, "columns", None))
        names = numbered_names(len(asked)) if own is None else [str(name) for name in own]
        entries = dict(zip(names, asked, strict=False))
    return [name for name, wish in entries.items() if wish not in (None, *_OF_NUMBERS, "auto")]


def matched(table: Table, kinds: Sequence[ColumnKind] | None) -> NDArray[Any]:
    """Encode new data with the levels of a fit, matched by label.

    Parameters
    ----------
    table : Table
        New data; the labels of its columns of levels may have other numbers than in the fit.
        Numbers in a column whose levels are text are numbers of levels.
    kinds : sequence of ColumnKind, optional
        Kinds of the columns in the fit.

    Returns
    -------
    (n, d) array
    """
    if kinds is None:
        return table.X
    X = table.X
    own = table.kinds or (NOT_EXAMINED,) * len(table.names)
    for v, (name, mine, kind) in enumerate(zip(table.names, own, kinds, strict=True)):
        if mine.is_levels and not kind.is_levels:
            raise DataError(f"column {name!r} holds {mine.reason}, but was fitted on numbers.")
        if not kind.is_levels or mine.levels == kind.levels:
            continue
        X = np.array(X, np.float64) if X is table.X else X
        X[:, v] = _renumbered(name, table.X[:, v], mine, kind)
    return X


_OF_NUMBERS = ("continuous", "count")


def _inferred(X: NDArray[Any], places: list[int]) -> list[ColumnKind]:
    """Infer the kinds of columns of numbers."""
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
    """Infer the kind of a column of numbers from the number of its different values."""
    if number == 2:
        low, high = (f"{value:g}" for value in np.unique(values))
        return ColumnKind("binary", reason=f"two values, {low} and {high}")
    is_whole = number > 2 and bool((values == np.round(values)).all())
    if is_whole and number <= FEW_VALUES:
        return ColumnKind("ordinal", reason=f"{number} different whole numbers")
    if is_whole and are_counts(values, number):
        return ColumnKind("count", reason="whole numbers from zero upwards")
    return _CONTINUOUS


def _by_place(asked: Any, names: Sequence[str]) -> dict[int, Any]:
    """Entries of what the user says, by the place of the column."""
    check_kinds(asked)
    if isinstance(asked, Mapping):
        places = {name: place for place, name in enumerate(names)}
        for name in asked:
            if str(name) not in places:
                raise DataError(
                    f"kinds names the column {name!r}, which the table does not have: "
                    f"{nearest(str(name), names)}."
                )
        return {places[str(name)]: wish for name, wish in asked.items()}
    if asked is None or isinstance(asked, str):
        return {}
    if len(asked) != len(names):
        raise DataError(f"kinds has {len(asked)} entries, but the table has {len(names)} columns.")
    return {v: wish for v, wish in enumerate(asked) if wish not in (None, "auto")}


def _as_said(
    name: str, column: NDArray[Any], before: ColumnKind, wish: Any
) -> tuple[NDArray[np.float64] | None, ColumnKind]:
    """Give a column the kind that the user says; the first value is its numbers if they change."""
    if isinstance(wish, ColumnKind):
        wish = wish.levels if wish.is_levels else wish.kind
    if not isinstance(wish, str):
        levels = tuple(label_of(level) for level in wish)
        kind = ColumnKind("ordinal", levels, f"{len(levels)} levels as given")
        return _renumbered(name, column, before, kind), kind
    if before.is_levels:
        return None, _levels_as_said(name, before, wish)
    return _numbers_as_said(name, column, wish)


def _levels_as_said(name: str, before: ColumnKind, wish: str) -> ColumnKind:
    """Give a column of labels the kind that the user says."""
    count = len(before.levels)
    if wish in _OF_NUMBERS:
        raise DataError(f"kinds says that {name!r} is {wish}, but its values are labels.")
    if wish == "binary" and count > 2:
        raise DataError(f"kinds says that {name!r} is binary, but it has {count} levels.")
    if wish == "ordinal" and count > 2 and before.kind != "ordinal":
        raise DataError(
            f"kinds says that {name!r} is ordinal, but not in which order its levels are: give "
            f"them from low to high, as in {name}: {list(before.levels)}."
        )
    return replace(before, kind=wish, reason=f"as given, {count} levels")


def _numbers_as_said(
    name: str, column: NDArray[Any], wish: str
) -> tuple[NDArray[np.float64] | None, ColumnKind]:
    """Give a column of numbers the kind that the user says."""
    present = column[~np.isnan(column)]
    if wish == "categorical":
        levels = tuple(label_of(value) for value in np.unique(present).astype(np.float64))
        kind = ColumnKind("categorical", levels, f"as given, {len(levels)} levels")
        return _renumbered(name, column, NOT_EXAMINED, kind), kind
    if wish == "binary" and len(np.unique(present)) > 2:
        raise DataError(f"kinds says that {name!r} is binary, but it has more than two values.")
    if wish == "count" and ((present < 0).any() or (present != np.round(present)).any()):
        raise DataError(
            f"kinds says that {name!r} is a count, but not all of its values are whole numbers "
            "from zero upwards."
        )
    return None, ColumnKind(wish, reason="as given")  # type: ignore[arg-type]


def _renumbered(
    name: str, column: NDArray[Any], mine: ColumnKind, kind: ColumnKind
) -> NDArray[np.float64]:
    """Numbers of the levels of a kind, for a column of other levels or of numbers."""
    labels: Sequence[Any] = column.tolist()
    if mine.is_levels:
        labels = [None if np.isnan(one) else mine.levels[int(one)] for one in column]
    elif all(isinstance(level, str) for level in kind.levels):
        present = column[~np.isnan(column)]
        outside = (present != np.round(present)) | (present < 0) | (present >= len(kind.levels))
        if outside.any():
            raise DataError(
                f"column {name!r} has the number {present[outside][0]:g}, which is no level: give "
                f"its labels ({name_list(kind.levels)}), or their numbers from 0 to "
                f"{len(kind.levels) - 1}."
            )
        return np.asarray(column, np.float64)
    return encode_as(name, labels, kind).numbers
