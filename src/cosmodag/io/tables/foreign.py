"""Tables of other libraries: made into frames, and results in the form of the caller's table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.io.columns.names import numbered_names
from cosmodag.io.kinds import ColumnKind

if TYPE_CHECKING:
    import pandas as pd

# Levels that were divided and multiplied by the units of a fit in float32.
_ROUNDING = 1e-5


def native_frame(data: Any, source: str) -> Any:
    """Turn an AnnData or xarray object into a pandas data frame; return anything else unchanged."""
    if hasattr(type(data), "var_names") and hasattr(type(data), "to_df"):
        return data.to_df()
    if hasattr(type(data), "data_vars"):
        return _frame_of_dataset(data, source)
    if hasattr(type(data), "to_dataset") and hasattr(type(data), "coords"):
        return _frame_of_array(data, source)
    return data


def _frame_of_dataset(data: Any, source: str) -> Any:
    """Make a column of every variable of a Dataset whose only dimension is the rows."""
    if len(data.sizes) != 1:
        raise DataError(
            f"{source} is a Dataset of {len(data.sizes)} dimensions: give one whose variables "
            "share a single dimension, the rows."
        )
    return data.to_dataframe()[list(data.data_vars)]


def _frame_of_array(data: Any, source: str) -> Any:
    """Make columns of the second dimension of a DataArray, named by its coordinate."""
    import pandas as pd

    if data.ndim != 2:
        raise DataError(
            f"{source} is a DataArray of {data.ndim} dimension(s): give one of two, samples by "
            "variables."
        )
    columns = data.dims[1]
    names = data[columns].values if columns in data.coords else numbered_names(data.shape[1])
    return pd.DataFrame(data.values, columns=[str(name) for name in names])


def like_table(
    values: NDArray[np.float64], table: Any, names: Sequence[Any], kinds: Sequence[ColumnKind] = ()
) -> Any:
    """Return rows of numbers as a data frame if `table` is one, and as an array otherwise.

    `values` were computed from the rows of `table`: a pandas frame, whose index is kept, a polars
    frame or an Arrow table. In a frame, whole numbers of levels (`kinds`) are shown as labels.

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
        return values
    if frame.implementation.is_pandas():
        import pandas as pd

        return labelled(pd.DataFrame(values, index=table.index, columns=list(names)), kinds)
    texts = [str(name) for name in names]
    made = nw.from_numpy(values, schema=texts, backend=frame.implementation)
    shown = [
        nw.new_series(texts[v], [kind.levels[k] for k in whole], backend=frame.implementation)
        for v, kind in enumerate(kinds)
        if (whole := _whole(values[:, v], kind)) is not None
    ]
    return made.with_columns(*shown).to_native() if shown else made.to_native()


def labelled(frame: "pd.DataFrame", kinds: Sequence[ColumnKind]) -> "pd.DataFrame":
    """Show the numbers of levels as labels, in a pandas frame; other numbers are kept.

    Equations of lines give numbers between levels, which have no label.
    """
    import pandas as pd

    for v, kind in enumerate(kinds):
        whole = _whole(frame.iloc[:, v].to_numpy(), kind)
        if whole is not None:
            ordered = kind.kind == "ordinal"
            frame.isetitem(v, pd.Categorical.from_codes(whole, pd.Index(kind.levels), ordered))
    return frame


def _whole(column: NDArray[Any], kind: ColumnKind) -> NDArray[np.intp] | None:
    """Numbers of levels; None where a column holds something else."""
    if not kind.is_levels:
        return None
    whole = np.rint(column)
    is_level = (abs(whole - column) < _ROUNDING) & (whole >= 0) & (whole < len(kind.levels))
    return np.asarray(whole, np.intp) if is_level.all() else None
