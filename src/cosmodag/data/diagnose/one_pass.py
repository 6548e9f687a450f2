"""Findings that cost little beside a fit: a few passes over the table, O(n·d)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.collinear import combinations
from cosmodag.data.diagnose.findings import Finding
from cosmodag.errors import name_list

__all__ = ["EQUAL_SCALE", "FAR", "LARGE", "LEVELS", "SCALE_RATIO", "SMALL", "quick"]

# Linear models with unit noise reach ratios of 1,600 on 100 nodes and 400 arcs: above this, units
# are a likelier reason than causes.
SCALE_RATIO = 1e4
# One unit in the last place of the larger column: sums that hold both lose the smaller.
UNUSABLE_RATIO = 1e15
# Nearer to each other than columns come that nobody has put on one scale.
EQUAL_SCALE = 1.001
# In robust standard deviations; exponential noise reaches about 19 among 100,000 values.
FAR = 30.0
# Whole numbers that span fewer values than this may be codes.
LEVELS = 10

# Learners bring a table to a common scale, but squares of more than this overflow on the way: the
# square root of the largest float64 is 1.3e154, and squares are summed.
LARGE = 1e150
# Likewise squares of less than this lose their digits, and then vanish.
SMALL = 1e-150

_BLOCK = 1 << 22
_SAMPLE = 4096


class _Summary(NamedTuple):
    """What is kept of each column, (d,) each."""

    deviations: NDArray[np.float64]
    spans: NDArray[np.float64]
    distances: NDArray[np.float64]


def quick(X: NDArray[Any], names: Sequence[str]) -> list[Finding]:
    """Look for what a few passes over the table show, in O(n·d), and for exact combinations.

    Combinations are looked for among up to 1,000 columns, in the d + 200 rows it takes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite floats, as `cosmodag.io.as_table` gives them.
    names : sequence of str
        One name per column.

    Returns
    -------
    list of Finding
        Named ``constant``, ``too_large``, ``too_small``, ``duplicate``, ``collinear``,
        ``unusable_scale``, ``scale_ratio``, ``equal_scale``, ``few_rows``, ``outliers`` and
        ``integer_codes``; those that do not apply are left out.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 1] = 7
    >>> for finding in quick(X, ["a", "b", "c"]):
    ...     print(finding.name, finding.columns, finding.sentence)
    constant ('b',) A column with a single value stays isolated in the graph: leave out 'b'.
    """
    summary = _summary(X)
    constant = summary.spans == 0
    groups = _equal_columns(X, np.flatnonzero(~constant).tolist())
    repeats = {column for group in groups for column in group[1:]}
    distinct = [
        column
        for column in np.flatnonzero((summary.spans >= SMALL) & (summary.spans <= LARGE)).tolist()
        if column not in repeats
    ]
    return [
        *_constant(constant, names),
        *_too_large(summary.spans, names),
        *_too_small(summary.spans, names),
        *_duplicate(groups, names),
        *_collinear(X, distinct, names),
        *_scale(summary.deviations, constant, names),
        *_few_rows(*X.shape),
        *_outliers(summary.distances, names),
        *_integer_codes(X, summary.spans, names),
    ]


def _summary(X: NDArray[Any]) -> _Summary:
    # What overflows here is infinite or NaN in the summary, and reported as too large.
    with np.errstate(over="ignore", invalid="ignore"):
        lows = X.min(axis=0).astype(np.float64)
        highs = X.max(axis=0).astype(np.float64)
        deviations = np.empty(X.shape[1])
        for block in _blocks(X):
            deviations[block] = np.std(X[:, block], axis=0, dtype=np.float64)
        return _Summary(deviations, highs - lows, _robust_distance(X, lows, highs))


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    """Cut a table into groups of columns, so that no copy of all of it is made."""
    width = max(1, _BLOCK // len(X))
    for start in range(0, X.shape[1], width):
        yield slice(start, start + width)


def _robust_distance(
    X: NDArray[Any], lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give each column's largest distance from its median, in units of 1.4826 × the MAD."""
    # Rows at even steps: medians of thousands of rows are as good as medians of millions.
    sample = X[:: max(1, len(X) // _SAMPLE)].astype(np.float64)
    medians = np.median(sample, axis=0)
    spread = 1.4826 * np.median(np.abs(sample - medians), axis=0)
    units: NDArray[np.float64] = np.zeros(X.shape[1])
    # A column that mostly repeats one value has no such unit.
    np.divide(np.maximum(highs - medians, medians - lows), spread, out=units, where=spread > 0)
    return units


def _constant(constant: NDArray[np.bool_], names: Sequence[str]) -> Iterator[Finding]:
    if constant.any():
        found = _chosen(names, constant)
        yield Finding(
            "constant",
            found,
            len(found),
            "warning",
            "A column with a single value stays isolated in the graph: leave out "
            f"{name_list(found)}.",
        )


def _too_large(spans: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    large = spans > LARGE
    if large.any():
        found = _chosen(names, large)
        yield Finding(
            "too_large",
            found,
            float(spans.max()),
            "error",
            f"Squares of the values in {name_list(found)} exceed what double precision holds: "
            "divide them by a large number.",
        )


def _too_small(spans: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    small = (spans > 0) & (spans < SMALL)
    if small.any():
        found = _chosen(names, small)
        yield Finding(
            "too_small",
            found,
            float(spans[small].min()),
            "error",
            f"Squares of the values in {name_list(found)} are too small for double precision: "
            "multiply them by a large number.",
        )


def _equal_columns(X: NDArray[Any], columns: list[int]) -> list[list[int]]:
    """Group the columns that are equal in every row; those that are like no other are left out."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    # The first rows tell nearly all columns apart, and are all that is looked at for those.
    heads: dict[bytes, list[int]] = defaultdict(list)
    for column in columns:
        heads[np.ascontiguousarray(X[:64, column]).tobytes()].append(column)
    for alike in heads.values():
        if len(alike) > 1:
            for column in alike:
                groups[np.ascontiguousarray(X[:, column]).tobytes()].append(column)
    return [group for group in groups.values() if len(group) > 1]


def _duplicate(groups: list[list[int]], names: Sequence[str]) -> Iterator[Finding]:
    if groups:
        named = [[names[column] for column in group] for group in groups]
        yield Finding(
            "duplicate",
            tuple(name for group in named for name in group),
            sum(len(group) - 1 for group in groups),
            "warning",
            "Columns equal to each other in every row can swap their arcs at will: keep one of "
            + "; one of ".join(name_list(group) for group in named[:3])
            + ("." if len(named) <= 3 else f"; and so for {len(named) - 3} more groups."),
        )


def _collinear(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> Iterator[Finding]:
    found = combinations(X, columns)
    if found:
        involved = sorted({column for whole, parts in found for column in (whole, *parts)})
        whole, parts = found[0]
        others = f", and so for {len(found) - 1} more" if len(found) > 1 else ""
        yield Finding(
            "collinear",
            tuple(names[column] for column in involved),
            len(found),
            "warning",
            f"The column {names[whole]!r} is an exact linear combination of "
            f"{name_list([names[column] for column in parts])}{others}, as totals are and the same "
            "quantity in two units, which makes the arcs among them arbitrary: leave one out.",
        )


def _scale(
    deviations: NDArray[np.float64], constant: NDArray[np.bool_], names: Sequence[str]
) -> Iterator[Finding]:
    varying = np.flatnonzero(~constant & (deviations > 0) & np.isfinite(deviations))
    if len(varying) < 2:
        return
    small = int(varying[np.argmin(deviations[varying])])
    large = int(varying[np.argmax(deviations[varying])])
    ratio = float(deviations[large] / deviations[small])
    if ratio > UNUSABLE_RATIO:
        yield Finding(
            "unusable_scale",
            (names[small], names[large]),
            ratio,
            "error",
            f"The standard deviation of {names[large]!r} is {ratio:.3g} times that of "
            f"{names[small]!r}, more than double precision can hold in one equation: check the "
            "largest values, or bring the columns to comparable units.",
        )
    elif ratio > SCALE_RATIO:
        yield Finding(
            "scale_ratio",
            (names[small], names[large]),
            ratio,
            "warning",
            f"The standard deviation of {names[large]!r} is {ratio:.3g} times that of "
            f"{names[small]!r}, and a squared-error learner points arcs at columns of large "
            "variance: bring the columns to comparable units.",
        )
    elif ratio < EQUAL_SCALE:
        yield Finding(
            "equal_scale",
            (),
            ratio,
            "warning",
            "All columns have the same standard deviation, as if standardised, which removes what "
            "a squared-error learner tells causes from effects by: use the original units if they "
            "are comparable, and do not trust directions otherwise.",
        )


def _few_rows(rows: int, columns: int) -> Iterator[Finding]:
    if rows < columns:
        yield Finding(
            "few_rows",
            (),
            rows / columns,
            "warning",
            f"With {rows} rows for {columns} columns many graphs fit equally well: collect more "
            "rows, keep fewer columns, or trust only arcs that survive resampling.",
        )


def _outliers(distances: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    far = distances > FAR
    if far.any():
        found, most = _chosen(names, far), float(distances.max())
        yield Finding(
            "outliers",
            found,
            most,
            "warning",
            f"Values up to {most:.3g} robust standard deviations from the median let a few rows "
            f"decide a squared-error fit: check {name_list(found)}, or take logarithms.",
        )


def _integer_codes(
    X: NDArray[Any], spans: NDArray[np.float64], names: Sequence[str]
) -> Iterator[Finding]:
    coded = (spans >= 2) & (spans < LEVELS) & (spans == np.round(spans))
    for column in np.flatnonzero(coded).tolist():
        coded[column] = (X[:, column] == np.round(X[:, column])).all()
    if coded.any() and len(X) >= 2 * LEVELS:
        found = _chosen(names, coded)
        yield Finding(
            "integer_codes",
            found,
            len(found),
            "notice",
            f"If the few whole numbers in {name_list(found)} are codes of categories, their order "
            "and distance mean nothing to a linear model: use one 0/1 column per level.",
        )


def _chosen(names: Sequence[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names[index] for index in np.flatnonzero(mask).tolist())
