"""Regimes: a label for each row of a table, and the known targets of each label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.interventions import row_entries
from cosmodag.errors import DataError, name_list
from cosmodag.io.columns.refused import is_absent
from cosmodag.io.kind_names import label_of

OBSERVATIONAL = "observational"
"""Label of the regime of rows with an empty label, or with this one."""

CHANGES = ("noise", "cut", "weights", "slopes")
"""How the equation of a target in a regime can differ from its equation elsewhere. *Noise*: the
intercept and the variance change. *Cut*: the target has no parents, and its own intercept and
variance. *Weights*: all parameters change. *Slopes*: all parameters but the variance change.

Slopes were added after a comparison on true graphs (12 to 15 variables, 100 rows per regime, 40
tables each of four kinds): they raised the share of targets found from .897 to .916 on one kind and
left it unchanged on the others, with 5 false targets instead of 13, because a target may cost log 2
more than without them. Equations with one weight or the intercept of their own alone gave more
false targets than true ones."""

# Smallest number of rows of a regime whose equations can be compared with those of others.
FEWEST_ROWS = 10


@dataclass(frozen=True, eq=False)
class Regimes:
    """Regimes of the rows of a table."""

    labels: NDArray[np.intp]  # (n,): the regime of each row, 0 to k − 1
    names: tuple[str, ...]  # names of the k regimes, in the order of their first rows
    stated: NDArray[np.bool_]  # (k, d): targets that the user named
    finds: bool = True  # whether further variables may be found to be targets

    @property
    def reference(self) -> NDArray[np.bool_]:
        """(n,): the observational rows or, if there are none, those of the largest regime."""
        if OBSERVATIONAL in self.names:
            return np.asarray(self.labels == self.names.index(OBSERVATIONAL))
        return np.asarray(self.labels == int(np.bincount(self.labels).argmax()))

    @property
    def may_change(self) -> NDArray[np.bool_]:
        """(k, d): whether a variable may be found to be a target of a regime."""
        free = np.full(self.stated.shape, self.finds)
        if OBSERVATIONAL in self.names:
            free[self.names.index(OBSERVATIONAL)] = False
        return free

    def of_rows(self, rows: NDArray[Any]) -> "Regimes":
        """Return the regimes of the given rows, which may repeat."""
        return replace(self, labels=self.labels[rows])


def label_texts(labels: Any, rows: int) -> list[str]:
    """Convert the labels of all rows to text; an empty one (None, NaN, ``""``) is `OBSERVATIONAL`.

    Whole numbers are written without a point: they are floats in a column with empty entries.

    >>> label_texts(["drug", None, 3, 4.0], 4)
    ['drug', 'observational', '3', '4']
    """
    entries = row_entries(labels, rows, "regimes")
    return [
        OBSERVATIONAL if is_absent(label) else str(label_of(label)).strip() for label in entries
    ]


def regimes_of(
    texts: Sequence[str],
    variables: Sequence[str],
    targets: NDArray[np.bool_] | None,
    *,
    finds: bool = True,
) -> Regimes:
    """Group rows by their labels (`label_texts`), and read the targets of each regime.

    `targets` (n, d) marks the variables that were named as targets; they must be the same in all
    rows of a regime. With `finds`, further variables may be found to be targets.

    >>> found = regimes_of(["observational"] * 10 + ["drug"] * 10, ["a", "b"], None)
    >>> found.names, found.may_change.tolist()
    (('observational', 'drug'), [[False, False], [True, True]])
    """
    names = tuple(dict.fromkeys(texts))
    if len(names) < 2:
        raise DataError(
            "regimes has the same label for all rows, so there are no regimes to compare: leave it "
            "out."
        )
    labels = np.array([names.index(text) for text in texts], np.intp)
    rows = np.bincount(labels)
    small = [f"{name} ({own})" for name, own in zip(names, rows, strict=True) if own < FEWEST_ROWS]
    if small:
        raise DataError(
            f"Regimes with fewer than {FEWEST_ROWS} rows cannot be compared with others: leave out "
            f"the rows of {name_list(small)}, or merge them with another regime."
        )
    stated = np.zeros((len(names), len(variables)), bool)
    if targets is None:
        return Regimes(labels, names, stated, finds)
    for place, name in enumerate(names):
        own = targets[labels == place]
        if (own != own[0]).any():
            raise DataError(
                f"interventions names different targets within the regime {name!r}: give its rows "
                "the same targets, or different labels."
            )
        if name == OBSERVATIONAL and own[0].any():
            listed = name_list([variables[v] for v in np.flatnonzero(own[0]).tolist()])
            raise DataError(
                f"interventions names {listed} in rows without a regime: give these rows a label."
            )
        stated[place] = own[0]
    return Regimes(labels, names, stated, finds)
