"""Tables in memory: conversion to a checked matrix of floats and column names.

Every check runs once, in O(n·d); a table that cannot be used is refused with one sentence.
"""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning, name_list
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import check_names, numbered_names
from cosmodag.io.columns.values import (
    column_of_objects,
    column_of_series,
    join_columns,
    warn_of_merged_numbers,
    without_empty_levels,
)
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.foreign import narwhals_frame, native_frame

Missing = Literal["error", "drop", "keep"]


@dataclass(frozen=True)
class Table:
    """A checked table: finite numbers, at least two rows and two columns, distinct names.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        float64, or float32 if the caller's data are; rows are samples. It may share memory with
        the caller's data: never write to it. Columns of levels hold their numbers 0, 1, ….
    names : list of str
        One distinct name per column.
    kinds : tuple of ColumnKind, optional
        The kind of each column; None if all columns are numbers that were not examined. A kind
        without a `reason` was not examined either.
    is_complete : bool
        Whether `as_table` checked the table and found no missing value; it does not check it again.
    """

    X: NDArray[Any]
    names: list[str]
    kinds: tuple[ColumnKind, ...] | None = None
    is_complete: bool = field(default=False, repr=False, compare=False)

    def of_rows(self, rows: NDArray[Any]) -> "Table":
        """Return some rows, given by their numbers or a mask; the kinds keep all levels."""
        return replace(self, X=self.X[rows])

    def of_columns(self, places: Sequence[int]) -> "Table":
        """Return some columns, in any order."""
        kinds = None if self.kinds is None else tuple(self.kinds[place] for place in places)
        return Table(self.X[:, list(places)], [self.names[place] for place in places], kinds)


_Content = tuple[NDArray[Any], list[str] | None, tuple[ColumnKind, ...] | None]
"""Numbers of the caller's data, with their names and kinds, if any."""


def as_table(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    missing: Missing = "error",
    fewest_rows: int = 2,
    source: str = "the table",
    remedy: str = "fill them in, or leave out the rows that hold them",
    declared: Collection[str] = (),
) -> Table:
    """Convert a table in memory to a checked matrix of floats and column names.

    Parameters
    ----------
    data : DataFrame (pandas, polars), Arrow table, AnnData, xarray, ndarray, list of rows, or Table
        Numbers, Booleans (as 0 and 1), and columns of text or of a categorical type, which are
        encoded as the numbers of their levels: sorted, or in the order of the type. The data are
        never changed, and a float32 or float64 array is not copied.
    names : sequence of str, optional
        Column names; by default those of the data frame, or ``x0, x1, …`` for an array.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that have one, with a warning; or keep them as NaN.
    fewest_rows : int
        Minimum number of rows: 2 for training, 1 for prediction.
    source, remedy : str
        Name of the table, and the advice on missing values, in messages.
    declared : collection of str
        Columns that are declared to hold levels. Other columns are refused if they hold dates,
        numbers stored as text, or text that differs in most rows.

    Returns
    -------
    Table
        The matrix ``X`` (n, d), its ``names`` and, if it has columns of levels, its ``kinds``.

    Raises
    ------
    DataError
        If the table cannot be used.

    Examples
    --------
    >>> table = as_table([[1, 2.5], [3, 4.5]], names=["dose", "response"])
    >>> table.X.dtype.name, table.names
    ('float64', ['dose', 'response'])

    >>> table = as_table([["low", 2.5], ["high", 4.5], ["low", 2.0]], names=["dose", "response"])
    >>> table.X[:, 0].tolist(), table.kinds[0].levels
    ([1.0, 0.0, 1.0], ('high', 'low'))
    """
    if missing not in ("error", "drop", "keep"):
        raise DataError(f"missing is {missing!r}: it must be 'error', 'drop' or 'keep'.")
    is_checked = isinstance(data, Table) and data.is_complete and names is None
    if is_checked and len(data.X) >= fewest_rows:
        return cast(Table, data)
    matrix, found_names, kinds = _content(data, names, source, declared)
    _check_shape(matrix, source)
    columns = matrix.shape[1]
    if names is not None:
        found_names = [str(name) for name in names]
        if len(found_names) != columns:
            raise DataError(
                f"{source} has {counted(columns, 'column')} but was given "
                f"{counted(len(found_names), 'name')}: give one name per column."
            )
    if found_names is None:
        found_names = numbered_names(columns)
    check_names(found_names, source)
    is_complete = _all_finite(matrix)
    if not is_complete:
        infinite = _columns_with(np.isinf(matrix), found_names)
        if infinite:
            raise DataError(
                f"{source} has infinite values in {name_list(infinite)}: replace them by numbers, "
                "or leave those rows out."
            )
        if missing == "error":
            absent = name_list(_columns_with(np.isnan(matrix), found_names))
            raise DataError(f"{source} has missing values (NaN) in {absent}: {remedy}.")
        if missing == "drop":
            matrix, is_complete = _complete_rows(matrix, found_names, fewest_rows, source), True
    if len(matrix) < fewest_rows:
        raise DataError(
            f"{source} has one row (n_samples=1): structure learning needs at least two, "
            "so add rows."
        )
    if kinds is not None and not isinstance(data, Table):
        matrix, kinds = without_empty_levels(matrix, kinds)
    return Table(matrix, found_names, kinds, is_complete)


def _content(
    data: Any, names: Sequence[str] | None, source: str, declared: Collection[str]
) -> _Content:
    """Convert the data to a two-dimensional array of floats, with names and kinds, if any."""
    if isinstance(data, Table):
        return data.X, list(data.names), data.kinds
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        raise DataError(
            f"{source} is a sparse matrix: pass a dense array (its toarray() makes one)."
        )
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, names, source, declared)
    data = native_frame(data, source)
    if any(hasattr(type(data), known) for known in ("columns", "column_names", "to_frame")):
        return _from_frame(data, source, declared)
    if hasattr(data, "__array__"):
        return _from_array(data, names, source, declared)
    raise DataError(
        f"{source} is of type {type(data).__name__}: pass a data frame, a NumPy array or a list of "
        "rows."
    )


def _from_array(
    data: Any, names: Sequence[str] | None, source: str, declared: Collection[str]
) -> _Content:
    """Convert an array or nested list to floats; float32 and float64 arrays are kept."""
    if np.ma.is_masked(data):
        raise DataError(
            f"{source} is a masked array, whose masked values are missing: fill them in "
            "(filled(numpy.nan) marks them), or leave those rows out."
        )
    try:
        array = np.asarray(data)
        if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # so that numbers among text stay numbers
    except (ValueError, TypeError) as error:
        raise DataError(
            f"{source} does not form a matrix of numbers: give every row the same length."
        ) from error
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {source} must hold real numbers.")
    if array.ndim != 2:
        raise DataError(
            f"{source} has {counted(array.ndim, 'dimension')}, shape {array.shape}, but rows of "
            "samples and columns of variables are expected. Reshape your data to two dimensions."
        )
    if array.dtype in (np.float32, np.float64):
        return array, None, None
    known = numbered_names(array.shape[1])
    if names is not None and len(names) == len(known):
        known = [str(name) for name in names]
    if array.dtype.kind in "fbiu":
        numbers = array.astype(np.float64)
        if array.dtype.kind in "iu":
            for place, name in enumerate(known):
                warn_of_merged_numbers(array[:, place], numbers[:, place], name)
        return numbers, None, None
    if array.dtype.kind in "OUS":
        columns = [
            column_of_objects(array[:, place].astype(object), name, name in declared)
            for place, name in enumerate(known)
        ]
        matrix, kinds = join_columns(columns, len(array), source)
        return matrix, None, kinds
    raise DataError(
        f"{source} holds values of type {array.dtype}: convert every column to numbers first."
    )


def _check_shape(matrix: NDArray[Any], source: str) -> None:
    """Refuse a table without rows, or with fewer than two columns."""
    rows, columns = matrix.shape
    if columns == 0:
        raise DataError(
            f"{source} has no columns: 0 feature(s) (shape={matrix.shape}) while a minimum of 2 "
            "is required."
        )
    if rows == 0:
        raise DataError(f"{source} is empty: it has {counted(columns, 'column')} and no rows.")
    if columns == 1:
        raise DataError(
            f"{source} has one column (n_features=1): a graph needs at least two variables."
        )


def _all_finite(matrix: NDArray[Any]) -> bool:
    """Whether every entry is finite; usually computed without a second matrix in memory."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum(dtype=np.float64)
    return bool(np.isfinite(total)) or bool(np.isfinite(matrix).all())


def _columns_with(mask: NDArray[np.bool_], names: list[str]) -> list[str]:
    return [names[index] for index in np.flatnonzero(mask.any(axis=0))]


def _complete_rows(
    matrix: NDArray[Any], names: list[str], fewest_rows: int, source: str
) -> NDArray[Any]:
    """Drop the rows that have a missing value, with a warning that gives their number."""
    absent = np.isnan(matrix)
    columns = name_list(_columns_with(absent, names))
    complete = ~absent.any(axis=1)
    kept = int(complete.sum())
    if kept < fewest_rows:
        raise DataError(
            f"{source} has only {counted(kept, 'row')} without missing values (in {columns}), too "
            "few to learn from after dropping the others: fill the values in, or leave those "
            "columns out."
        )
    warnings.warn(
        f"{len(matrix) - kept} of {len(matrix)} rows of {source} were dropped for missing values "
        f"in {columns}.",
        DataWarning,
        stacklevel=4,
    )
    return matrix[complete]


def _from_frame(data: Any, source: str, declared: Collection[str]) -> _Content:
    """Convert a pandas, polars or Arrow table to a matrix of floats, with names and kinds."""
    import narwhals as nw

    frame = narwhals_frame(data, source)
    if not isinstance(frame, nw.DataFrame):
        raise DataError(
            f"{source} is a {type(data).__name__}, which is not a table in memory: pass a data "
            "frame (a lazy one after collect(), a single column as a frame)."
        )
    names = [str(name) for name in frame.columns]
    if all(dtype in (nw.Float64, nw.Float32) for dtype in frame.schema.dtypes()):
        matrix = np.asarray(frame.to_numpy())
        if matrix.dtype.kind == "f":
            return matrix, names, None
    columns = [
        column_of_series(column, name in declared)
        for name, column in zip(names, frame.iter_columns(), strict=True)
    ]
    matrix, kinds = join_columns(columns, len(frame), source)
    return matrix, names, kinds
