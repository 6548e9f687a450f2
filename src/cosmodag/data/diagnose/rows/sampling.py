"""Findings about the rows: too few, dependent, sorted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cosmodag.data.diagnose.findings import Finding, about

__all__ = ["few_rows", "lag_correlations", "rows_follow", "sorted_columns"]

_FEWEST = 10
_FEWEST_PAIRS = 30
_MOST_ROWS = 50_000
# False-alarm probability for a table with independent rows, and the lag-1 correlation below which
# standard errors change by less than a hundredth.
_CHANCE, _HARMLESS = 0.002, 0.1
_CLIPPED_AT = 4.0


def few_rows(rows: int, columns: int) -> list[Finding]:
    """Fewer rows than columns, or than ten."""
    if rows < columns:
        sentence = (
            f"With {rows} rows for {columns} columns, many graphs fit equally well: collect more "
            "rows, keep fewer columns, or trust only arcs that survive resampling."
        )
    elif rows < _FEWEST:
        sentence = f"With {rows} rows, hardly any arc stands out from chance: collect more rows."
    else:
        return []
    return [Finding("few_rows", (), rows / columns, "warning", sentence)]


def sorted_columns(X: NDArray[Any], columns: list[int]) -> list[int]:
    """Columns whose values never fall, or never rise, from row to row."""
    if len(X) < _FEWEST_PAIRS:
        return []
    head = np.diff(X[:_FEWEST_PAIRS, columns], axis=0)
    maybe = np.flatnonzero((head >= 0).all(axis=0) | (head <= 0).all(axis=0)).tolist()
    found = []
    for column in (columns[place] for place in maybe):
        steps = np.diff(X[:, column])
        if (steps >= 0).all() or (steps <= 0).all():
            found.append(column)
    return found


def lag_correlations(X: NDArray[Any], given: Sequence[int] = ()) -> NDArray[np.float64]:
    """Lag-1 autocorrelation of each column, adjusted for sorted columns.

    Values are clipped at four standard deviations to limit the influence of single rows.

    Examples
    --------
    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(500, 2)), axis=0)
    >>> bool((lag_correlations(walk) > 0.9).all())
    True
    """
    used = np.asarray(X[:_MOST_ROWS], np.float64)
    values = used - used.mean(axis=0)
    if given:
        basis = values[:, list(given)]
        values = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
    deviations = values.std(axis=0)
    # A column that sorted ones explain leaves only rounding errors, without a correlation.
    is_left = deviations > 1e-6 * used.std(axis=0)
    values = np.where(is_left, values / np.where(is_left, deviations, 1.0), 0.0)
    np.clip(values, -_CLIPPED_AT, _CLIPPED_AT, out=values)
    squares = (values**2).sum(axis=0)
    products = (values[:-1] * values[1:]).sum(axis=0)
    return np.asarray(products / np.where(squares > 0, squares, 1.0))


def rows_follow(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Rows that resemble, or avoid, the row before: time series, repeated measurements, groups.

    For independent rows, √n times a lag-1 correlation is about standard normal. Sorted columns are
    regressed out, because sorting a table does not make its rows dependent.
    """
    if len(X) < _FEWEST_PAIRS or not columns:
        return []
    is_sorted = [columns.index(column) for column in sorted_columns(X, columns)]
    lags = lag_correlations(X[:, columns], is_sorted)
    rows = min(len(X), _MOST_ROWS)
    limit = max(_HARMLESS, -ndtri(_CHANCE / 2 / len(columns)) / np.sqrt(rows))
    follows = np.abs(lags) > limit
    follows[is_sorted] = False
    most = float(lags[np.argmax(np.abs(lags) * follows)])
    sentence = (
        f"Rows resemble the row before (correlation up to {most:.2f}, in {{columns}}), so they "
        "hold less evidence than independent rows, and arcs between unrelated columns seem "
        "certain: if rows are in time, learn from what came before as well (lags=1, --lags 1); "
        "otherwise keep rows far enough apart."
        if most > 0
        else f"Rows alternate with the row before (correlation {most:.2f}, in {{columns}}), so "
        "they are not independent and arcs seem more certain than they are: keep one row of each "
        "pair or group."
    )
    found = [names[columns[place]] for place in np.flatnonzero(follows).tolist()]
    return about("rows_follow", found, sentence, most)
