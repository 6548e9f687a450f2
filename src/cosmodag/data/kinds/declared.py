"""Values of the parameter `kinds`: the kinds of columns that the user declares."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import nearest, numbered_names
from cosmodag.io.kind_names import KINDS, ColumnKind

OF_NUMBERS = ("continuous", "count")
"""Kinds whose values are numbers rather than levels."""
_LEVELS = (list, tuple, ColumnKind)


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
    return [name for name, entry in entries.items() if entry not in OF_NUMBERS]


def _by_name(given: Any, names: Iterable[Any]) -> dict[str, Any]:
    """Map column names to the entries of `kinds`; `names` are those of the columns."""
    if given is None or isinstance(given, str):
        return {}
    if isinstance(given, Mapping):
        return {str(name): entry for name, entry in given.items()}
    pairs = zip(map(str, names), given, strict=False)
    return {name: entry for name, entry in pairs if entry not in (None, "auto")}


def by_place(given: Any, names: Sequence[str]) -> dict[int, Any]:
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


def plain_kinds(given: Any) -> Any:
    """Convert a value of the parameter `kinds` to one that JSON can hold."""

    def plain(entry: Any) -> Any:
        if isinstance(entry, ColumnKind):
            return list(entry.levels) if entry.kind == "ordinal" and entry.levels else entry.kind
        return entry if isinstance(entry, str) or entry is None else list(entry)

    if isinstance(given, Mapping):
        return {str(name): plain(entry) for name, entry in given.items()}
    return given if given is None or isinstance(given, str) else [plain(entry) for entry in given]
