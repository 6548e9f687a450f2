"""Columns of a table: names, selection, and errors about values that are not numbers."""

import difflib
import fnmatch
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cosmodag.errors import DataError, name_list

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_names",
    "choose_columns",
    "header_names",
    "is_number",
    "made_up_names",
    "nearest",
    "not_numbers",
    "numbered_names",
    "refuse_empty",
    "refuse_text",
]

# Patterns of values that are almost numbers, with a remedy for each.
_REMEDIES = (
    (re.compile(r"[+-]?\d{1,3}([,'’\s]\d{3})+\.\d*"), "write numbers without thousands separators"),
    (re.compile(r"[+-]?\d+(\.\d{3})*,\d+"), "write decimals with a point, not a comma"),
    (re.compile(r"[+-]?\d[\d.]*\s*%"), "write the number alone, without a percent sign"),
    (
        re.compile(r"[-–—.?*]+|n\.?a\.?|missing", re.I),
        "leave the cell empty if a value is missing",
    ),
)


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
        Columns to keep (all by default), and columns to leave out of these. Each is a name, a
        pattern with ``*``, ``?`` or ``[…]`` as in file names, or several of these separated by
        commas; a name may itself contain commas.
    source : str
        Name of the table in messages.

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
    """Split lists at their commas, except commas within a column name."""
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
    """Suggest known names that are similar to an unknown one.

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


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse empty and repeated names."""
    if "" in names:
        position = list(names).index("") + 1
        raise DataError(
            f"column {position} of {source} has no name: name it, or leave it out (pandas writes "
            "no row index with index=False; --columns selects columns by name)."
        )
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise DataError(
            f"{source} has more than one column named {name_list(repeated)}: give every column a "
            "unique name."
        )


def not_numbers(
    name: str, example: object, source: str, leave_out: str = "leave it out"
) -> DataError:
    """Create the error for a column that is not numeric: its name, a value, and a remedy."""
    text = str(example)
    shown = repr(text if len(text) <= 40 else text[:40] + "…")
    remedy = next((words for known, words in _REMEDIES if known.fullmatch(text.strip())), None)
    if remedy:
        return DataError(f"column {name!r} of {source} has the value {shown}: {remedy}.")
    return DataError(
        f"column {name!r} of {source} is not numeric (it has the value {shown}): {leave_out}, "
        "or code it as numbers first, a category as one 0/1 column per level."
    )


def refuse_text(frame: "pd.DataFrame", source: str) -> None:
    """Refuse a CSV with a column that did not parse as numbers, and name the first bad value."""
    import pandas as pd

    texts = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    for name, column in frame.loc[:, texts].items():
        present = column.dropna()
        kept = present[[str(value) not in ("True", "False") for value in present]]
        try:
            wrong = kept[pd.to_numeric(kept, errors="coerce").isna()]
        except OverflowError:  # a whole number of hundreds of digits
            wrong = kept[[not is_number(str(value)) for value in kept]]
        if len(wrong):
            leave_out = f"leave it out (--drop {shlex.quote(str(name))})"
            raise not_numbers(str(name), wrong.iloc[0], source, leave_out)


def refuse_empty(frame: "pd.DataFrame", source: str) -> None:
    """Refuse columns without any value, for which dropping rows does not help."""
    empty = [str(name) for name in frame.columns[frame.isna().all(axis=0)]]
    if empty and len(frame):
        raise DataError(
            f"{source} has no values in {name_list(empty)}: leave empty columns out "
            f"(--drop {shlex.quote(','.join(empty[:5]))})."
        )


def header_names(first: list[str], source: str) -> list[str]:
    """Column names from the first record; a record of numbers means that the header is missing."""
    names = [name.strip() for name in first]
    if all(is_number(name) for name in names) and not _counts_up(names):
        raise DataError(
            f"the first line of {source} holds numbers where column names are expected "
            f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): read it with "
            "header=False (--no-header), or add a line of names."
        )
    return names


def _counts_up(names: list[str]) -> bool:
    """Whether names are 0, 1, 2, …, as pandas writes a data frame without names."""
    return len(names) > 2 and names == [str(index) for index in range(len(names))]


def made_up_names(first: list[str], source: str) -> list[str]:
    """Default names for a file without a header; a record of words is refused as a header."""
    texts = [field for field in first if field.strip() and not is_number(field)]
    if len(texts) == len(first):
        raise DataError(
            f"the first line of {source} holds words, such as {texts[0]!r}, although header is "
            "False: read it with header=True (leave out --no-header)."
        )
    return numbered_names(len(first))


def numbered_names(count: int) -> list[str]:
    """Default names x0, x1, … of columns without names."""
    return [f"x{index}" for index in range(count)]


def is_number(text: str) -> bool:
    """Whether a field holds a number or a Boolean."""
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false")
    return True
