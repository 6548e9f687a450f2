"""Findings about the values of columns: levels, two or few values, counts, running numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, about, chosen, first_of
from cosmodag.data.kinds.decision import FEW_VALUES, FEWEST_ROWS, are_counts
from cosmodag.errors import name_list
from cosmodag.io.kinds import ColumnKind

__all__ = ["inferred_kinds", "levels_as_numbers", "rare_levels", "running_ids", "unlike_lines"]

_MOST_SHOWN = 6
# Increasing integers whose range is at most this many times the number of rows are row numbers.
_SPARSE = 3.0


def inferred_kinds(
    kinds: Sequence[ColumnKind], names: Sequence[str], declared: Sequence[str] = ()
) -> list[Finding]:
    """Columns of plain text that are taken for categories, unless the user declared their kinds."""
    found = [
        v
        for v, kind in enumerate(kinds)
        if kind.reason.startswith("text") and names[v] not in declared
    ]
    sentence = (
        f"Text is taken for the levels of a category: {_described(found, kinds, names)}; confirm "
        "this, or declare another kind, by kinds= (--kinds, --categorical)."
    )
    return about("kinds", [names[v] for v in found], sentence)


def rare_levels(
    X: NDArray[Any], kinds: Sequence[ColumnKind], names: Sequence[str]
) -> list[Finding]:
    """Levels that a single row has."""
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
        f"Some levels occur in a single row ({first_of(shown, _MOST_SHOWN, 'more columns', '; ')}):"
        " they are kept, but nothing can be learnt about them; merge rare levels into one."
    )
    return about("rare_levels", list(listed), sentence)


def levels_as_numbers(
    kinds: Sequence[ColumnKind], names: Sequence[str], learner: str
) -> list[Finding]:
    """Ordered labels whose numbers enter the equations of a learner that takes numbers only."""
    found = [v for v, kind in enumerate(kinds) if kind.kind == "ordinal" and kind.is_levels]
    sentence = (
        f"{learner} takes the ordered levels of {_described(found, kinds, names)} for the numbers "
        "0, 1, …: equal steps are assumed to have equal effects."
    )
    return about("levels_as_numbers", [names[v] for v in found], sentence)


def _described(places: list[int], kinds: Sequence[ColumnKind], names: Sequence[str]) -> str:
    """Name columns with their levels, numbered if there are few."""
    shown = []
    for v in places:
        levels = kinds[v].levels
        numbered = ", ".join(f"{place} = {label}" for place, label in enumerate(levels))
        shown.append(f"{names[v]!r} ({numbered if len(levels) <= 3 else f'{len(levels)} levels'})")
    return first_of(shown, _MOST_SHOWN)


def unlike_lines(X: NDArray[Any], number: NDArray[np.int64], names: Sequence[str]) -> list[Finding]:
    """Columns of two values, of three to ten, and of counts: their noise is not continuous.

    `number` (d,) has the number of different values of each column, 0 if there are many.
    """
    few = (number > 2) & (number <= FEW_VALUES)
    whole = all((X[:, v] == np.round(X[:, v])).all() for v in np.flatnonzero(few).tolist())
    codes = "name them as categories (kinds=, --categorical) if they are codes, and "
    counts = [
        names[v]
        for v in np.flatnonzero(number > FEW_VALUES).tolist()
        if are_counts(X[:, v], int(number[v]))
    ]
    return [
        *about(
            "binary",
            chosen(names, number == 2),
            "Columns with two values ({columns}) do not have the additive noise of linear "
            "equations, so arcs into them are approximate, and their directions must not be based "
            "on the shape or variance of noise: read such arcs as associations.",
        ),
        *about(
            "few_values",
            chosen(names, few),
            f"Columns with {FEW_VALUES} distinct values or fewer ({{columns}}) do not have the "
            "continuous noise of linear equations, so directions must not be based on the shape or "
            f"variance of noise: {codes if whole else ''}read such arcs as associations.",
        ),
        *about(
            "counts",
            counts,
            "Counts ({columns}) vary more where they are larger, and their relations are rarely "
            "linear: take log(1 + x) or square roots first, and do not base directions on the "
            "shape of noise (noise='gaussian').",
        ),
    ]


def running_ids(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> list[Finding]:
    """Varying columns that number the rows: equal steps, or distinct integers, few left out."""
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
    if steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return bool(np.allclose(np.diff(values), steps[0], rtol=1e-6, atol=0))
    if (head != np.round(head)).any():
        return False
    span = float(values.max()) - float(values.min())
    if span >= _SPARSE * len(values) or len(np.unique(values)) < len(values):
        return False
    return span == len(values) - 1 or bool((np.diff(values) > 0).all())
