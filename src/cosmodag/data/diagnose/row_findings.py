"""Findings about rows: missing values, too few rows, dependence between rows, and clusters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import ndtri

from cosmodag.data.diagnose.findings import Finding, about, chosen, first_of
from cosmodag.errors import DataError, name_list
from cosmodag.graph.texts import counted

_FEWEST = 10
_FEWEST_PAIRS = 30
_MOST_ROWS = 50_000
# False-alarm probability for a table with independent rows, and the lag-1 correlation below which
# standard errors change by less than a hundredth.
_CHANCE, _HARMLESS = 0.002, 0.1
_CLIPPED_AT = 4.0
# Share of steps against the direction of a sorted column, where it begins anew; most runs of equal
# values, and fewest rows per run; degree of polynomials in the ranks.
_RESETS, _MOST_RUNS, _FEWEST_PER_RUN, _DEGREE = 0.05, 20, 5, 5

# Directions of largest variance along which clusters are searched for.
_DIRECTIONS = 3
_FEWEST_CLUSTERED = 50
_GRID = 100

# Limit on √n times the depth of a valley. Uniform samples, which have the deepest valleys of all
# unimodal distributions, stayed below it in 1,499 of 1,500 tables with 60 to 5,000 rows, measured
# on a grid of 200 points, twice as fine as the grid used here.
_DEEP = 1.15


def missing_values(X: NDArray[Any], names: Sequence[str]) -> list[Finding]:
    """Report the number of missing values per column."""
    absent = np.isnan(X)
    numbers = absent.sum(axis=0)
    columns = np.flatnonzero(numbers)
    worst = columns[np.argsort(-numbers[columns], kind="stable")].tolist()
    listed = [f"{names[column]!r} {numbers[column]:,}" for column in worst]
    complete = int((~absent.any(axis=1)).sum())
    total = int(numbers.sum())
    sentence = (
        f"{total:,} {'value is' if total == 1 else 'values are'} missing "
        f"({first_of(listed, 8, 'column')}), "
        f"{complete:,} of {len(X):,} rows are complete: use only these rows (--missing drop) if "
        "the gaps do not depend on the values, or impute the gaps from the learnt graph (--missing "
        "impute)."
    )
    return about("missing_values", chosen(names, numbers > 0), sentence, absent.mean(), "error")


def refuse_empty(absent: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Refuse a table with columns without any value, given the mask (n, d) of missing values."""
    empty = chosen(names, np.asarray(absent.all(axis=0)))
    if empty:
        verb = "has" if len(empty) == 1 else "have"
        raise DataError(f"{name_list(empty)} {verb} no value at all: leave such columns out.")


def without_gaps(X: NDArray[Any]) -> NDArray[Any]:
    """Return the complete rows if there are enough, otherwise fill gaps at random.

    Values are drawn from those of the same column. This keeps the distribution of each column and
    weakens relations between columns, so it creates no false findings about relations.
    """
    absent = np.isnan(X)
    complete = ~absent.any(axis=1)
    if complete.sum() >= max(20, 2 * X.shape[1], len(X) // 3):
        return np.asarray(X[complete])
    random = np.random.default_rng(0)
    filled = X.copy()
    for column in np.flatnonzero(absent.any(axis=0)).tolist():
        gap = absent[:, column]
        filled[gap, column] = random.choice(X[~gap, column], size=int(gap.sum()))
    return filled


def few_rows(rows: int, columns: int) -> list[Finding]:
    """Report fewer rows than columns, or fewer than ten."""
    if rows < columns:
        sentence = (
            f"With {counted(rows, 'row')} for {counted(columns, 'column')}, many graphs fit "
            "equally well: collect more rows, keep fewer columns, or trust only arcs that survive "
            "resampling."
        )
    elif rows < _FEWEST:
        sentence = (
            f"With {counted(rows, 'row')}, few arcs can be distinguished from chance: collect more "
            "rows."
        )
    else:
        return []
    return [Finding("few_rows", (), rows / columns, "warning", sentence)]


def _sorted_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns whose values never fall, or never rise, from row to row."""
    head = np.diff(X[:_FEWEST_PAIRS], axis=0)
    found = np.asarray((head >= 0).all(axis=0) | (head <= 0).all(axis=0))
    for column in np.flatnonzero(found).tolist():
        steps = np.diff(X[:, column])
        found[column] = (steps >= 0).all() or (steps <= 0).all()
    return found


def lag_correlations(
    X: NDArray[Any], given: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Compute the lag-1 autocorrelation of each column, after regression on the `given` ones.

    Values are clipped at four standard deviations to limit the influence of single rows.

    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(500, 2)), axis=0)
    >>> bool((lag_correlations(walk) > 0.9).all())
    True
    """
    used = np.asarray(X[:_MOST_ROWS], np.float64)
    values = used - used.mean(axis=0)
    if given is not None and given.any():
        basis = values[:, given]
        values = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
    deviations = values.std(axis=0)
    # A column that the given ones determine has only rounding errors as residuals.
    is_noise = deviations > 1e-6 * used.std(axis=0)
    values = np.where(is_noise, values / np.where(is_noise, deviations, 1.0), 0.0)
    np.clip(values, -_CLIPPED_AT, _CLIPPED_AT, out=values)
    squares = (values**2).sum(axis=0)
    products = (values[:-1] * values[1:]).sum(axis=0)
    return np.asarray(products / np.where(squares > 0, squares, 1.0))


def without_arrangement(
    X: NDArray[Any], table: NDArray[Any]
) -> tuple[list[int], NDArray[np.float64]]:
    """Find the columns of a table by which its rows are arranged, and remove what they explain.

    A column arranges the rows if nearly all its steps go in one direction, or if its equal values
    stand together in at most 20 runs: with more, groups may be repeated measurements. `X` (n, k)
    has the same rows. Its means within the runs, and polynomials in the ranks of sorted columns,
    are subtracted from it.

    >>> group = np.repeat([0.0, 1, 2], 100)
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 2 * group[:, None]
    >>> arranged, residuals = without_arrangement(X, group[:, None])
    >>> arranged, bool((lag_correlations(X) > 0.5).all())
    ([0], True)
    >>> bool((np.abs(lag_correlations(residuals)) < 0.2).all())
    True
    """
    is_sorted, is_grouped = _arranging(table)
    changes = (np.diff(table[:, is_grouped], axis=0) != 0).any(axis=1)
    run = np.cumsum(np.r_[0, changes])
    if run[-1] >= len(table) // _FEWEST_PER_RUN:
        run[:] = 0
    values = _within(run, np.asarray(X, np.float64))
    regressors = []
    for column in np.flatnonzero(is_sorted).tolist():
        ranks = np.unique(table[:, column], return_inverse=True)[1]
        regressors.append(np.polynomial.legendre.legvander(2 * ranks / ranks.max() - 1, _DEGREE))
    if regressors:
        basis = _within(run, np.hstack(regressors))
        values = values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]
    return np.flatnonzero(is_sorted | is_grouped).tolist(), values


def _arranging(table: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the columns by which rows are sorted, and those by which they are grouped."""
    steps = np.diff(table, axis=0)
    moves = (steps != 0).sum(axis=0)
    rising = (steps > 0).sum(axis=0) / np.maximum(moves, 1)
    is_grouped = (moves > 0) & (moves < _MOST_RUNS)
    is_sorted = np.maximum(rising, 1 - rising) >= 1 - _RESETS
    return is_sorted & (moves >= _MOST_RUNS), is_grouped


def _within(run: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract the mean within each run from each column."""
    counts = np.bincount(run)
    sums = np.stack([np.bincount(run, column) for column in values.T], axis=1)
    return np.asarray(values - (sums / counts[:, None])[run])


def rows_follow(
    X: NDArray[Any],
    columns: list[int],
    names: Sequence[str],
    arranged_by: tuple[NDArray[Any], Sequence[str]] | None = None,
) -> list[Finding]:
    """Report rows that depend on the row before: time series, repeated measurements, groups.

    For independent rows, √n times a lag-1 correlation is about standard normal. Sorted columns are
    regressed out, because sorting a table does not make its rows dependent. If the order or the
    groups of columns, by default those of `X`, explain the correlations, they are a notice:
    `arranged_by` has further columns, such as codes of categories, and their names.
    """
    if len(X) < _FEWEST_PAIRS or not columns:
        return []
    used = X[:, columns]
    is_sorted = _sorted_columns(used)
    lags = lag_correlations(used, is_sorted)
    rows = min(len(X), _MOST_ROWS)
    limit = max(_HARMLESS, -ndtri(_CHANCE / 2 / len(columns)) / np.sqrt(rows))
    follows = (np.abs(lags) > limit) & ~is_sorted
    if follows.any():
        table, titles = arranged_by or (used, [names[column] for column in columns])
        arranged, residuals = without_arrangement(used[:_MOST_ROWS], table[:_MOST_ROWS])
        left = (np.abs(lag_correlations(residuals)) > limit) & ~np.logical_or(*_arranging(used))
        if arranged and not left[follows].any():
            sentence = "The rows are sorted or grouped by {columns}, and do not depend otherwise."
            own = [titles[place] for place in arranged]
            return about("sorted_rows", own, sentence, severity="notice")
    most = float(lags[np.argmax(np.abs(lags) * follows)])
    sentence = (
        f"Rows resemble the row before (correlation up to {most:.2f}, in {{columns}}), so they "
        "carry less evidence than independent rows, and arcs between unrelated columns can seem "
        "certain: if the rows are in time order, learn from earlier rows as well (lags=1, --lags "
        "1); otherwise keep only rows that are far enough apart."
        if most > 0
        else f"Rows tend to be opposite to the row before (correlation down to {most:.2f}, in "
        "{columns}), so they are not independent, and arcs seem more certain than they are: keep "
        "one row of each pair or group."
    )
    own = [names[column] for column in columns]
    return about("rows_follow", chosen(own, follows), sentence, most)


def several_populations(
    standard: NDArray[np.float64], few_valued: NDArray[np.float64]
) -> list[Finding]:
    """Report clusters of rows along the directions of largest variance.

    The common part of many columns is a sum of many causes and has one mode; if the rows come from
    two populations with different means, it has two. Few-valued columns are regressed out first,
    because a learner can use them to separate populations. All columns are standardised.
    """
    n, k = standard.shape
    if n < _FEWEST_CLUSTERED or k < 2:
        return []
    last = (max(0, k - _DIRECTIONS), k - 1)
    _, vectors = linalg.eigh(standard.T @ standard / n, subset_by_index=last)
    along = standard @ vectors
    if few_valued.shape[1]:
        along = along - few_valued @ np.linalg.lstsq(few_valued, along, rcond=None)[0]
    deepest = float(max(np.sqrt(n) * valley(values) for values in along.T))
    if deepest <= _DEEP:
        return []
    sentence = (
        "The rows fall into clusters, as if they came from several populations, so arcs can join "
        "columns only because both differ between populations: fit each population separately, or "
        "add a column that names the population of each row."
    )
    return [Finding("several_populations", (), deepest, "warning", sentence)]


def valley(values: NDArray[np.float64]) -> float:
    """Measure the valley between two modes: the distance to the closest unimodal distribution.

    A unimodal distribution function is convex before its mode and concave after it. The depth of
    the valley is the minimum, over positions of the mode, of the larger of two distances: to the
    greatest convex minorant before the mode, and to the least concave majorant after it. It is
    close to twice the dip of Hartigan and Hartigan (1985).

    >>> x = np.random.default_rng(0).normal(size=400)
    >>> x[:200] += 6
    >>> valley(x) > 0.1 > valley(x[200:])
    True
    """
    places = np.unique(np.linspace(0, len(values) - 1, _GRID).round().astype(np.intp))
    points, first = np.unique(np.sort(values)[places], return_index=True)
    heights = (places[first] + 0.5) / len(values)
    if len(points) < 4:
        return 0.0

    def before(mode: int) -> float:
        return _above_minorant(points[: mode + 1], heights[: mode + 1])

    def after(mode: int) -> float:
        return _above_minorant(-points[mode:][::-1], 1 - heights[mode:][::-1])

    low, high = 1, len(points) - 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if before(middle) < after(middle) else (low, middle)
    return min(max(before(mode), after(mode)) for mode in (low, high))


def _above_minorant(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Compute the largest distance of points above their greatest convex minorant.

    The slopes of the minorant are those between the points after isotonic regression.
    """
    widths = np.diff(x)
    slopes = optimize.isotonic_regression(np.diff(y) / widths, weights=widths).x
    return float(np.max(y[1:] - y[0] - np.cumsum(slopes * widths), initial=0.0))
