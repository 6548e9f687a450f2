"""Tables in memory: conversion to a checked float matrix and column names.

Every check runs once, in O(n·d); a table that cannot be used is refused with one sentence.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, name_list
from cosmodag.io.columns import check_names
from cosmodag.io.foreign import native_frame
from cosmodag.io.values import BadColumn, columns_error, described

__all__ = ["Missing", "Table", "as_table"]

Missing = Literal["error", "drop", "keep"]


@dataclass(frozen=True)
class Table:
    """A checked table: finite numbers, at least two rows and two columns, distinct names.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        float64, or float32 if the caller's data was; rows are samples. It may share memory with
        the caller's data: never write to it.
    names : list of str
        One distinct name per column.
    """

    X: NDArray[Any]
    names: list[str]


def as_table(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    missing: Missing = "error",
    fewest_rows: int = 2,
    source: str = "the table",
    remedy: str = "fill them in, or leave out the rows that hold them",
) -> Table:
    """Turn a table in memory into a checked float matrix and column names.

    Parameters
    ----------
    data : DataFrame (pandas, polars), Arrow table, AnnData, xarray, ndarray, list of rows, or Table
        Numbers or Booleans (as 0 and 1) in rows and columns. It is never changed, and a float32
        or float64 array is not copied.
    names : sequence of str, optional
        Column names; by default those of the data frame, or ``x0, x1, …`` for an array.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that have one, with a warning; or leave NaN in the
        table for the caller.
    fewest_rows : int
        2 for training, 1 for prediction.
    source, remedy : str
        Name of the table in messages, and the advice on missing values.

    Returns
    -------
    Table
        The matrix ``X`` (n, d) and its ``names``.

    Raises
    ------
    DataError
        If the table cannot be used.

    Examples
    --------
    >>> table = as_table([[1, 2.5], [3, 4.5]], names=["dose", "response"])
    >>> table.X.dtype.name, table.names
    ('float64', ['dose', 'response'])
    """
    if missing not in ("error", "drop", "keep"):
        raise DataError(f"missing is {missing!r}: it must be 'error', 'drop' or 'keep'.")
    matrix, own_names = _matrix_and_names(data, source)
    _check_shape(matrix, source)
    columns = matrix.shape[1]
    if names is not None:
        own_names = [str(name) for name in names]
        if len(own_names) != columns:
            raise DataError(
                f"{source} has {columns} columns but {len(own_names)} names were given: "
                "give one name per column."
            )
    if own_names is None:
        own_names = [f"x{index}" for index in range(columns)]
    check_names(own_names, source)
    if not _all_finite(matrix):
        infinite = _columns_with(np.isinf(matrix), own_names)
        if infinite:
            raise DataError(
                f"{source} has infinite values in {name_list(infinite)}: replace them by numbers, "
                "or leave those rows out."
            )
        if missing == "error":
            absent = _columns_with(np.isnan(matrix), own_names)
            raise DataError(f"{source} has missing values (NaN) in {name_list(absent)}: {remedy}.")
        if missing == "drop":
            matrix = _complete_rows(matrix, own_names, fewest_rows, source)
    if len(matrix) < fewest_rows:
        raise DataError(
            f"{source} has one row (n_samples=1): structure learning needs at least two, "
            "so add rows."
        )
    return Table(matrix, own_names)


def _matrix_and_names(data: Any, source: str) -> tuple[NDArray[Any], list[str] | None]:
    """Convert the data to a two-dimensional float array; return it with its names, if any."""
    if isinstance(data, Table):
        return data.X, list(data.names)
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        raise DataError(
            f"{source} is a sparse matrix: pass a dense array (its toarray() makes one)."
        )
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, source), None
    data = native_frame(data, source)
    if any(hasattr(type(data), known) for known in ("columns", "column_names", "to_frame")):
        return _numbers_from_frame(data, source)
    if hasattr(data, "__array__"):
        return _from_array(data, source), None
    raise DataError(
        f"{source} is a {type(data).__name__}: pass a data frame, a NumPy array or a list of rows."
    )


def _from_array(data: Any, source: str) -> NDArray[Any]:
    """Convert an array or nested list to floats; float32 and float64 arrays are kept."""
    if np.ma.is_masked(data):
        raise DataError(
            f"{source} is a masked array, whose masked values are missing: fill them in "
            "(filled(numpy.nan) marks them), or leave those rows out."
        )
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"{source} does not form a matrix of numbers: give every row the same length."
        ) from error
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {source} must hold real numbers.")
    if array.ndim != 2:
        raise DataError(
            f"{source} has {array.ndim} dimension(s), shape {array.shape}, but rows of samples and "
            "columns of variables are expected. Reshape your data to two dimensions."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "fbiu":
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        columns = [
            _numbers_from_objects(array[:, index].astype(object), f"x{index}")
            for index in range(array.shape[1])
        ]
        return _joined(columns, len(array), source)
    raise DataError(
        f"{source} holds values of type {array.dtype}: convert every column to numbers first."
    )


def _check_shape(matrix: NDArray[Any], source: str) -> None:
    """Refuse tables that are too small (a single row is checked after dropping rows)."""
    rows, columns = matrix.shape
    if columns == 0:
        raise DataError(
            f"{source} has no columns: 0 feature(s) (shape={matrix.shape}) while a minimum of 2 "
            "is required."
        )
    if rows == 0:
        raise DataError(f"{source} is empty: it has {columns} column(s) and no rows.")
    if columns == 1:
        raise DataError(
            f"{source} has one column (n_features=1): a graph needs at least two variables."
        )


def _all_finite(matrix: NDArray[Any]) -> bool:
    """Whether every entry is finite, usually without a second matrix in memory."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum(dtype=np.float64)
    return bool(np.isfinite(total)) or bool(np.isfinite(matrix).all())


def _columns_with(mask: NDArray[np.bool_], names: list[str]) -> list[str]:
    return [names[index] for index in np.flatnonzero(mask.any(axis=0))]


def _complete_rows(
    matrix: NDArray[Any], names: list[str], fewest_rows: int, source: str
) -> NDArray[Any]:
    """Drop the rows that have a missing value, with a warning that counts them."""
    absent = np.isnan(matrix)
    columns = name_list(_columns_with(absent, names))
    complete = ~absent.any(axis=1)
    kept = int(complete.sum())
    if kept < fewest_rows:
        raise DataError(
            f"{source} has only {kept} row(s) without missing values (in {columns}), too few "
            "to learn from after dropping the others: fill the values in, or leave those "
            "columns out."
        )
    warnings.warn(
        f"{len(matrix) - kept} of {len(matrix)} rows of {source} were dropped for missing values "
        f"in {columns}.",
        DataWarning,
        stacklevel=4,
    )
    return matrix[complete]  # type: ignore[no-any-return]


def _joined(columns: list[NDArray[Any] | BadColumn], rows: int, source: str) -> NDArray[Any]:
    """Join columns to a matrix, or refuse all columns that are not numeric in one message."""
    bad = [column for column in columns if isinstance(column, BadColumn)]
    if bad:
        raise columns_error(bad, source)
    numeric = [column for column in columns if not isinstance(column, BadColumn)]
    return np.column_stack(numeric) if numeric else np.empty((rows, 0))


def _numbers_from_objects(values: NDArray[np.object_], name: str) -> NDArray[Any] | BadColumn:
    """Convert numbers, Booleans, None and NaN to float64; anything else makes a bad column."""
    numbers = np.empty(len(values), dtype=np.float64)
    for index, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            numbers[index] = math.nan
        elif isinstance(value, Real | Decimal | np.bool_):
            numbers[index] = _as_float(value)
        else:
            return described(name, value)
    return numbers


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # beyond double precision; refused later as infinite
        return math.inf if value > 0 else -math.inf


def _numbers_from_frame(data: Any, source: str) -> tuple[NDArray[Any], list[str]]:
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
    if all(dtype in (nw.Float64, nw.Float32) for dtype in frame.schema.dtypes()):
        matrix = np.asarray(frame.to_numpy())
        if matrix.dtype.kind == "f":
            return matrix, names
    columns = [_numbers_from_column(column) for column in frame.iter_columns()]
    return _joined(columns, len(frame), source), names


def _numbers_from_column(column: Any) -> NDArray[Any] | BadColumn:
    """Convert a narwhals Series to float64, with missing values as NaN."""
    import narwhals as nw

    name, dtype = str(column.name), column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(column.to_numpy())
        if values.dtype.kind in "fiub":
            return values.astype(np.float64)
        return _numbers_from_objects(values.astype(object), name)
    present = column.drop_nulls()
    if dtype == nw.Object or len(present) == 0:
        return _numbers_from_objects(np.asarray(column.to_list(), dtype=object), name)
    return described(name, present[0])
