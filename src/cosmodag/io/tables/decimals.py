"""Decimal commas in text tables."""

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cosmodag.errors import DataError, DataWarning

if TYPE_CHECKING:
    import pandas as pd

_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")


def read_decimal_commas(frame: "pd.DataFrame", source: str) -> None:
    """Convert columns of numbers with decimal commas, in place, and warn about them.

    A comma never separates thousands here.
    """
    import pandas as pd

    texts = {
        place: values
        for place in range(frame.shape[1])
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])
        and _are_decimal_commas(values := _texts(frame.iloc[:, place]))
    }
    if not texts:
        return
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
    for place in texts:
        column = frame.iloc[:, place].astype("string").str.strip().str.replace(",", ".")
        frame.isetitem(place, pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan))
    warnings.warn(
        f"{source} writes decimals with a comma, for example in column {name!r}, and was read "
        "accordingly (decimal=',', --decimal ,).",
        DataWarning,
        stacklevel=6,
    )


def _texts(column: "pd.Series") -> list[str]:
    return [str(value).strip() for value in column.dropna()]


def _are_decimal_commas(texts: Sequence[str]) -> bool:
    """Whether every text is a number with a comma as its decimal mark, if it has one."""
    has_comma = any("," in text for text in texts)
    return has_comma and all(_DECIMAL_COMMA.fullmatch(text) for text in texts)
