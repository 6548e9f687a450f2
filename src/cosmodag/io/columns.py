"""Columns of a data frame, or of Python objects, as floats; what is not a number is named."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError

__all__ = ["check_names", "name_list", "not_numbers", "numbers_from_frame", "numbers_from_objects"]

_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,}(\.\d{3})*,\d+")


def name_list(names: Sequence[str], most: int = 5) -> str:
    """Names for a message, quoted; a long list is cut and counted.

    Examples
    --------
    >>> name_list(["a", "b"])
    "'a', 'b'"
    >>> name_list(list("abcdefg"), most=2)
    "'a', 'b' and 5 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def not_numbers(
    name: str, example: object, source: str, leave_out: str = "leave it out"
) -> DataError:
    """Make the error for a column that is not numeric: its name, a value, and a remedy."""
    text = str(example)
    shown = repr(text if len(text) <= 40 else text[:40] + "…")
    if _DECIMAL_COMMA.fullmatch(text.strip()):
        return DataError(
            f"column {name!r} of {source} has the value {shown}: write decimals with a point, not "
            "a comma."
        )
    return DataError(
        f"column {name!r} of {source} is not numeric (it has the value {shown}): {leave_out}, "
        "or code it as numbers first, a category as one 0/1 column per level."
    )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse empty and repeated names."""
    if "" in names:
        position = list(names).index("") + 1
        raise DataError(
            f"column {position} of {source} has no name: name it, or leave it out if it is a row "
            "index (pandas writes none with index=False)."
        )
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise DataError(
            f"{source} has more than one column named {name_list(repeated)}: give every column a "
            "name of its own."
        )


def numbers_from_objects(values: NDArray[np.object_], name: str, source: str) -> NDArray[Any]:
    """Python objects as float64: numbers, Booleans, None and NaN pass, anything else is named."""
    numbers = np.empty(len(values))
    for index, value in enumerate(values):
        if value is None:
            numbers[index] = math.nan
        elif isinstance(value, Real | Decimal | np.bool_):
            numbers[index] = float(value)
        elif type(value).__name__ in ("NAType", "NaTType"):
            numbers[index] = math.nan
        else:
            raise not_numbers(name, value, source)
    return numbers


def numbers_from_frame(data: Any, source: str) -> tuple[NDArray[Any], list[str]]:
    """Turn a pandas, polars or Arrow table into a float matrix and its column names."""
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        native = data.column_names if hasattr(data, "column_names") else data.columns
        check_names([str(name) for name in native], source)
        raise
    except TypeError as error:
        raise DataError(
            f"{source} is a {type(data).__name__}, which is not a table in memory: pass a data "
            "frame (a lazy one after collect(), a single column as a frame)."
        ) from error
    names = [str(name) for name in frame.columns]
    dtypes = list(frame.schema.dtypes())
    if all(dtype in (nw.Float64, nw.Float32) for dtype in dtypes):
        matrix = np.asarray(frame.to_numpy())
        if matrix.dtype.kind == "f":
            return matrix, names
    columns = [
        _numbers_from_column(frame.get_column(column), str(column), source)
        for column in frame.columns
    ]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0)), names


def _numbers_from_column(column: Any, name: str, source: str) -> NDArray[Any]:
    """One narwhals Series as float64, missing values as NaN."""
    import narwhals as nw

    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(column.to_numpy())
        if values.dtype.kind in "fiub":
            return values.astype(np.float64)
        return numbers_from_objects(values.astype(object), name, source)
    present = column.drop_nulls()
    example = present[0] if len(present) else None
    if dtype == nw.Object or len(present) == 0:
        return numbers_from_objects(np.asarray(column.to_list(), dtype=object), name, source)
    raise not_numbers(name, example, source)
