"""Values of single columns, converted to numbers or encoded as levels."""

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, name_list
from cosmodag.graph.texts import counted
from cosmodag.io.columns.refused import (
    BadColumn,
    bad_column,
    columns_error,
    fault_of_labels,
    is_absent,
    is_numeric,
)
from cosmodag.io.kind_names import NOT_EXAMINED, ColumnKind, kind_of_levels, label_of

# Double precision holds all whole numbers up to this one.
_FIRST_INEXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as float64 numbers, NaN where a value is missing, and its kind."""

    numbers: NDArray[np.float64]
    kind: ColumnKind


def encode(
    name: str,
    values: Sequence[Any],
    *,
    order: Sequence[Any] | None = None,
    is_ordered: bool = False,
    is_declared: bool = False,
    what: str = "text",
) -> Encoded | BadColumn:
    """Encode a column of labels as numbers of levels, or describe why it cannot be encoded.

    Missing values are None, NaN or blank text. `order` lists all labels in order, by default the
    observed labels, sorted; with `is_ordered`, they run from low to high. Dates, identifiers,
    numbers stored as text and marks of missing values are refused unless the user declared that the
    column holds levels (`is_declared`). `what` names the values in the reason of the kind.

    >>> found = encode("region", ["south", "north", None, "south", "north"])
    >>> found.numbers.tolist(), found.kind.kind, found.kind.levels
    ([1.0, 0.0, nan, 1.0, 0.0], 'binary', ('north', 'south'))
    """
    counts = _counted(values)
    if not is_declared:
        fault = fault_of_labels(name, counts, is_text=order is None)
        if fault is not None:
            return fault
    if order is None:
        try:
            levels = tuple(sorted(counts))
        except TypeError:  # numbers and text
            levels = tuple(sorted(counts, key=str))
    else:
        levels = tuple(label for label in map(label_of, order) if label in counts)
    kind = kind_of_levels(len(levels), is_ordered)
    reason = f"{what}, {counted(len(levels), 'level')}"
    return encode_as(name, values, ColumnKind(kind, levels, reason))


def encode_as(name: str, values: Sequence[Any], kind: ColumnKind) -> Encoded:
    """Encode a column by the levels of a kind; refuse a label that is not one of them."""
    places = {label: place for place, label in enumerate(kind.levels)}
    texts = {str(label): place for label, place in places.items()}

    def number(value: Any) -> float:
        if is_absent(value):
            return np.nan
        label = label_of(value)
        place = places.get(label, texts.get(str(label)))
        if place is None:
            raise DataError(
                f"column {name!r} has no level {label!r}, only {name_list(kind.levels)}: correct "
                "this value, or learn from a table that has it."
            )
        return float(place)

    try:
        known = {value: number(value) for value in set(values)}
    except TypeError:  # values that cannot be hashed, such as lists
        return Encoded(np.array([number(value) for value in values]), kind)
    return Encoded(np.array([known[value] for value in values], np.float64), kind)


def without_empty_levels(
    X: NDArray[Any], kinds: Sequence[ColumnKind]
) -> tuple[NDArray[Any], tuple[ColumnKind, ...]]:
    """Remove the levels that no row has, and renumber the others."""
    found = list(kinds)
    for v, kind in enumerate(kinds):
        if not kind.is_levels:
            continue
        present = X[~np.isnan(X[:, v]), v].astype(np.intp)
        seen = np.unique(present)
        if 0 < len(seen) < len(kind.levels):
            X = X.copy()
            X[~np.isnan(X[:, v]), v] = np.searchsorted(seen, present)
            found[v] = replace(kind, levels=tuple(kind.levels[place] for place in seen))
    return X, tuple(found)


def _counted(values: Sequence[Any]) -> Counter[Any]:
    """Count the labels of values that are not missing."""
    try:
        raw: Counter[Any] = Counter(values)
    except TypeError:  # values that cannot be hashed, such as lists
        raw = Counter(None if is_absent(value) else label_of(value) for value in values)
    counts: Counter[Any] = Counter()
    for value, number in raw.items():
        if not is_absent(value):
            counts[label_of(value)] += number
    return counts


Column = Encoded | BadColumn
"""A column of numbers or levels, or the description of a column that holds neither."""


def join_columns(
    columns: Sequence[Column], rows: int, source: str
) -> tuple[NDArray[Any], tuple[ColumnKind, ...] | None]:
    """Return columns as a matrix and their kinds, or refuse all bad columns in one message.

    The kinds are None if all columns are plain numbers.
    """
    bad = [column for column in columns if isinstance(column, BadColumn)]
    if bad:
        raise columns_error(bad, source)
    good = [column for column in columns if isinstance(column, Encoded)]
    matrix = np.column_stack([one.numbers for one in good]) if good else np.empty((rows, 0))
    kinds = tuple(one.kind for one in good)
    return matrix, kinds if any(kind is not NOT_EXAMINED for kind in kinds) else None


def column_of_objects(values: NDArray[np.object_], name: str, is_declared: bool = False) -> Column:
    """Convert numbers, Booleans and missing values to float64; encode text as levels.

    A column that is declared to hold levels may have values of any type.
    """
    present = [value for value in values if not is_absent(value)]
    wrong = next((one for one in present if not is_numeric(one)), None)
    if wrong is None:
        numbers = np.array([math.nan if is_absent(one) else _as_float(one) for one in values])
        warn_of_merged_numbers(values, numbers, name)
        return Encoded(numbers, NOT_EXAMINED)
    if is_declared or all(isinstance(value, str) for value in present):
        return encode(name, values.tolist(), is_declared=is_declared)
    return bad_column(name, wrong)


def column_of_series(column: Any, is_declared: bool = False) -> Column:
    """Convert a narwhals Series to float64, or encode it as levels; missing values become NaN."""
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
    are_numbers = dtype.is_numeric() or dtype == nw.Boolean
    are_objects = is_declared or dtype in (nw.Object, nw.String)
    if not are_numbers and (are_objects or column.null_count() == len(column)):
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_list()
        return column_of_objects(values, name, is_declared)
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "fiub":  # also sparse columns of pandas, whose type is not numeric
        numbers = values.astype(np.float64)
        warn_of_merged_numbers(values, numbers, name)
        return Encoded(numbers, NOT_EXAMINED)
    if are_numbers:
        return column_of_objects(values.astype(object), name)
    return bad_column(name, column.drop_nulls().head(1).to_list()[0])


def warn_of_merged_numbers(values: NDArray[Any], numbers: NDArray[np.float64], name: str) -> None:
    """Warn if whole numbers of a column differ in digits that double precision does not hold."""
    if values.dtype.kind not in "iuO" or not (np.abs(numbers) >= _FIRST_INEXACT).any():
        return
    whole = {one for one in values.tolist() if isinstance(one, int)}
    if len(whole) > len({_as_float(one) for one in whole}) and not np.isinf(numbers).any():
        warnings.warn(
            f"'{name}' has whole numbers beyond 2^53 that became equal, because double precision "
            "does not hold their last digits: subtract a constant from the column first, or leave "
            "it out if it numbers the rows.",
            DataWarning,
            stacklevel=4,
        )


def _declared_levels(column: Any) -> tuple[list[Any], bool]:
    """Return the levels that the type of a column declares, and whether they are ordered.

    Only pandas and Arrow declare that levels are ordered. The categories of a polars Enum have an
    order too, but an Enum is also used for a fixed set of unordered categories.
    """
    native = column.to_native()
    if hasattr(native, "dtype"):
        if (ordered := getattr(native.dtype, "ordered", None)) is not None:
            return list(native.dtype.categories), bool(ordered)
    elif getattr(native.type, "ordered", False):  # an Arrow dictionary
        return native.unify_dictionaries().chunk(0).dictionary.to_pylist(), True
    categories = getattr(column.dtype, "categories", None)
    if categories is None:
        categories = sorted({value for value in column.to_list() if not is_absent(value)})
    return list(categories), False


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # beyond double precision; refused later as infinite
        return math.inf if value > 0 else -math.inf
