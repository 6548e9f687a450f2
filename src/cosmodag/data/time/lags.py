"""Tables of time series with lagged copies of their columns.

Each row is one window. No window crosses from one series into the next, or over a gap in time.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.knowledge import Knowledge
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.columns.names import numbered_names
from cosmodag.io.columns.refused import is_absent

# A step in time longer than this many times the median step is a gap; months differ by less.
GAP = 1.5


@dataclass(frozen=True, eq=False)
class LaggedTable:
    """A table with lagged copies of its columns, and knowledge of their order in time.

    Attributes
    ----------
    X : (m, (k + 1) d) array
        The columns at time t first, then at t − 1, up to t − k.
    rows : (m,) array of int
        Row of the original table at time t.
    window : Window
        Variables and lags.
    gaps : int
        Number of places at which a series was cut because of a gap in time.
    """

    X: NDArray[np.float64]
    rows: NDArray[np.intp]
    window: Window
    gaps: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: ``"x"`` at time t, ``"x[t-1]"`` one step earlier."""
        return self.window.columns

    @property
    def knowledge(self) -> Knowledge:
        """Knowledge that excludes arcs into the past: tiers, earliest first."""
        return self.window.knowledge()


def lagged(
    X: ArrayLike,
    lags: int,
    *,
    names: Sequence[str] | None = None,
    series: Sequence[Hashable] | None = None,
    time: ArrayLike | None = None,
) -> LaggedTable:
    """Add lagged copies of the columns to a table.

    Parameters
    ----------
    X : (n, d) array
        The table; its rows are in time order, unless `time` is given.
    lags : int
        Number k of earlier times in each row.
    names : sequence of str, optional
        Names of the columns; by default x0, x1, ….
    series : sequence of n labels, optional
        The series to which each row belongs; by default, all rows are one series. Rows of a series
        need not be adjacent. Series of k rows or fewer are left out.
    time : sequence of n numbers or dates, optional
        Times by which the rows of each series are sorted, distinct within a series. A step of more
        than 1.5 times the median step is a gap, and no window crosses it.

    Raises
    ------
    DataError
        If sizes do not agree, the series or the time of a row is missing, times repeat within a
        series, or no series is longer than k rows.

    Examples
    --------
    >>> found = lagged([[1.0], [2.0], [3.0], [8.0], [9.0]], 1, names=["x"], series="aaabb")
    >>> found.X.tolist()
    [[2.0, 1.0], [3.0, 2.0], [9.0, 8.0]]
    >>> found.knowledge
    Knowledge(tiers=[['x[t-1]'], ['x']], exogenous=['x[t-1]'])
    """
    table = np.asarray(X, np.float64)
    if table.ndim != 2:
        raise DataError(f"A table has rows and columns, but this one has shape {table.shape}.")
    if not isinstance(lags, int | np.integer) or lags < 1:
        raise DataError(f"lags is {lags!r}: it must be a whole number of at least 1.")
    columns = tuple(numbered_names(table.shape[1]) if names is None else names)
    if len(columns) != table.shape[1]:
        raise DataError(
            f"The table has {counted(table.shape[1], 'column')}, but "
            f"{counted(len(columns), 'name')}: give one name for each column."
        )
    whole, times = _sorted_series(len(table), series, time)
    parts = whole if time is None else _split_at_gaps(whole, times)
    windows = _windows(parts, lags)
    wide = table[windows].reshape(len(windows), -1)
    return LaggedTable(wide, windows[:, 0], Window(columns, lags), len(parts) - len(whole))


def _sorted_series(
    n: int, series: Sequence[Hashable] | None, time: ArrayLike | None
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    """Return the rows of each series in time order, and the times of all rows."""
    labels = [0] * n if series is None else list(series)
    times = np.arange(n, dtype=np.float64) if time is None else as_times(time)
    for what, number in (("series label", len(labels)), ("time", len(times))):
        if number != n:
            raise DataError(
                f"The table has {counted(n, 'row')}, but {counted(number, what)}: give one for "
                "each row."
            )
    members: dict[Hashable, list[int]] = {}
    for row, label in enumerate(labels):
        if is_absent(label):
            raise DataError(
                f"The series of row {row + 1} is missing: fill it in, or leave the row out."
            )
        members.setdefault(label, []).append(row)
    found = []
    for label, rows in members.items():
        own = np.asarray(rows, np.intp)
        own = own[np.argsort(times[own], kind="stable")]
        if (times[own][1:] == times[own][:-1]).any():
            raise DataError(
                "Two rows have the same time: name the series of each row (series, --series)."
                if series is None
                else f"Two rows of series {label!r} have the same time: correct their times, or "
                "leave one of them out."
            )
        found.append(own)
    return found, times


def _split_at_gaps(
    series: list[NDArray[np.intp]], times: NDArray[np.float64]
) -> list[NDArray[np.intp]]:
    steps = np.concatenate([np.zeros(0), *(np.diff(times[rows]) for rows in series)])
    step = np.median(steps) if len(steps) else 0.0
    parts: list[NDArray[np.intp]] = []
    for rows in series:
        gaps = np.flatnonzero(np.diff(times[rows]) > GAP * step) + 1
        parts += np.split(rows, gaps)
    return parts


def _windows(series: list[NDArray[np.intp]], lags: int) -> NDArray[np.intp]:
    """List the rows t, t − 1, …, t − k of each window."""
    long_enough = [rows for rows in series if len(rows) > lags]
    if not long_enough:
        longest = max((len(rows) for rows in series), default=0)
        raise DataError(
            f"The longest series without a gap has {counted(longest, 'row')}, but lags={lags} "
            f"(--lags {lags}) needs {lags + 1}: take fewer lags."
        )
    windows = [
        np.lib.stride_tricks.sliding_window_view(rows, lags + 1)[:, ::-1] for rows in long_enough
    ]
    return np.concatenate(windows)


def as_times(values: Any) -> NDArray[np.float64]:
    """Convert times to numbers: dates to seconds since 1970; numbers do not change.

    Parameters
    ----------
    values : sequence of n numbers, dates, date-times, or texts of these such as 2024-01-31

    Raises
    ------
    DataError
        If an entry is missing or is not a time.

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
        raise DataError(f"The time of row {row + 1} is missing: fill it in, or leave the row out.")
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
