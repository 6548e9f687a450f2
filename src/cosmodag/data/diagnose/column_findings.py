"""Findings about columns that repeat one another, and about their values.

A column that repeats others, such as a total or the same quantity in another unit, is a function of
these columns, so the data cannot identify which of them are causes. Levels, few distinct values,
counts and row numbers contradict the continuous noise of linear equations.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cosmodag.data.diagnose.findings import Finding, about, chosen, first_of
from cosmodag.data.kinds.inferred import FEW_VALUES, FEWEST_ROWS, are_counts
from cosmodag.errors import name_list
from cosmodag.io.kind_names import ColumnKind

# Two columns count as copies with noise if their correlation exceeds the first limit, and the
# residual variance of each given all columns but the other is more than the second limit times that
# given the other alone. A strong cause is not a copy, because other causes and effects explain it:
# in 2,400 linear tables (ER2 to ER4, 5 to 50 columns), this ratio of the most similar pair, among
# those correlated above .99, was above 6 in fewer than one of a hundred.
NEARLY_EQUAL, MUCH_LESS = 0.997, 6.0
# Ridge for the inverse of correlations: smaller eigenvalues are rounding errors.
_RIDGE = 1e-10
# With more columns, a d×d factorisation would dominate the cost of the quick findings.
MOST_COLUMNS = 1_000
# With this many more rows than columns, a spurious combination is practically impossible.
_SPARE_ROWS = 200
# Smallest residual of a column given the columns before it, as a fraction of its length, that is
# certain not to be a rounding error of the correlations.
_CLEARLY = 1e-3

_MOST_SHOWN = 6

# Increasing integers are row numbers if their range is less than this many times the number of
# rows.
_SPARSE = 3.0


def equal_columns(X: NDArray[Any], columns: list[int]) -> list[list[int]]:
    """Group columns that are equal in every row; columns without an equal are left out."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    # The first rows distinguish nearly all columns; the others are compared in full.
    heads: dict[bytes, list[int]] = defaultdict(list)
    for column in columns:
        heads[np.ascontiguousarray(X[:64, column]).tobytes()].append(column)
    for candidates in heads.values():
        if len(candidates) > 1:
            for column in candidates:
                groups[np.ascontiguousarray(X[:, column]).tobytes()].append(column)
    return [group for group in groups.values() if len(group) > 1]


def duplicates(groups: list[list[int]], names: Sequence[str]) -> list[Finding]:
    """Report columns that are equal in every row."""
    named = [[names[column] for column in group] for group in groups]
    columns = tuple(name for group in named for name in group)
    listed = first_of([name_list(group) for group in named], 3, "group", "; one of ")
    sentence = (
        "Columns that are equal in every row are interchangeable, so their arcs are arbitrary: "
        f"keep only one of {listed}."
    )
    return about("duplicate", columns, sentence, len(columns) - len(groups))


def collinear(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Report columns that are exact linear combinations of others."""
    found = combinations(X, columns)
    if not found:
        return []
    involved = sorted({column for whole, parts in found for column in (whole, *parts)})
    whole, parts = found[0]
    others = f" (the same holds for {len(found) - 1} more)" if len(found) > 1 else ""
    one = "column of each combination" if len(found) > 1 else "of them"
    sentence = (
        f"The column {names[whole]!r} is an exact linear combination of "
        f"{name_list([names[column] for column in parts])}{others}, like a total or the same "
        f"quantity in two units, so the arcs among them are arbitrary: leave out one {one}."
    )
    return about("collinear", [names[column] for column in involved], sentence, len(found))


def near_duplicates(standard: NDArray[np.float64], names: Sequence[str]) -> list[Finding]:
    """Report pairs of columns that are equal up to a little noise; none with fewer than 2 d rows.

    The columns are standardised.
    """
    correlations = standard.T @ standard / len(standard)
    above = np.argwhere(np.triu(np.abs(correlations) > NEARLY_EQUAL, 1))
    if not len(above) or len(standard) < 2 * len(correlations):
        return []
    ridge = _RIDGE * np.eye(len(correlations))
    precision = np.asarray(np.linalg.inv(correlations + ridge), np.float64)
    own, (a, b) = np.diagonal(precision), above.T
    shared = precision[a, b] ** 2
    # Residual variances of both columns given all columns but the other; the smaller of the two.
    unexplained = np.minimum(1 / (own[a] - shared / own[b]), 1 / (own[b] - shared / own[a]))
    pairs = above[unexplained > MUCH_LESS * (1 - correlations[a, b] ** 2)].tolist()
    if not pairs:
        return []
    most = max(abs(float(correlations[a, b])) for a, b in pairs)
    listed = [f"{names[a]!r} and {names[b]!r}" for a, b in pairs]
    sentence = (
        f"Some columns measure nearly the same quantity ({first_of(listed, 3, 'pair', '; ')};"
        f" correlation up to {most:.5f}), so one can replace the other in any arc: keep one of "
        "each pair."
    )
    columns = sorted({end for pair in pairs for end in pair})
    return about("near_duplicate", [names[column] for column in columns], sentence, most)


def combinations(X: NDArray[Any], columns: list[int]) -> list[tuple[int, list[int]]]:
    """Find columns that are exact linear combinations of others, up to a constant.

    The columns to check vary, and no two of them are equal. The result lists each determined column
    with the columns before it that determine it. It is empty with more than ``MOST_COLUMNS``
    columns, and with at most as many rows as columns.

    A QR factorisation of centred columns of unit length has the residual of each column given the
    columns before it on its diagonal. At first it uses about d + 200 rows, because a column that is
    not a combination in these rows is not one in all rows; then, if any was found, all rows.

    >>> a, b, c = np.random.default_rng(0).normal(size=(3, 100))
    >>> combinations(np.column_stack([a, b, c, a - 2 * b + 7]), [0, 1, 2, 3])
    [(3, [0, 1])]
    """
    if not 1 < len(columns) <= min(MOST_COLUMNS, len(X) - 1):
        return []
    step = max(1, len(X) // (len(columns) + _SPARE_ROWS))
    if step > 1 and not _dependent(X[::step, columns]):
        return []
    return [
        (columns[whole], [columns[part] for part in parts])
        for whole, parts in _dependent(X[:, columns])
    ]


def _dependent(X: NDArray[Any]) -> list[tuple[int, list[int]]]:
    """List the columns that earlier columns determine, with these earlier columns."""
    digits = 1e-6 if X.dtype == np.float32 else 1e-10
    centred = X - X.mean(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(centred, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    # Subtracting a large mean leaves further rounding errors.
    rounding = float(np.finfo(X.dtype).eps) * np.sqrt(len(X)) * np.abs(X).max(axis=0) / lengths
    negligible = np.maximum(digits, rounding)
    if _is_clearly_free(centred / lengths):
        return []
    factor = linalg.qr(centred / lengths, mode="r", overwrite_a=True, check_finite=False)[0]
    is_free = np.abs(np.diagonal(factor)) > negligible
    found: list[tuple[int, list[int]]] = []
    for column in np.flatnonzero(~is_free).tolist():
        # Other determined columns are left out of the basis: coefficients would not be unique.
        basis = np.flatnonzero(is_free[:column])
        target = factor[:column, column]
        coefficients = np.linalg.lstsq(factor[:column, basis], target, rcond=None)[0]
        involved = np.abs(coefficients) > np.sqrt(digits)
        found.append((column, basis[involved].tolist()))
    return found


def _is_clearly_free(standard: NDArray[np.float64]) -> bool:
    """Whether the correlations show that no column is a combination of the columns before it.

    Correlations lose half the digits, so they can only rule combinations out, but at a fraction of
    the cost.
    """
    try:
        factor = np.linalg.cholesky(standard.T @ standard)
    except np.linalg.LinAlgError:
        return False
    return bool(np.diagonal(factor).min() > _CLEARLY)


def inferred_kinds(
    kinds: Sequence[ColumnKind], names: Sequence[str], declared: Sequence[str] = ()
) -> list[Finding]:
    """Report text columns that are treated as categories without having been declared."""
    found = [
        v
        for v, kind in enumerate(kinds)
        if kind.reason.startswith("text") and names[v] not in declared
    ]
    sentence = (
        f"Text columns are treated as categories: {_described(found, kinds, names)}; confirm this, "
        "or declare another kind, with kinds= (--kinds, --categorical)."
    )
    return about("kinds", [names[v] for v in found], sentence)


def rare_levels(
    X: NDArray[Any], kinds: Sequence[ColumnKind], names: Sequence[str]
) -> list[Finding]:
    """Report levels that occur in a single row."""
    listed: dict[str, str] = {}
    for v, kind in enumerate(kinds):
        if not kind.is_levels:
            continue
        numbers = X[~np.isnan(X[:, v]), v].astype(np.intp)
        once = np.flatnonzero(np.bincount(numbers, minlength=len(kind.levels)) == 1)
        if len(once):
            listed[names[v]] = name_list([kind.levels[k] for k in once], most=3)
    shown = [f"{name!r}: {levels}" for name, levels in listed.items()]
    sentence = (
        "Some levels occur in a single row "
        f"({first_of(shown, _MOST_SHOWN, 'column', '; ')}): they are kept, but nothing can "
        "be learnt about them; merge rare levels into one."
    )
    return about("rare_levels", list(listed), sentence)


def levels_as_numbers(
    kinds: Sequence[ColumnKind], names: Sequence[str], learner: str
) -> list[Finding]:
    """Report ordered labels that a learner of numbers treats as numbers."""
    found = [v for v, kind in enumerate(kinds) if kind.kind == "ordinal" and kind.is_levels]
    sentence = (
        f"{learner} treats the ordered levels of {_described(found, kinds, names)} as the numbers "
        "0, 1, …, and so assumes that equal steps have equal effects."
    )
    return about("levels_as_numbers", [names[v] for v in found], sentence)


def _described(places: list[int], kinds: Sequence[ColumnKind], names: Sequence[str]) -> str:
    """Name columns with their levels, or with the number of levels if there are more than three."""
    shown = []
    for v in places:
        levels = kinds[v].levels
        numbered = ", ".join(f"{place} = {label}" for place, label in enumerate(levels))
        shown.append(f"{names[v]!r} ({numbered if len(levels) <= 3 else f'{len(levels)} levels'})")
    return first_of(shown, _MOST_SHOWN)


def unlike_lines(
    X: NDArray[Any], n_values: NDArray[np.int64], names: Sequence[str]
) -> list[Finding]:
    """Report columns of two values, of three to ten, and of counts: their noise is not continuous.

    `n_values` (d,) is the number of distinct values of each column, 0 if there are many.
    """
    few = (n_values > 2) & (n_values <= FEW_VALUES)
    whole = all((X[:, v] == np.round(X[:, v])).all() for v in np.flatnonzero(few).tolist())
    codes = "declare them as categories (kinds=, --categorical) if they are codes, and "
    counts = [
        names[v]
        for v in np.flatnonzero(n_values > FEW_VALUES).tolist()
        if are_counts(X[:, v], int(n_values[v]))
    ]
    return [
        *about(
            "binary",
            chosen(names, n_values == 2),
            "Columns with two values ({columns}) do not have the additive noise of linear "
            "equations, so arcs into them are approximate, and neither the shape nor the variance "
            "of the noise identifies their directions: read these arcs as associations.",
        ),
        *about(
            "few_values",
            chosen(names, few),
            f"Columns with {FEW_VALUES} distinct values or fewer ({{columns}}) do not have the "
            "continuous noise of linear equations, so neither the shape nor the variance of the "
            "noise identifies the directions of their arcs: "
            f"{codes if whole else ''}read these arcs as associations.",
        ),
        *about(
            "counts",
            counts,
            "Counts ({columns}) vary more where they are larger, and their relations are rarely "
            "linear: take log(1 + x) or square roots first, and do not infer directions from the "
            "shape of the noise (noise='gaussian', --noise gaussian).",
        ),
    ]


def running_ids(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Report columns that number the rows: equal steps, or distinct integers with few gaps."""
    if len(X) < FEWEST_ROWS:
        return []
    found = [names[column] for column in columns if _numbers_rows(X[:, column])]
    sentence = (
        "A column that numbers the rows is not a measurement, and its arcs only show how the table "
        "was compiled: leave out {columns}."
    )
    return about("running_id", found, sentence)


def _numbers_rows(values: NDArray[Any]) -> bool:
    head = values[:FEWEST_ROWS]
    steps = np.diff(head)
    has_steps = steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0)
    if has_steps and np.allclose(np.diff(values), steps[0], rtol=1e-6, atol=0):
        return True
    if (head != np.round(head)).any():
        return False
    span = float(values.max()) - float(values.min())
    if span >= _SPARSE * len(values) or len(np.unique(values)) < len(values):
        return False
    return span == len(values) - 1 or bool((np.diff(values) > 0).all())
