"""Windows of a time series: a table with lagged columns, which every learner can use."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.interventions import take_column, targets_of
from cosmodag.data.kinds import declared_names, with_kinds
from cosmodag.data.time.lags import LaggedTable, lagged
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError, name_list
from cosmodag.graph.texts import counted
from cosmodag.io.tables.frames import Table, as_table


@dataclass(frozen=True)
class InTime:
    """Series and times of the rows of a table."""

    # Labels of the rows' series, the name of the column that holds them, or None for one series.
    series: Any = None
    # Times of the rows, the name of the column that holds them, or None for the order of rows.
    time: Any = None

    @property
    def is_given(self) -> bool:
        """Whether series or times are given."""
        return self.series is not None or self.time is not None

    @classmethod
    def like(cls, window: Window, X: Any, series: Any = None, time: Any = None) -> "InTime":
        """Series and times of new rows: given, or else the columns that had them in training."""
        columns = getattr(X, "columns", getattr(X, "column_names", ()))
        named = set(map(str, columns))
        return cls(
            window.series if series is None and window.series in named else series,
            window.time if time is None and window.time in named else time,
        )

    def taken_from(self, X: Any) -> "tuple[Any, InTime]":
        """Split the columns of series and times off a table: the other columns, and the labels."""
        X, series = take_column(X, self.series, "series")
        X, time = take_column(X, self.time, "time")
        return X, InTime(series, time)


class Unrolled(NamedTuple):
    """A table of windows."""

    # The columns at time t, then their lagged copies, which have the same kinds; NaN for missing
    # values.
    table: Table
    window: Window  # variables and lags
    rows: NDArray[np.intp]  # (m,): row of the original table that is time t of each window
    # (m, (k + 1) d) bool: values at time t that were set; None without interventions.
    targets: NDArray[np.bool_] | None
    findings: list[Finding]  # about gaps in time
    n: int  # number of rows of the original table


def unroll(
    X: Any,
    lags: int,
    in_time: InTime,
    interventions: Any = None,
    *,
    remedy: str | None = None,
    kinds: Any = "auto",
    trained_on: Window | None = None,
) -> Unrolled:
    """Put the rows of earlier times beside each row.

    A value that was set by an intervention does not follow its equation at that time, but is an
    ordinary cause of later values. No window crosses the end of a series or a gap in time. The
    columns that `in_time` names are removed from the table.

    `interventions` are those of each row, but not the name of a column. If `remedy` is given,
    missing values are refused with this advice; by default they are kept. `trained_on` is the
    window of a fitted model, whose variables the table must have; their kinds are not inferred
    again.
    """
    X, by_row = in_time.taken_from(X)
    keep: dict[str, Any] = {"missing": "keep"} if remedy is None else {"remedy": remedy}
    if trained_on is None:
        table = as_table(X, fewest_rows=1, declared=declared_names(kinds, X), **keep)
        base = with_kinds(table, kinds)
    else:
        table = as_table(X, fewest_rows=1, declared=trained_on.names, **keep)
        base = checked_variables(table, trained_on, isinstance(X, np.ndarray | list | tuple))
    found = lagged(base.X, lags, names=base.names, series=by_row.series, time=by_row.time)
    by_entry = targets_of(interventions, base.names, len(base.X))
    targets = None
    if by_entry is not None:
        targets = np.zeros(found.X.shape, np.bool_)
        targets[:, : len(base.names)] = by_entry[found.rows]
        targets = targets if targets.any() else None
    if not len(found.X):
        raise DataError(f"No row has {counted(lags, 'row')} before it: take fewer lags.")
    copies = None if base.kinds is None else base.kinds * (lags + 1)
    series = in_time.series if isinstance(in_time.series, str) else None
    time = in_time.time if isinstance(in_time.time, str) else None
    window, n = replace(found.window, series=series, time=time), len(base.X)
    wide = Table(found.X, list(found.names), copies)
    return Unrolled(wide, window, found.rows, targets, _about_gaps(found, n), n)


def checked_variables(table: Table, window: Window, is_array: bool) -> Table:
    """Refuse a table whose variables are not those of a window; an array is given their names."""
    if len(table.names) != window.d or not (is_array or tuple(table.names) == window.names):
        raise DataError(
            f"The table has the columns {name_list(table.names, most=10)}, but the model was "
            f"fitted on {name_list(list(window.names), most=10)}: give these columns, in this "
            "order."
        )
    return Table(table.X, list(window.names), table.kinds)


def as_windows(window: Window, X: Any, interventions: Any = None) -> tuple[Any, Any]:
    """Make windows of the rows of a new table, and of its interventions; keep a table of windows.

    Times and series are those of the columns that had them in training, if the table has these.
    """
    in_time = InTime.like(window, X)
    if not in_time.is_given and _width(X) == len(window.columns):
        return X, interventions
    found = unroll(X, window.lags, in_time, interventions, trained_on=window)
    return found.table, found.targets


def _about_gaps(found: LaggedTable, rows: int) -> list[Finding]:
    """Report the number of rows without a window because of gaps in time."""
    used, gaps = len(found.X), found.gaps
    if not gaps:
        return []
    return [
        Finding(
            "gaps_in_time",
            (),
            float(gaps),
            "warning" if used < 0.75 * rows else "notice",
            f"Times are missing at {counted(gaps, 'place')}, and {used} of {rows} rows have the "
            f"{counted(found.window.lags, 'row')} before them: if rows are successive whatever "
            "their times (such as working days), leave the times out.",
        )
    ]


def _width(X: Any) -> int:
    """Count the columns of a table; 0 if it has none."""
    names = getattr(X, "names", None)
    if names is not None and not hasattr(X, "shape"):
        return len(names)
    shape: tuple[int, ...] = getattr(X, "shape", ()) or np.shape(X)
    return shape[1] if len(shape) == 2 else 0
