"""Values that are not numbers: all columns that hold them are refused in one message."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.columns import is_number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BadColumn", "bad_columns", "columns_error", "described", "has_decimal_commas"]

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
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?"
)
_MOST_SHOWN = 8
_FEWEST_IDENTIFIERS = 5  # fewer distinct texts say nothing


@dataclass(frozen=True)
class BadColumn:
    """A column that cannot be used as numbers.

    Attributes
    ----------
    name : str
        Name of the column.
    example : str or None
        A value that is not a number, or None for a column without any value.
    kind : str
        "date", "identifier" (text that differs in every row), "text" or "empty".
    """

    name: str
    example: str | None
    kind: str


def bad_columns(frame: "pd.DataFrame") -> list[BadColumn]:
    """List the columns of a data frame that hold text, dates, or nothing at all."""
    import pandas as pd

    found = []
    empty = frame.isna().all(axis=0).to_numpy() & (len(frame) > 0)
    texts = np.array([not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes])
    for place in np.flatnonzero(empty | texts).tolist():  # a table may have 100,000 columns
        name, present = str(frame.columns[place]), frame.iloc[:, place].dropna()
        if empty[place]:
            found.append(BadColumn(name, None, "empty"))
        elif len(wrong := _not_numbers(present)):
            distinct = len(wrong) > _FEWEST_IDENTIFIERS and present.is_unique
            found.append(described(name, wrong.iloc[0], distinct))
    return found


def _not_numbers(present: "pd.Series") -> "pd.Series":
    """Select the values that are neither numbers nor Booleans."""
    import pandas as pd

    if isinstance(present.dtype, pd.CategoricalDtype) or present.dtype.kind in "mM":
        present = present.astype(str)
    kept = present[[str(value) not in ("True", "False") for value in present]]
    try:
        return kept[pd.to_numeric(kept, errors="coerce").isna()]
    except OverflowError:  # a whole number of hundreds of digits
        return kept[[not is_number(str(value)) for value in kept]]


def described(name: str, example: object, distinct: bool = False) -> BadColumn:
    """Describe a column by its name and a value that is not a number."""
    example = str(example)
    if _DATE.fullmatch(example.strip()):
        return BadColumn(name, example, "date")
    return BadColumn(name, example, "identifier" if distinct else "text")


def columns_error(bad: Sequence[BadColumn], source: str) -> DataError:
    """Create one error that names every bad column, with a value of each and a remedy.

    Examples
    --------
    >>> bad = [BadColumn("id", "Jo", "text"), BadColumn("day", "2020-01-02", "date")]
    >>> str(columns_error(bad, "'t.csv'")).split(": ")[1]
    "'id' (the value 'Jo'), 'day' (dates such as '2020-01-02')"
    """
    ready = f"--drop {shlex.quote(','.join(one.name for one in bad))}"
    if len(bad) == 1:
        return _single_error(bad[0], source, ready)
    shown = ", ".join(_words(one) for one in bad[:_MOST_SHOWN])
    more = f" and {len(bad) - _MOST_SHOWN} more" if len(bad) > _MOST_SHOWN else ""
    remedies = dict.fromkeys(words for one in bad if (words := _remedy(one.example)))
    others = [one for one in bad if one.example is not None and not _remedy(one.example)]
    coded = "code them as numbers first, a category as one 0/1 column per level"
    advice = [*remedies, coded] if others else list(remedies)
    return DataError(
        f"{len(bad)} columns of {source} are not numeric: {shown}{more}: "
        + ", or ".join([f"leave them out ({ready})", *advice])
        + "."
    )


def _single_error(bad: BadColumn, source: str, ready: str) -> DataError:
    if bad.example is None:
        return DataError(
            f"{source} has no values in {bad.name!r}: leave empty columns out ({ready})."
        )
    remedy = _remedy(bad.example)
    if remedy:
        return DataError(
            f"column {bad.name!r} of {source} has the value {_shown(bad.example)}: {remedy}."
        )
    coded = "" if bad.kind == "date" else ", a category as one 0/1 column per level"
    return DataError(
        f"column {bad.name!r} of {source} is not numeric (it has {_what(bad)}): leave it out "
        f"({ready}), or code it as numbers first{coded}."
    )


def _words(bad: BadColumn) -> str:
    return f"{bad.name!r} ({_what(bad)})"


def _what(bad: BadColumn) -> str:
    if bad.example is None:
        return "no values"
    kinds = {"date": "dates such as ", "identifier": "text that differs in every row, such as "}
    return kinds.get(bad.kind, "the value ") + _shown(bad.example)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _remedy(example: str | None) -> str | None:
    text = "" if example is None else example.strip()
    return next((words for known, words in _REMEDIES if known.fullmatch(text)), None)


def has_decimal_commas(values: "pd.Series") -> bool:
    """Whether every value is a number if its comma is read as the decimal mark."""
    texts = [str(value).strip() for value in values.dropna()]
    return any("," in text for text in texts) and all(
        _DECIMAL_COMMA.fullmatch(text) for text in texts
    )
