"""Interventions: the targets of each row, parsed into a Boolean mask."""

import reprlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, name_list
from cosmodag.graph.texts import counted
from cosmodag.io.columns.refused import is_absent
from cosmodag.io.kind_names import label_of
from cosmodag.io.tables.foreign import narwhals_frame

ASSUMPTION = (
    "Interventions are assumed to be perfect: they set the named variables and affect nothing "
    "else directly. If they also acted on other variables, or did not determine the measured "
    "values, arrows that are based on them may be wrong."
)
"""The assumption about interventions, as text for users."""

# With fewer rows without intervention, a variable's equation cannot be estimated.
_FEWEST_ROWS = 2


def take_column(X: Any, given: Any, what: str = "interventions") -> tuple[Any, Any]:
    """Split a column of labels off a table, if `given` is the name of a column.

    Returns the table without the column, and the entries of the column. If `given` is not a string,
    both are returned unchanged. `what` is the name of the parameter in messages.
    """
    if not isinstance(given, str):
        return X, given
    import narwhals as nw

    frame = narwhals_frame(X, "the table")
    if not isinstance(frame, nw.DataFrame):
        raise DataError(
            f"{what} is the column name {given!r}, but the table has no column names: "
            "pass a data frame, or a list with an entry for each row."
        )
    if given not in frame.columns:
        raise DataError(
            f"{what} names the column {given!r}, which the table does not have: its "
            f"columns are {name_list(list(frame.columns), most=10)}."
        )
    return frame.drop(given).to_native(), frame.get_column(given).to_list()


def take_columns(X: Any, interventions: Any, regimes: Any) -> tuple[Any, Any, Any]:
    """Split the columns of targets and of regimes off a table; they may be one column."""
    X, entries = take_column(X, interventions)
    if isinstance(regimes, str) and isinstance(interventions, str) and regimes == interventions:
        return X, entries, entries
    X, labels = take_column(X, regimes, "regimes")
    return X, entries, labels


def targets_of(interventions: Any, names: Sequence[str], rows: int) -> NDArray[np.bool_] | None:
    """Mark the entries of a table that were set by intervention: (n, d), None if there are none.

    Interventions are a Boolean array or frame, or a sequence with an entry for each row: the name
    or number of the column that was set, several of them in a list or separated by semicolons in
    one string, or, for a row without intervention, None or an empty string or list.

    >>> targets_of(["", "b", "a;b"], ["a", "b"], 3).astype(int).tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    if interventions is None:
        return None
    mask = _mask(interventions, names, rows)
    if mask is None:
        mask = _from_entries(interventions, names, rows)
    return mask if mask.any() else None


def never_free(
    targets: NDArray[np.bool_], names: Sequence[str], absent: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Mark the variables that were set in all rows, or in all but one, and warn about them.

    Rows in which a variable is `absent` (n, d) do not count.
    """
    free = ~targets if absent is None else ~(targets | absent)
    always = targets.any(axis=0) & (np.count_nonzero(free, axis=0) < _FEWEST_ROWS)
    if always.any():
        listed = name_list([names[place] for place in np.flatnonzero(always).tolist()])
        warnings.warn(
            f"Interventions set {listed} in every row with a value, so the table holds no "
            "information about the causes of these columns: no arc into them is searched for.",
            DataWarning,
            stacklevel=4,
        )
    return always


def _mask(given: Any, names: Sequence[str], rows: int) -> NDArray[np.bool_] | None:
    """Convert a Boolean array or frame to a mask; return None for any other input."""
    import narwhals as nw

    frame = narwhals_frame(given, "interventions")
    if isinstance(frame, nw.DataFrame):
        found = [str(name) for name in frame.columns]
        if sorted(found) != sorted(names):
            raise DataError(
                f"interventions has the columns {name_list(found)}, but the table has "
                f"{name_list(list(names))}: give one column for each column of the table."
            )
        given = frame.to_numpy()[:, [found.index(name) for name in names]]
    if not isinstance(given, np.ndarray) or given.ndim != 2:
        return None
    if given.shape != (rows, len(names)):
        raise DataError(
            f"interventions has shape {given.shape}, but the table has {counted(rows, 'row')} and "
            f"{counted(len(names), 'column')}."
        )
    has_gaps = given.dtype == object and any(map(is_absent, given.ravel().tolist()))
    if has_gaps or not np.isin(given, (0, 1)).all():
        raise DataError(
            "interventions has values other than true and false: give true where a variable was "
            "set, and false elsewhere."
        )
    return given.astype(bool)


def row_entries(given: Any, rows: int, what: str, other: str = "") -> list[Any]:
    """List the entries of a sequence that must have one for each row.

    Messages call it `what`, and add `other` to the list of accepted values.
    """
    if hasattr(given, "to_list"):
        given = given.to_list()
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = given.tolist()
    if isinstance(given, str | np.ndarray) or not isinstance(given, Iterable):
        raise DataError(
            f"{what} is {reprlib.repr(given)}: it must be a list with an entry for each row, or "
            f"the name of a column{other}."
        )
    entries = list(given)
    if len(entries) != rows:
        raise DataError(
            f"{what} has {counted(len(entries), 'entry', 'entries')}, but the table has "
            f"{counted(rows, 'row')}: give one entry for each row."
        )
    return entries


def _from_entries(given: Any, names: Sequence[str], rows: int) -> NDArray[np.bool_]:
    entries = row_entries(given, rows, "interventions", ", or a Boolean table")
    places = {name: place for place, name in enumerate(names)}
    known: dict[Any, list[int]] = {}
    mask = np.zeros((rows, len(names)), bool)
    for row, entry in enumerate(entries):
        several = isinstance(entry, list | tuple | set | frozenset | np.ndarray)
        key = tuple(entry) if several else entry
        if key not in known:
            known[key] = [_place(target, places, row) for target in _split(key, places)]
        mask[row, known[key]] = True
    return mask


def _split(entry: Any, places: dict[str, int]) -> list[Any]:
    """Split an entry into its targets: a tuple, one name, or several joined by semicolons."""
    if is_absent(entry):
        return []
    if isinstance(entry, tuple):
        return list(entry)
    if isinstance(entry, str):
        if entry.strip() in places:
            return [entry.strip()]
        return [part.strip() for part in entry.split(";") if part.strip()]
    return [entry]


def _place(target: Any, places: dict[str, int], row: int) -> int:
    label = label_of(target)  # a column of numbers with gaps holds 2.0 for 2
    for text in (str(target), str(label)):
        if text in places:
            return places[text]
    if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < len(places):
        return label
    raise DataError(
        f"interventions names {target!r} in row {row + 1}, but the table has no such column: its "
        f"columns are {name_list(list(places), most=10)}."
    )
