"""Which columns of a table to keep, by name."""

import difflib
import fnmatch
from collections.abc import Iterator, Sequence

from cosmodag.errors import DataError, name_list

__all__ = ["choose_columns", "nearest"]


def choose_columns(
    names: Sequence[str],
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    source: str = "the table",
) -> list[int]:
    """Find the positions of the columns to keep, in the order of the table.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.
    columns, drop : sequence of str, optional
        What to keep (everything by default), and what to leave out of that. Each is a name, a
        pattern with ``*``, ``?`` or ``[…]`` as in file names, or several of these between commas;
        a name may itself hold commas.
    source : str
        How messages call the table.

    Examples
    --------
    >>> choose_columns(["id", "dose_a", "dose_b", "level, mg"], drop=["id,dose_*"])
    [3]
    >>> choose_columns(["id", "dose_a", "dose_b", "level, mg"], columns=["level, mg", "id"])
    [0, 3]
    """
    kept = set(range(len(names)))
    if columns:
        kept = _positions(names, columns, source)
    if drop:
        kept -= _positions(names, drop, source)
    if not kept:
        raise DataError(f"every column of {source} is left out: keep at least two.")
    return sorted(kept)


def _positions(names: Sequence[str], asked: Sequence[str], source: str) -> set[int]:
    found: set[int] = set()
    for name in _single_names(names, asked):
        exact = [position for position, known in enumerate(names) if known == name]
        matching = exact or [
            position for position, known in enumerate(names) if fnmatch.fnmatchcase(known, name)
        ]
        if not matching:
            raise DataError(f"{source} has no column {name!r}: {nearest(name, names)}.")
        found.update(matching)
    return found


def _single_names(names: Sequence[str], asked: Sequence[str]) -> Iterator[str]:
    """Cut lists at their commas, but for those within the name of a column."""
    for entry in asked:
        parts = entry.split(",")
        while parts:
            joined = [
                ",".join(parts[:count]).strip().strip('"') for count in range(len(parts), 0, -1)
            ]
            name = next((name for name in joined if name in names), joined[-1])
            parts = parts[len(parts) - joined.index(name) :]
            if name:
                yield name


def nearest(name: str, known: Sequence[str]) -> str:
    """Say which of the known names are like a name that is not known.

    Examples
    --------
    >>> nearest("dos", ["dose", "level"])
    "the nearest is 'dose'"
    >>> nearest("age", ["dose", "level"])
    "it has 'dose', 'level'"
    """
    folded = {other.casefold(): other for other in reversed(known)}
    alike = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)
    if len(alike) == 1:
        return f"the nearest is {folded[alike[0]]!r}"
    if alike:
        return f"the nearest are {name_list([folded[other] for other in alike])}"
    return f"it has {name_list(known)}"
