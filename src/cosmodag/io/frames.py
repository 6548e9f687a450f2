"""Tables in memory: from whatever the caller has to a float matrix and column names.

`as_table` takes pandas, polars and Arrow tables, NumPy arrays and lists; `read_table` of
`cosmodag.io.tables` takes files and ends here. Every check is made once, in O(n·d), and a
table that cannot be used is refused in one sentence.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.columns import check_names, name_list, numbers_from_frame, numbers_from_objects

__all__ = ["Missing", "Table", "as_table"]

Missing = Literal["error", "drop", "keep"]


@dataclass(frozen=True)
class Table:
    """A checked table: finite numbers, at least two rows and two columns, distinct names.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        float64, or float32 where the caller's data was; rows are samples. It may share memory
        with what the caller gave: never write to it.
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
    data : DataFrame (pandas, polars), Arrow table, ndarray, list of rows, or Table
        Numbers or Booleans (taken as 0 and 1) in rows and columns. It is never changed, and not
        copied when it is a float32 or float64 array already.
    names : sequence of str, optional
        Column names; by default those of the data frame, or ``x0, x1, …`` for an array.
    missing : {"error", "drop", "keep"}
        Refuse missing values; drop the rows that hold one and warn how many; or leave NaN in the
        table, for a caller that deals with it.
    fewest_rows : int
        2 to learn from a table, 1 to use what was learnt on it.
    source : str
        How messages call the table.
    remedy : str
        What the message on missing values advises.

    Returns
    -------
    Table
        The matrix ``X`` (n, d) and its ``names``.

    Raises
    ------
    DataError
        In one sentence, when the table cannot be used.

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
        _refuse_infinite(matrix, own_names, source)
        if missing == "error":
            absent = _chosen(own_names, np.isnan(matrix).any(axis=0))
            raise DataError(f"{source} has missing values (NaN) in {name_list(absent)}: {remedy}.")
        if missing == "drop":
            matrix = _complete_rows(matrix, own_names, fewest_rows, source)
    if len(matrix) < fewest_rows:
        raise DataError(
            f"{source} has one row (n_samples=1): structure cannot be learnt from fewer than two, "
            "so add rows."
        )
    return Table(matrix, own_names)


def _matrix_and_names(data: Any, source: str) -> tuple[NDArray[Any], list[str] | None]:
    """Give the data as a two-dimensional float array, and its names where it has some."""
    if isinstance(data, Table):
        return data.X, list(data.names)
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        raise DataError(
            f"{source} is a sparse matrix: pass a dense array (its toarray() makes one)."
        )
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, source), None
    if any(hasattr(type(data), known) for known in ("columns", "column_names", "to_frame")):
        return numbers_from_frame(data, source)
    if hasattr(data, "__array__"):
        return _from_array(data, source), None
    raise DataError(
        f"{source} is a {type(data).__name__}: pass a data frame, a NumPy array or a list of rows."
    )


def _from_array(data: Any, source: str) -> NDArray[Any]:
    """Turn an array or nested list into floats, float32 and float64 untouched."""
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
            f"{source} has {array.ndim} dimension(s), shape {array.shape}, where rows of samples "
            "and columns of variables are expected. Reshape your data to two dimensions."
        )
    if array.dtype.kind == "f":
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        columns = [
            numbers_from_objects(array[:, index].astype(object), f"x{index}", source)
            for index in range(array.shape[1])
        ]
        return np.column_stack(columns) if columns else np.empty(array.shape)
    raise DataError(
        f"{source} holds values of type {array.dtype}: convert every column to numbers first."
    )


def _check_shape(matrix: NDArray[Any], source: str) -> None:
    """Refuse tables with too little in them (a single row is looked at after dropping)."""
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
    """Whether every entry is finite, with no second matrix in memory in the common case."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum(dtype=np.float64)
    return bool(np.isfinite(total)) or bool(np.isfinite(matrix).all())


def _refuse_infinite(matrix: NDArray[Any], names: list[str], source: str) -> None:
    infinite = np.isinf(matrix).any(axis=0)
    if infinite.any():
        raise DataError(
            f"{source} has infinite values in {name_list(_chosen(names, infinite))}: replace them "
            "by numbers, or leave those rows out."
        )


def _complete_rows(
    matrix: NDArray[Any], names: list[str], fewest_rows: int, source: str
) -> NDArray[Any]:
    """Drop the rows that have a missing value, and warn how many."""
    absent = np.isnan(matrix)
    columns = name_list(_chosen(names, absent.any(axis=0)))
    complete = ~absent.any(axis=1)
    kept = int(complete.sum())
    if kept < fewest_rows:
        raise DataError(
            f"{source} has only {kept} row(s) without missing values (in {columns}), so that "
            "dropping the others leaves nothing to learn from: fill the values in, or leave those "
            "columns out."
        )
    warnings.warn(
        f"{len(matrix) - kept} of {len(matrix)} rows of {source} were dropped for missing values "
        f"in {columns}.",
        DataWarning,
        stacklevel=4,
    )
    kept_rows: NDArray[Any] = matrix[complete]
    return kept_rows


def _chosen(names: list[str], mask: NDArray[np.bool_]) -> list[str]:
    return [names[index] for index in np.flatnonzero(mask)]
