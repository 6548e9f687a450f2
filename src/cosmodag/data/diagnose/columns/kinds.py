"""Findings about the kinds of columns: labels taken for categories, and levels seen once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.errors import name_list
from cosmodag.io.kinds import ColumnKind

__all__ = ["inferred_kinds", "levels_as_numbers", "rare_levels"]

_MOST_SHOWN = 6


def inferred_kinds(
    kinds: Sequence[ColumnKind], names: Sequence[str], said: Sequence[str] = ()
) -> Iterator[Finding]:
    """Columns of plain text that are taken for categories.

    Parameters
    ----------
    kinds, names : sequence
        One entry per column.
    said : sequence of str
        Columns whose kinds the user gave.
    """
    found = [
        v for v, kind in enumerate(kinds) if kind.reason.startswith("text") and names[v] not in said
    ]
    if not found:
        return
    shown = ", ".join(_described(names[v], kinds[v]) for v in found[:_MOST_SHOWN])
    more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    yield Finding(
        "kinds",
        tuple(names[v] for v in found),
        len(found),
        "warning",
        f"Text is taken for the levels of a category: {shown}{more}; say otherwise, or confirm it, "
        "by kinds= (--kinds, --categorical).",
    )


def rare_levels(
    X: NDArray[Any], kinds: Sequence[ColumnKind], names: Sequence[str]
) -> Iterator[Finding]:
    """Levels that a single row has."""
    listed: list[str] = []
    columns: list[str] = []
    for v, kind in enumerate(kinds):
        if not kind.is_levels:
            continue
        numbers = X[~np.isnan(X[:, v]), v].astype(np.intp)
        once = np.flatnonzero(np.bincount(numbers, minlength=len(kind.levels)) == 1)
        if len(once):
            columns.append(names[v])
            listed.append(f"{names[v]!r}: {name_list([kind.levels[k] for k in once], most=3)}")
    if listed:
        more = f" and {len(listed) - _MOST_SHOWN} more columns" if len(listed) > _MOST_SHOWN else ""
        yield Finding(
            "rare_levels",
            tuple(columns),
            len(columns),
            "warning",
            f"Some levels occur in a single row ({'; '.join(listed[:_MOST_SHOWN])}{more}): they "
            "are kept, but nothing can be learnt about them; merge rare levels into one.",
        )


def levels_as_numbers(
    kinds: Sequence[ColumnKind], names: Sequence[str], learner: str
) -> Iterator[Finding]:
    """Ordered labels whose numbers enter equations.

    Parameters
    ----------
    kinds, names : sequence
        One entry per column.
    learner : str
        The learner that takes numbers only.
    """
    found = [v for v, kind in enumerate(kinds) if kind.kind == "ordinal" and kind.is_levels]
    if found:
        shown = ", ".join(_described(names[v], kinds[v]) for v in found[:_MOST_SHOWN])
        yield Finding(
            "levels_as_numbers",
            tuple(names[v] for v in found),
            len(found),
            "warning",
            f"{learner} takes the ordered levels of {shown} for the numbers 0, 1, …: equal steps "
            "are assumed to have equal effects.",
        )


def _described(name: str, kind: ColumnKind) -> str:
    """Name a column with its levels, numbered if there are few."""
    if len(kind.levels) <= 3:
        levels = ", ".join(f"{place} = {label}" for place, label in enumerate(kind.levels))
    else:
        levels = f"{len(kind.levels)} levels"
    return f"{name!r} ({levels})"
