"""Names of columns: headers, selection by name or pattern, and checks."""

import difflib
import fnmatch
from collections import Counter
from collections.abc import Iterator, Sequence

from cosmodag.errors import DataError, name_list


def choose_columns(
    names: Sequence[str],
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    source: str = "the table",
) -> list[int]:
    """Return the positions of the columns to keep, in the order of the table.

    These are ``columns`` (all by default) without those in ``drop``. Each entry is a name, a
    pattern with ``*``, ``?`` or ``[…]`` as in file names, or several of these separated by commas;
    a name may itself contain commas.

    >>> choose_columns(["id", "dose_a", "dose_b", "level, mg"], drop=["id,dose_*"])
    [3]
    >>> choose_columns(["id", "dose_a", "dose_b", "level, mg"], columns=["level, mg", "id"])
    [0, 3]
    >>> choose_columns(['pipe 2"', "flow"], columns=['pipe 2"'])
    [0]
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
        if entry in names:
            yield entry
            continue
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
    """Suggest the known names that are most similar to an unknown one, for a message.

    >>> nearest("dos", ["dose", "level"])
    "the nearest is 'dose'"
    >>> nearest("age", ["dose", "level"])
    "it has 'dose', 'level'"
    """
    by_folded = {other.casefold(): other for other in reversed(known)}
    similar = difflib.get_close_matches(name.casefold(), list(by_folded), n=3, cutoff=0.6)
    if len(similar) == 1:
        return f"the nearest is {by_folded[similar[0]]!r}"
    if similar:
        return f"the nearest are {name_list([by_folded[other] for other in similar])}"
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


def header_names(first: list[str], source: str) -> list[str]:
    """Return the column names in the first record; refuse a record of numbers."""
    names = [name.strip() for name in first]
    # pandas writes 0, 1, 2, … as the names of a data frame that has none.
    counts_up = len(names) > 2 and names == [str(index) for index in range(len(names))]
    if all(is_number(name) for name in names) and not counts_up:
        raise DataError(
            f"the first line of {source} holds numbers where column names are expected "
            f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): read it with "
            "header=False (--no-header), or add a line of names."
        )
    return names


def default_names(first: list[str], source: str) -> list[str]:
    """Return default names for a file without a header; refuse a first record of words."""
    texts = [field for field in first if field.strip() and not is_number(field)]
    if len(texts) == len(first):
        raise DataError(
            f"the first line of {source} holds words, such as {texts[0]!r}, although header is "
            "False: read it with header=True (leave out --no-header)."
        )
    return numbered_names(len(first))


def numbered_names(count: int) -> list[str]:
    """Return the default names x0, x1, … of columns without names."""
    return [f"x{index}" for index in range(count)]


def is_number(text: str) -> bool:
    """Whether a field holds a number or a Boolean."""
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false")
    return True
