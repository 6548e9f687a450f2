"""Tables of other libraries: conversion to data frames, and of results to the caller's type."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import check_names, numbered_names
from cosmodag.io.kind_names import ColumnKind

if TYPE_CHECKING:
    import pandas as pd

# Tolerance for levels that were divided and multiplied by the units of a fit, in float32.
_ROUNDING = 1e-5


def native_frame(data: Any, source: str) -> Any:
    """Convert an AnnData or xarray object to a pandas data frame; return others unchanged."""
    if hasattr(type(data), "var_names") and hasattr(type(data), "to_df"):
        return data.to_df()
    if hasattr(type(data), "data_vars"):
        return _frame_of_dataset(data, source)
    if hasattr(type(data), "to_dataset") and hasattr(type(data), "coords"):
        return _frame_of_array(data, source)
    return data


def column_names(data: Any) -> list[Any]:
    """List the names of the columns of a data frame or an Arrow table; empty for other tables."""
    found = getattr(data, "column_names", getattr(data, "columns", None))
    return [] if found is None else list(found)


def with_columns(data: Any, names: Collection[str]) -> Any:
    """Select columns of a data frame or an Arrow table, in its order; other tables are unchanged.

    >>> import pandas as pd
    >>> list(with_columns(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), {"c", "a"}))
    ['a', 'c']
    """
    columns = column_names(data)
    kept = [name for name in columns if str(name) in names]
    if len(kept) == len(columns):
        return data
    return data.select(kept) if hasattr(data, "column_names") else data[kept]


def narwhals_frame(data: Any, source: str) -> Any:
    """Wrap a data frame by narwhals, or refuse its names; return other objects unchanged."""
    import narwhals as nw

    try:
        return nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        native = data.column_names if hasattr(data, "column_names") else data.columns
        check_names([str(name) for name in native], source)
        raise


def _frame_of_dataset(data: Any, source: str) -> Any:
    """Convert a Dataset whose variables have one dimension, the rows; each becomes a column."""
    if len(data.sizes) != 1:
        raise DataError(
            f"{source} is a Dataset of {counted(len(data.sizes), 'dimension')}: give one whose "
            "variables share a single dimension, the rows."
        )
    return data.to_dataframe()[list(data.data_vars)]


def _frame_of_array(data: Any, source: str) -> Any:
    """Convert a two-dimensional DataArray; columns are named by the second coordinate."""
    import pandas as pd

    if data.ndim != 2:
        raise DataError(
            f"{source} is a DataArray of {counted(data.ndim, 'dimension')}: give one of two, "
            "samples by variables."
        )
    columns = data.dims[1]
    names = data[columns].values if columns in data.coords else numbered_names(data.shape[1])
    return pd.DataFrame(data.values, columns=[str(name) for name in names])


def like_table(
    values: NDArray[np.float64], table: Any, names: Sequence[Any], kinds: Sequence[ColumnKind] = ()
) -> Any:
    """Return numbers computed from a table as a data frame of its type, or as an array.

    If `table` is a pandas frame (whose index is kept), a polars frame or an Arrow table, so is the
    result; its columns of levels (`kinds`) then have labels if all their numbers are levels. In an
    array, only labels that are numbers are written, see `with_number_labels`.

    >>> import pandas as pd
    >>> like_table(np.ones((1, 2)), pd.DataFrame({"a": [5], "b": [6]}, index=["u"]), ["a", "b"])
         a    b
    u  1.0  1.0
    >>> like_table(np.ones((1, 2)), [[5, 6]], ["a", "b"])
    array([[1., 1.]])
    """
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return with_number_labels(values, kinds)
    if frame.implementation.is_pandas():
        import pandas as pd

        return labelled(pd.DataFrame(values, index=table.index, columns=list(names)), kinds)
    texts = [str(name) for name in names]
    made = nw.from_numpy(values, schema=texts, backend=frame.implementation)
    shown = [
        nw.new_series(texts[v], [kind.levels[k] for k in codes], backend=frame.implementation)
        for v, kind in enumerate(kinds)
        if (codes := _as_levels(values[:, v], kind)) is not None
    ]
    return made.with_columns(*shown).to_native() if shown else made.to_native()


def labelled(frame: "pd.DataFrame", kinds: Sequence[ColumnKind]) -> "pd.DataFrame":
    """Replace numbers of levels by labels, in the columns of a pandas frame that have only these.

    Linear equations give numbers between levels, which have no label.
    """
    import pandas as pd

    for v, kind in enumerate(kinds):
        codes = _as_levels(frame.iloc[:, v].to_numpy(), kind)
        if codes is not None:
            ordered = kind.kind == "ordinal"
            frame.isetitem(v, pd.Categorical.from_codes(codes, pd.Index(kind.levels), ordered))
    return frame


def with_number_labels(
    values: NDArray[np.float64], kinds: Sequence[ColumnKind]
) -> NDArray[np.float64]:
    """Replace level numbers by labels in the columns whose labels are numbers.

    A number between two levels becomes one between their labels.

    >>> kind = ColumnKind("categorical", levels=(1, 2, 5))
    >>> with_number_labels(np.array([[0.0], [2.0], [1.5]]), [kind]).tolist()
    [[1.0], [5.0], [3.5]]
    """
    shown = values
    for v, kind in enumerate(kinds):
        if not kind.is_levels or any(isinstance(label, str) for label in kind.levels):
            continue
        shown = values.copy() if shown is values else shown
        labels, codes = np.array(kind.levels, np.float64), values[:, v]
        if len(labels) == 1:
            shown[~np.isnan(codes), v] = labels[0]
            continue
        nearest = np.rint(codes)
        codes = np.where(abs(codes - nearest) < _ROUNDING, nearest, codes)
        below = np.clip(np.floor(np.nan_to_num(codes)), 0, len(labels) - 2).astype(np.intp)
        shown[:, v] = labels[below] + (codes - below) * np.diff(labels)[below]
    return shown


def _as_levels(column: NDArray[Any], kind: ColumnKind) -> NDArray[np.intp] | None:
    """Return a column as integers of levels; None if it holds other numbers."""
    if not kind.is_levels:
        return None
    codes = np.rint(column)
    is_level = (abs(codes - column) < _ROUNDING) & (codes >= 0) & (codes < len(kind.levels))
    return np.asarray(codes, np.intp) if is_level.all() else None
