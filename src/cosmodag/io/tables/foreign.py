"""Tables of AnnData and xarray, which are known by their methods."""

from typing import Any

from cosmodag.errors import DataError
from cosmodag.io.columns.names import numbered_names

__all__ = ["native_frame"]


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
