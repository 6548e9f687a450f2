"""Findings about the kinds of columns: labels taken for categories, and levels seen once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding, about, first_of
from cosmodag.errors import name_list
from cosmodag.io.kinds import ColumnKind

__all__ = ["inferred_kinds", "levels_as_numbers", "rare_levels"]

_MOST_SHOWN = 6


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
