"""Columns of values that are neither numbers nor levels, refused together in one message."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.errors import DataError, name_list
from cosmodag.io.columns.names import is_number
from cosmodag.io.kind_names import label_of

if TYPE_CHECKING:
    import pandas as pd

# Patterns of values that resemble numbers or missing values, with a remedy for each.
_MARKS = re.compile(r"[-–—.?*]+|n\.?/?a\.?|missing|unknown", re.I)
_REMEDIES = (
    (
        re.compile(r"[+-]?[1-9]\d{0,2},\d{3}"),
        "if the comma separates thousands, say so (thousands=',', --thousands ,), if decimals, "
        "write a point or say so (decimal=',', --decimal ,)",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?"),
        "name the mark between thousands (thousands=',', --thousands ,)",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+"),
        "name both marks (thousands='.' and decimal=',', --thousands . --decimal ,)",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}"),
        "name the mark between thousands (thousands='.', --thousands .)",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(['’\s]\d{3})+([.,]\d*)?"),
        "write numbers without thousands separators, or name the mark (thousands=, --thousands)",
    ),
    (
        re.compile(r"[+-]?\d+,\d+"),
        "write decimals with a point, or name the mark (decimal=',', --decimal ,)",
    ),
    (
        re.compile(r"[+-]?\s*[$€£¥]\s*[\d.,]+|[+-]?[\d.,]+\s*[$€£¥]|[\d.,]+\s*(USD|EUR|GBP)"),
        "write the number alone, without a currency",
    ),
    (re.compile(r"[+-]?\d[\d.]*\s*%"), "write the number alone, without a percent sign"),
    (_MARKS, "leave the cell empty if a value is missing, or name its spelling"),
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?"
)
_MAX_SHOWN = 8
FEW_VALUES = 10
"""Largest number of distinct values of a few-valued column."""

# Text with more distinct values than this share of the rows is an identifier or a description of
# the rows, not a category.
_MAX_DISTINCT = 0.5
_BOOLEANS = ("true", "false")


@dataclass(frozen=True)
class BadColumn:
    """A column that holds neither numbers nor levels.

    ``example`` is a value that is not a number, or None for a column without any value; ``kind`` is
    "date", "identifier" (text that differs in most rows), "number" (numbers stored as text), "text"
    (text among numbers, or values of an unknown type) or "empty".
    """

    name: str
    example: str | None
    kind: str
    marks: tuple[str, ...] = ()  # spellings of missing values, if the rest are numbers


def bad_columns(frame: "pd.DataFrame", declared: Collection[str] = ()) -> list[BadColumn]:
    """List the columns of a data frame that hold neither numbers nor levels.

    A column that the user declared to hold levels is bad only if it is empty.
    """
    import pandas as pd

    found = []
    empty = frame.isna().all(axis=0).to_numpy() & (len(frame) > 0)
    texts = np.array([not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes])
    # Not a loop over all columns, since a table may have 100,000 of them.
    for place in np.flatnonzero(empty | texts).tolist():
        name, column = str(frame.columns[place]), frame.iloc[:, place]
        if empty[place]:
            found.append(BadColumn(name, None, "empty"))
        elif name not in declared:
            is_text = not isinstance(column.dtype, pd.CategoricalDtype)
            if is_text and all(is_absent(value) or is_numeric(value) for value in column):
                continue
            counts = Counter(label_of(value) for value in column if not is_absent(value))
            bad = fault_of_labels(name, counts, is_text)
            found += [] if bad is None else [bad]
    return found


def is_absent(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, NA, or blank text."""
    if isinstance(value, str):
        return not value.strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def is_numeric(value: Any) -> bool:
    """Whether a value is a number or a Boolean, also of a type that no array of floats has."""
    return isinstance(value, Real | Decimal | np.bool_)


def fault_of_labels(name: str, counts: Mapping[Any, int], is_text: bool = True) -> BadColumn | None:
    """Describe why a column of labels cannot be a category; None if it can.

    Dates, identifiers, and numbers stored as text are refused. ``counts`` has the number of
    occurrences of each label. ``is_text`` is False for a column whose type is made for categories:
    its labels may look like numbers.
    """
    labels = [str(label) for label in counts]
    are_numbers = not any(isinstance(label, str) for label in counts)
    are_booleans = all(label.strip().lower() in _BOOLEANS for label in labels)
    if not labels or (is_text and (are_numbers or are_booleans)):
        return None
    if is_text:
        others = [label for label in labels if not is_number(label)]
        if not others:
            has_few = len(labels) <= min(FEW_VALUES, _MAX_DISTINCT * sum(counts.values()))
            has_few = has_few and all(label.strip().isdigit() for label in labels)
            return None if has_few else BadColumn(name, labels[0], "number")
        marks = tuple(sorted({one.strip() for one in others if _MARKS.fullmatch(one.strip())}))
        if len(others) < len(labels) and all(one.strip() in marks for one in others):
            return BadColumn(name, marks[0], "text", marks)
        wrong = next((label for label in others if _remedy(label)), others[0])
        bad = bad_column(name, wrong)
        if len(others) < len(labels) or _remedy(wrong) or bad.kind == "date":
            return bad
    rows = sum(counts.values())
    if 1 < len(labels) == rows or (len(labels) > 2 and len(labels) > _MAX_DISTINCT * rows):
        return BadColumn(name, labels[0], "identifier")
    return None


def bad_column(name: str, example: object) -> BadColumn:
    """Make a bad column from its name and a value that is not a number."""
    example = str(example)
    return BadColumn(name, example, "date" if _DATE.fullmatch(example.strip()) else "text")


def columns_error(
    bad: Sequence[BadColumn], source: str, with_gaps: Sequence[str] = ()
) -> DataError:
    """Create one error that names every bad column, with a value of each and a remedy.

    ``with_gaps`` names other columns that have missing values, which would be refused next.

    >>> bad = [BadColumn("id", "Jo", "text"), BadColumn("day", "2020-01-02", "date")]
    >>> str(columns_error(bad, "'t.csv'")).split(": ")[1]
    "'id' (the value 'Jo'), 'day' (dates such as '2020-01-02')"
    """
    marks = list(dict.fromkeys(mark for one in bad for mark in one.marks))
    if marks and all(one.marks for one in bad):
        names = name_list([one.name for one in bad])
        options = " ".join(f"--na {shlex.quote(mark)}" for mark in marks)
        return DataError(
            f"{names} of {source} {'has' if len(bad) == 1 else 'have'} numbers and "
            f"{name_list(marks)}, which may stand for missing values: leave such cells empty, or "
            f"name all spellings (na={marks}, {options})."
        )
    ready = f"--drop {shlex.quote(','.join(one.name for one in bad))}"
    if with_gaps:
        error = columns_error(bad, source)
        return DataError(
            f"{error} Values are missing in {name_list(list(with_gaps))}: add --missing drop or "
            f"--missing impute. Together: {ready} --missing impute."
        )
    if len(bad) == 1:
        one, remedy = bad[0], _remedy(bad[0].example)
        if one.example is None:
            text = f"{source} has no values in {one.name!r}: leave empty columns out ({ready})."
        elif remedy:
            text = f"column {one.name!r} of {source} has the value {_shown(one.example)}: {remedy}."
        else:
            text = (
                f"column {one.name!r} of {source} holds neither numbers nor levels (it has "
                f"{_what(one)}): leave it out ({ready}), turn it into numbers, or name it as a "
                f"category (kinds=, --categorical {shlex.quote(one.name)})."
            )
        return DataError(text)
    shown = ", ".join(f"{one.name!r} ({_what(one)})" for one in bad[:_MAX_SHOWN])
    more = f" and {len(bad) - _MAX_SHOWN} more" if len(bad) > _MAX_SHOWN else ""
    remedies = dict.fromkeys(words for one in bad if (words := _remedy(one.example)))
    others = [one for one in bad if one.example is not None and not _remedy(one.example)]
    advice = [f"leave them out ({ready})", *remedies]
    if others:
        advice.append(
            "turn them into numbers, or into levels by naming them as categories (kinds=, "
            "--categorical)"
        )
    return DataError(
        f"{len(bad)} columns of {source} hold neither numbers nor levels: {shown}{more}: "
        f"{', or '.join(advice)}."
    )


def _what(bad: BadColumn) -> str:
    if bad.example is None:
        return "no values"
    kinds = {
        "date": "dates such as ",
        "identifier": "text that differs in most rows, such as ",
        "number": "numbers written as text, such as ",
    }
    return kinds.get(bad.kind, "the value ") + _shown(bad.example)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _remedy(example: str | None) -> str | None:
    text = "" if example is None else example.strip()
    return next((words for known, words in _REMEDIES if known.fullmatch(text)), None)
