"""The values of single columns: converted to numbers, encoded as levels, or described as bad."""

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.io.columns.levels import Encoded, encode
from cosmodag.io.columns.refused import BadColumn, columns_error, described, is_absent
from cosmodag.io.kinds import NOT_EXAMINED, ColumnKind

__all__ = ["Column", "column_of_objects", "column_of_series", "joined"]

Column = Encoded | BadColumn
"""A column of numbers or levels, or of neither."""


def joined(
    columns: Sequence[Column], rows: int, source: str
) -> tuple[NDArray[Any], tuple[ColumnKind, ...] | None]:
    """Join columns to a matrix with its kinds, or refuse all bad columns in one message.

    The kinds are None where all columns are plain numbers.
    """
    bad = [column for column in columns if isinstance(column, BadColumn)]
    if bad:
        raise columns_error(bad, source)
    good = [column for column in columns if isinstance(column, Encoded)]
    matrix = np.column_stack([one.numbers for one in good]) if good else np.empty((rows, 0))
    kinds = tuple(one.kind for one in good)
    return matrix, kinds if any(kind is not NOT_EXAMINED for kind in kinds) else None


def column_of_objects(values: NDArray[np.object_], name: str, is_declared: bool = False) -> Column:
    """Convert numbers, Booleans and missing values to float64, and encode text.

    A column that is declared to hold levels may hold anything else too.
    """
    present = [value for value in values if not is_absent(value)]
    wrong = next((one for one in present if not isinstance(one, Real | Decimal | np.bool_)), None)
    if wrong is None:
        numbers = [math.nan if is_absent(one) else _as_float(one) for one in values]
        return Encoded(np.array(numbers), NOT_EXAMINED)
    if is_declared or all(isinstance(value, str) for value in present):
        return encode(name, values.tolist(), is_declared=is_declared)
    return described(name, wrong)


def column_of_series(column: Any, is_declared: bool = False) -> Column:
    """Convert a narwhals Series to numbers, or encode it; missing values become NaN."""
    import narwhals as nw

    name, dtype = str(column.name), column.dtype
    if dtype in (nw.Categorical, nw.Enum):
        order, is_ordered = _declared_levels(column)
        return encode(
            name,
            column.to_list(),
            order=order,
            is_ordered=is_ordered,
            is_declared=is_declared,
            what="ordered categories" if is_ordered else "categories",
        )
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(column.to_numpy())
        if values.dtype.kind not in "fiub":
            return column_of_objects(values.astype(object), name)
        return Encoded(values.astype(np.float64), NOT_EXAMINED)
    present = column.drop_nulls()
    if is_declared or dtype in (nw.Object, nw.String) or len(present) == 0:
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_list()
        return column_of_objects(values, name, is_declared)
    return described(name, present[0])


def _declared_levels(column: Any) -> tuple[list[Any] | None, bool]:
    """Levels that the type of a column declares, and whether they are ordered.

    The categories of a polars Enum have an order, but Enum is also the type for a fixed set of
    plain categories: only pandas says that levels are ordered.
    """
    native = column.to_native()
    ordered = getattr(native.dtype, "ordered", None)
    if ordered is not None:
        return list(native.dtype.categories), bool(ordered)
    categories = getattr(column.dtype, "categories", None)
    if categories is None:
        categories = sorted({value for value in column.to_list() if not is_absent(value)})
    return list(categories), False


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # beyond double precision; refused later as infinite
        return math.inf if value > 0 else -math.inf
