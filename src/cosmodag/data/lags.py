"""Tables of time series: lagged copies of the columns beside them, and what is known of their arcs.

A row of the lagged table holds all columns at time t and, as further columns, at t − 1, …, t − k.
Causes precede effects, so no arc leads into the past; arcs within one time are learnt too. A window
does not cross from one series into the next.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.knowledge import Knowledge
from cosmodag.errors import DataError

__all__ = ["LaggedTable", "lagged", "lagged_names", "window_graph"]


@dataclass(frozen=True, eq=False)
class LaggedTable:
    """Columns now and before, and knowledge of their order in time.

    Attributes
    ----------
    X : (m, (k + 1) d) array
        The columns at time t first, then at t − 1, up to t − k.
    names : tuple of str
        ``"x"`` for time t and ``"x[t-1]"`` for the time before.
    knowledge : Knowledge
        Tiers, earliest first, and no arcs into the past.
    rows : (m,) array of int
        Row of the original table that is time t.
    """

    X: NDArray[np.float64]
    names: tuple[str, ...]
    knowledge: Knowledge
    rows: NDArray[np.intp]


def lagged_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """Names of the columns of a lagged table.

    Examples
    --------
    >>> lagged_names(["a", "b"], 1)
    ('a', 'b', 'a[t-1]', 'b[t-1]')
    """
    past = tuple(f"{name}[t-{lag}]" for lag in range(1, lags + 1) for name in names)
    return (*names, *past)


def lagged(
    X: ArrayLike,
    lags: int,
    *,
    names: Sequence[str] | None = None,
    series: Sequence[Hashable] | None = None,
    time: ArrayLike | None = None,
) -> LaggedTable:
    """Put lagged copies of the columns beside them.

    Parameters
    ----------
    X : (n, d) array
        Rows in their order in time, unless `time` says otherwise.
    lags : int
        Number k of earlier times in each row.
    names : sequence of str, optional
        Names of the columns; default x0, x1, ….
    series : sequence of n labels, optional
        Which series each row belongs to; default: one for all. Rows of a series need not be
        adjacent. Series of k rows or fewer are left out.
    time : (n,) array, optional
        Sorts the rows of each series; no two of them have the same.

    Returns
    -------
    LaggedTable

    Raises
    ------
    DataError
        If sizes do not agree, times repeat, or no series is longer than k rows.

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
    if lags < 1:
        raise DataError(f"lags is {lags}: it must be 1 or more.")
    columns = _column_names(names, table.shape[1], lags)
    windows = _windows(_sorted_series(len(table), series, time), lags)
    past = [tuple(f"{name}[t-{lag}]" for name in columns) for lag in range(lags, 0, -1)]
    known = Knowledge(
        tiers=(*past, columns), exogenous=tuple(name for tier in past for name in tier)
    )
    wide = table[windows].reshape(len(windows), -1)
    return LaggedTable(wide, lagged_names(columns, lags), known, windows[:, 0])


def window_graph(adjacency: ArrayLike, variables: int) -> NDArray[np.float64]:
    """Arcs into time t by lag, from the graph of a lagged table.

    Parameters
    ----------
    adjacency : ((k + 1) d, (k + 1) d) array
        Weights: u → v at [u, v], columns as in :class:`LaggedTable`.
    variables : int
        Number d of original columns.

    Returns
    -------
    (k + 1, d, d) array
        At [lag, u, v] the weight of u at t − lag → v at t. The summary graph has an arc u → v
        wherever ``(window_graph(...) != 0).any(axis=0)``.

    Examples
    --------
    >>> adjacency = np.zeros((4, 4))
    >>> adjacency[0, 1], adjacency[2, 1] = 0.5, 0.7  # a → b at once, and from t − 1
    >>> window_graph(adjacency, 2).tolist()
    [[[0.0, 0.5], [0.0, 0.0]], [[0.0, 0.7], [0.0, 0.0]]]
    """
    weights = np.asarray(adjacency, np.float64)
    if weights.ndim != 2 or not variables or weights.shape[0] % variables:
        raise DataError(
            f"A graph of shape {weights.shape} is not one of lagged copies of {variables} columns."
        )
    return weights[:, :variables].reshape(-1, variables, variables)


def _column_names(names: Sequence[str] | None, d: int, lags: int) -> tuple[str, ...]:
    columns = tuple(f"x{place}" for place in range(d)) if names is None else tuple(names)
    if len(columns) != d:
        raise DataError(f"There are {len(columns)} names for {d} columns: give one for each.")
    every = lagged_names(columns, lags)
    if len(set(every)) < len(every):
        repeated = next(name for name in every if every.count(name) > 1)
        raise DataError(f"The name '{repeated}' occurs twice among the lagged columns: rename one.")
    return columns


def _sorted_series(
    n: int, series: Sequence[Hashable] | None, time: ArrayLike | None
) -> list[NDArray[np.intp]]:
    """Rows of each series, in their order in time."""
    labels = [0] * n if series is None else list(series)
    times = np.arange(n) if time is None else np.asarray(time)
    for what, number in (("labels of series", len(labels)), ("times", len(times))):
        if number != n:
            raise DataError(f"There are {number} {what} for {n} rows: give one for each row.")
    members: dict[Hashable, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)
    found = []
    for label, rows in members.items():
        own = np.asarray(rows, np.intp)
        own = own[np.argsort(times[own], kind="stable")]
        if (times[own][1:] == times[own][:-1]).any():
            where = "" if series is None else f" of series {label!r}"
            raise DataError(f"Two rows{where} have the same time: name the series of each row.")
        found.append(own)
    return found


def _windows(series: list[NDArray[np.intp]], lags: int) -> NDArray[np.intp]:
    """Rows t, t − 1, …, t − k of every window."""
    long_enough = [rows for rows in series if len(rows) > lags]
    if not long_enough:
        longest = max((len(rows) for rows in series), default=0)
        raise DataError(
            f"The longest series has {longest} rows, and {lags} lags need {lags + 1}: take fewer "
            "lags."
        )
    windows = [
        np.lib.stride_tricks.sliding_window_view(rows, lags + 1)[:, ::-1] for rows in long_enough
    ]
    return np.concatenate(windows)
