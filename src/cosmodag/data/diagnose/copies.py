"""Findings about columns that repeat one another: exactly, nearly, or as a combination."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.collinear import combinations
from cosmodag.data.diagnose.findings import Finding
from cosmodag.errors import name_list

__all__ = ["NEARLY_EQUAL", "collinear", "duplicates", "equal_columns", "near_duplicates"]

# Correlation above which two columns are taken for the same quantity. Linear tables with weights of
# .5 to 2 reach it in less than one of a hundred (the strongest pair of ER4, 50 columns, raw or not).
NEARLY_EQUAL = 0.9995


def equal_columns(X: NDArray[Any], columns: list[int]) -> list[list[int]]:
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


def duplicates(groups: list[list[int]], names: Sequence[str]) -> Iterator[Finding]:
    """Columns that are equal in every row."""
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


def collinear(X: NDArray[Any], columns: list[int], names: Sequence[str]) -> Iterator[Finding]:
    """Columns that are exact linear combinations of others."""
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


def near_duplicates(correlations: NDArray[np.float64], names: Sequence[str]) -> Iterator[Finding]:
    """Pairs of columns that are the same but for a little noise.

    Parameters
    ----------
    correlations : (k, k) array
    names : sequence of str
        Of the k columns.
    """
    above = np.triu(np.abs(correlations) > NEARLY_EQUAL, 1)
    pairs = np.argwhere(above).tolist()
    if pairs:
        most = float(np.abs(correlations[above]).max())
        shown = "; ".join(f"{names[a]!r} and {names[b]!r}" for a, b in pairs[:3])
        more = "" if len(pairs) <= 3 else f"; and {len(pairs) - 3} more pairs"
        yield Finding(
            "near_duplicate",
            tuple(names[place] for place in sorted({end for pair in pairs for end in pair})),
            most,
            "warning",
            f"Columns correlated up to {most:.5f} are nearly the same quantity ({shown}{more}), so "
            "that either can take over the other's arcs: keep one of each pair.",
        )
