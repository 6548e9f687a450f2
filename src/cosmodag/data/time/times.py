"""Times of rows, as numbers: dates, moments or plain numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError

__all__ = ["as_times"]


def as_times(values: Any) -> NDArray[np.float64]:
    """Convert times to numbers: dates to seconds, numbers to themselves.

    Parameters
    ----------
    values : sequence of n numbers, dates, moments, or texts of these such as 2024-01-31

    Raises
    ------
    DataError
        If an entry is missing, or is no time.

    Examples
    --------
    >>> as_times([3, 1, 2]).tolist()
    [3.0, 1.0, 2.0]
    >>> as_times(["1970-01-01", "1970-01-02"]).tolist()
    [0.0, 86400.0]
    """
    import pandas as pd

    given = pd.Series(np.asarray(values) if hasattr(values, "dtype") else list(values))
    if given.isna().any():
        row = int(np.flatnonzero(given.isna().to_numpy())[0])
        raise DataError(f"The time of row {row} is missing: fill it in, or leave the row out.")
    if not pd.api.types.is_datetime64_any_dtype(given):
        numbers = pd.to_numeric(given, errors="coerce")
        if not numbers.isna().any():
            return np.asarray(numbers, np.float64)
    moments = pd.to_datetime(given, format="ISO8601", utc=True, errors="coerce")
    if moments.isna().any():
        first = given[moments.isna()].iloc[0]
        raise DataError(f"{first!r} is not a time: write dates as 2024-01-31, or number the rows.")
    elapsed = moments - pd.Timestamp(0, tz="UTC")
    return np.asarray(elapsed.dt.total_seconds(), np.float64)
