"""The kind of each column: declared by the user, inferred from its values, or taken from a fit."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, name_list
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import is_number, nearest, numbered_names
from cosmodag.io.columns.values import encode_as
from cosmodag.io.kinds import KINDS, NOT_EXAMINED, ColumnKind, Kind, label_of
from cosmodag.io.tables.frames import Table

_OF_NUMBERS = ("continuous", "count")
_LEVELS = (list, tuple, ColumnKind)

FEW_VALUES = 10
"""Largest number of distinct values of a few-valued column."""

FEWEST_ROWS = 20
"""With fewer rows, any column has few values and may be sorted by chance."""

# Number of rows in which ties are looked for first.
_HEAD = 256

# A column of whole numbers is a count if its standard deviation is below the first limit, so that
# steps of one are coarse, or if its mean is fewer than the second number of standard deviations
# above zero, so that the bound at zero makes relations non-linear.
_COARSE, _NEAR_ZERO = 5.0, 2.0

_CONTINUOUS = ColumnKind("continuous", reason="numbers")


def check_kinds(given: Any) -> None:
    """Refuse an invalid value of the parameter `kinds`.

    Valid are ``"auto"``, a mapping from column names to entries, and a sequence with an entry for
    each column. An entry is a kind, the levels of an ordinal column from low to high, a
    `ColumnKind`, or, in a sequence, ``"auto"`` or None.
    """
    is_other_text = isinstance(given, str) and given != "auto"
    if is_other_text or not (given is None or isinstance(given, str | Mapping | Sequence)):
        raise DataError(
            f"kinds is {reprlib.repr(given)}: give 'auto', a mapping such as "
            "{'region': 'categorical'}, or one kind for each column."
        )
    for entry in _by_name(given, count()).values():
        if entry not in KINDS if isinstance(entry, str) else not isinstance(entry, _LEVELS):
            raise DataError(
                f"kinds has the entry {reprlib.repr(entry)}: it must be one of {', '.join(KINDS)}, "
                "or a list of levels from low to high."
            )


def declared_names(given: Any, data: Any) -> list[str]:
    """List the columns that are declared to hold levels, for `cosmodag.io.as_table`."""
    check_kinds(given)
    own: Iterable[Any] = ()
    if isinstance(given, Sequence) and not isinstance(given, str):
        sources = (getattr(data, known, None) for known in ("column_names", "columns", "names"))
        own = next((names for names in sources if names is not None), numbered_names(len(given)))
    entries = _by_name(given, own)
    return [name for name, entry in entries.items() if entry not in _OF_NUMBERS]


def _by_name(given: Any, names: Iterable[Any]) -> dict[str, Any]:
    """Map column names to the entries of `kinds`; `names` are those of the columns."""
    if given is None or isinstance(given, str):
        return {}
    if isinstance(given, Mapping):
        return {str(name): entry for name, entry in given.items()}
    pairs = zip(map(str, names), given, strict=False)
    return {name: entry for name, entry in pairs if entry not in (None, "auto")}


def plain_kinds(given: Any) -> Any:
    """Convert a value of the parameter `kinds` to one that JSON can hold."""

    def plain(entry: Any) -> Any:
        if isinstance(entry, ColumnKind):
            return list(entry.levels) if entry.kind == "ordinal" and entry.levels else entry.kind
        return entry if isinstance(entry, str) or entry is None else list(entry)

    if isinstance(given, Mapping):
        return {str(name): plain(entry) for name, entry in given.items()}
    return given if given is None or isinstance(given, str) else [plain(entry) for entry in given]


def _by_place(given: Any, names: Sequence[str]) -> dict[int, Any]:
    """Map column numbers to the entries of `kinds`; refuse entries for other columns."""
    check_kinds(given)
    entries = _by_name(given, names)
    if not (given is None or isinstance(given, str | Mapping) or len(given) == len(names)):
        raise DataError(
            f"kinds has {counted(len(given), 'entry', 'entries')}, but the table has "
            f"{counted(len(names), 'column')}."
        )
    places = {name: place for place, name in enumerate(names)}
    for name in entries:
        if name not in places:
            raise DataError(
                f"kinds names the column {name!r}, which the table does not have: "
                f"{nearest(name, names)}."
            )
    return {places[name]: entry for name, entry in entries.items()}


def _as_declared(
    name: str, column: NDArray[Any], before: ColumnKind, declared: Any
) -> tuple[NDArray[np.float64] | None, ColumnKind]:
    """Return the new values of a column, or None if they do not change, and its declared kind."""
    if isinstance(declared, ColumnKind) and not declared.is_levels:
        declared = declared.kind
    if not isinstance(declared, str):
        given = declared if isinstance(declared, ColumnKind) else ColumnKind("ordinal", declared)
        levels = tuple(label_of(level) for level in given.levels)
        if given.kind in _OF_NUMBERS or (given.kind == "binary" and len(levels) > 2):
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
    if known in _OF_NUMBERS:
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
    _refuse_other_numbers(name, numbers, kind)
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


def matched(table: Table, kinds: Sequence[ColumnKind]) -> NDArray[Any]:
    """Encode the labels of new data by the level numbers of a fit: (n, d).

    The same label may have different numbers in the new table and in the fit. If the levels of the
    fit are text, a column of numbers holds level numbers. `kinds` is empty if all columns of the
    fit were numbers.
    """
    X = table.X
    numbers = (NOT_EXAMINED,) * len(table.names)
    own, fitted = table.kinds or numbers, kinds or numbers
    for v, (name, before, kind) in enumerate(zip(table.names, own, fitted, strict=True)):
        if before.is_levels and not kind.is_levels:
            raise DataError(f"column {name!r} holds {before.reason}, but was fitted on numbers.")
        if not kind.is_levels or before.levels == kind.levels:
            continue
        X = np.array(X, np.float64) if X is table.X else X
        X[:, v] = renumbered(name, table.X[:, v], before, kind)
    return X


def renumbered(
    name: str, column: NDArray[Any], before: ColumnKind, kind: ColumnKind
) -> NDArray[np.float64]:
    """Encode a column of kind `before`, of levels or of numbers, by the level numbers of `kind`."""
    labels: Sequence[Any] = column.tolist()
    if before.is_levels:
        labels = [None if np.isnan(number) else before.levels[int(number)] for number in column]
    elif all(isinstance(level, str) for level in kind.levels):
        if not kind.is_number:  # predictions of linear equations lie between levels
            _refuse_other_numbers(name, column, kind)
        return np.asarray(column, np.float64)
    return encode_as(name, labels, kind).numbers


def _refuse_other_numbers(name: str, column: NDArray[Any], kind: ColumnKind) -> None:
    """Refuse a column with numbers that are not those of levels."""
    present = column[~np.isnan(column)]
    outside = (present != np.round(present)) | (present < 0) | (present >= len(kind.levels))
    if outside.any():
        raise DataError(
            f"column {name!r} has the number {present[outside][0]:g}, which is not a level: "
            f"give its labels ({name_list(kind.levels)}), or their numbers from 0 to "
            f"{len(kind.levels) - 1}."
        )


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
    declared = _by_place(given, table.names)
    before = table.kinds or (NOT_EXAMINED,) * len(table.names)
    kinds = list(before)
    undecided = [v for v, kind in enumerate(before) if not kind.reason and v not in declared]
    for v, kind in zip(undecided, _inferred(table.X, undecided), strict=True):
        kinds[v] = kind
    X = table.X
    for v, entry in declared.items():
        column, kinds[v] = _as_declared(table.names[v], table.X[:, v], before[v], entry)
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
    """Count the distinct values of each column that has many ties.

    The result is 0 for columns with more than 128 distinct values in the first 256 rows (with fewer
    rows, more than half as many as rows), and for tables of fewer than 20 rows.
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
    """Whether values are counts: non-negative whole numbers with ties, small or close to zero.

    `number` is the number of distinct values.
    """
    if number == len(values) or values.min() < 0 or (values != np.round(values)).any():
        return False
    deviation = float(np.std(values, dtype=np.float64))
    mean = float(np.mean(values, dtype=np.float64))
    return deviation < _COARSE or mean < _NEAR_ZERO * deviation
