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

# Columns are the same but for noise if they are correlated more than this, and each leaves so many
# times less of the other than all other columns together. Strong causes are not like that, since
# their other causes and effects tell much as well: in 2,400 linear tables (ER2 to ER4, 5 to 50
# columns) the ratio of the most alike pair, of those correlated above .99, was above 6 in fewer
# than one of a hundred.
NEARLY_EQUAL, MUCH_LESS = 0.997, 6.0
# Below this, inverted correlations are rounding.
_RIDGE = 1e-10


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


def near_duplicates(
    correlations: NDArray[np.float64], rows: int, names: Sequence[str]
) -> Iterator[Finding]:
    """Pairs of columns that are the same but for a little noise.

    Parameters
    ----------
    correlations : (k, k) array
    rows : int
        That they were taken over; with fewer than 2 k, nothing is said.
    names : sequence of str
        Of the k columns.
    """
    above = np.argwhere(np.triu(np.abs(correlations) > NEARLY_EQUAL, 1))
    if not len(above) or rows < 2 * len(correlations):
        return
    precision = np.asarray(
        np.linalg.inv(correlations + _RIDGE * np.eye(len(correlations))), np.float64
    )
    pairs = [(a, b) for a, b in above.tolist() if _is_copy(correlations, precision, a, b)]
    if pairs:
        most = max(abs(float(correlations[a, b])) for a, b in pairs)
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


def _is_copy(
    correlations: NDArray[np.float64], precision: NDArray[np.float64], a: int, b: int
) -> bool:
    """Whether a and b each leave much less of the other than all other columns leave."""
    own, between = np.diagonal(precision), precision[a, b] ** 2
    others_leave = min(1 / (own[a] - between / own[b]), 1 / (own[b] - between / own[a]))
    return bool(others_leave > MUCH_LESS * (1 - correlations[a, b] ** 2))
