"""Decimal commas in text tables, and marks that may separate thousands instead of decimals."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cosmodag.errors import DataError, DataWarning

if TYPE_CHECKING:
    import pandas as pd

_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
_GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}") for mark in ",."}
_BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def read_decimal_commas(frame: "pd.DataFrame", source: str) -> bool:
    """Convert columns of numbers with decimal commas, in place, and warn about them.

    Returns whether there are any. Commas that may as well separate thousands are refused.
    """
    import pandas as pd

    texts = {
        place: values
        for place in range(frame.shape[1])
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])
        and _are_decimal_commas(values := _texts(frame.iloc[:, place]))
    }
    if not texts:
        return False
    points = [
        str(frame.columns[place])
        for place in range(frame.shape[1])
        if frame.dtypes.iloc[place].kind == "f" and (frame.iloc[:, place].dropna() % 1 != 0).any()
    ]
    name = str(frame.columns[min(texts)])
    if points:
        raise DataError(
            f"{source} has decimal commas in column {name!r} and decimal points in column "
            f"{points[0]!r}: write all decimals with a point."
        )
    grouped = [found for values in texts.values() if (found := thousands_of(values, ","))]
    if len(grouped) == len(texts):
        raise _ambiguous(source, name, ",", grouped[0])
    for place in texts:
        column = frame.iloc[:, place].astype("string").str.strip().str.replace(",", ".")
        frame.isetitem(place, pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan))
    warnings.warn(
        f"{source} writes decimals with a comma, for example in column {name!r}, and was read "
        "accordingly (decimal=',', --decimal ,).",
        DataWarning,
        stacklevel=6,
    )
    return True


def refuse_grouped_points(
    frame: "pd.DataFrame", as_text: "Callable[[list[int]], pd.DataFrame]", source: str
) -> None:
    """Refuse points that may as well separate thousands, which a semicolon between fields suggests.

    Only columns whose numbers allow this are read again, by ``as_text``.
    """
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place].dropna()
        if column.dtype.kind != "f" or not len(column):
            continue
        values = np.abs(column.to_numpy())
        is_whole = values == np.round(values)
        if (values < 1000).all() and (values[~is_whole] >= 1).all() and 0 < is_whole.mean() < 1:
            found = thousands_of(_texts(as_text([place]).iloc[column.index, 0]), ".")
            if found is not None:
                raise _ambiguous(source, str(frame.columns[place]), ".", found)


def _texts(column: "pd.Series") -> list[str]:
    return [str(value).strip() for value in column.dropna()]


def _are_decimal_commas(texts: Sequence[str]) -> bool:
    """Whether every text is a number with a comma as its decimal mark, if it has one."""
    has_comma = any("," in text for text in texts)
    return has_comma and all(_DECIMAL_COMMA.fullmatch(text) for text in texts)


def thousands_of(texts: Sequence[str], mark: str) -> tuple[str, str] | None:
    """Find two numbers that suggest that a mark separates thousands; None if nothing suggests it.

    It may separate thousands if every number has either at most three digits, or the mark before
    its last three: no list of decimals is likely to have three places or none.

    >>> thousands_of(["987", "1,234", "12,003"], ",")
    ('987', '1,234')
    >>> thousands_of(["987", "1,234", "12,5"], ",") is None
    True
    """
    short = [text for text in texts if _BELOW_THOUSAND.fullmatch(text)]
    long = [text for text in texts if _GROUPED[mark].fullmatch(text)]
    if short and long and len(short) + len(long) == len(texts):
        return short[0], long[0]
    return None


def _ambiguous(source: str, name: str, mark: str, found: tuple[str, str]) -> DataError:
    short, long = found
    return DataError(
        f"column {name!r} of {source} has the values {short!r} and {long!r}: write numbers without "
        f"thousands separators, or, if {mark!r} is the decimal mark, say so (decimal={mark!r}, "
        f"--decimal {mark})."
    )
