"""Regimes: a label for each row of a table, and the known targets of each label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.interventions import row_entries
from cosmodag.errors import DataError, name_list
from cosmodag.io.columns.refused import is_absent

OBSERVATIONAL = "observational"
"""Name of the regime of rows whose label is empty; as a label it means the same."""

CHANGES = ("noise", "cut", "weights", "slopes")
"""What differs in the own equation of a regime. *Noise*: intercept and variance. *Cut*: it has no
parents, and its own intercept and variance. *Weights*: all parameters. *Slopes*: all but the
variance; on true graphs (12 to 15 variables, 100 rows per regime, 40 tables each of four kinds) it
raised the share of targets seen from .897 to .916 on one kind and left the others as they were,
with 5 false ones for 13, because a target may cost log 2 more than without it. Own equations with
one weight or the intercept alone gave more false ones than right ones."""

# Rows from which the equations of a regime can be compared with others.
FEWEST_ROWS = 10


@dataclass(frozen=True, eq=False)
class Regimes:
    """Regimes of the rows of a table."""

    labels: NDArray[np.intp]  # (n,): the regime of each row, 0 to k − 1
    names: tuple[str, ...]  # names of the k regimes, in the order in which they occur
    stated: NDArray[np.bool_]  # (k, d) bool: targets that the user named
    finds: bool = True  # whether other variables than those may be targets

    @property
    def reference(self) -> NDArray[np.bool_]:
        """(n,): the observational rows or, if there are none, those of the largest regime."""
        if OBSERVATIONAL in self.names:
            return np.asarray(self.labels == self.names.index(OBSERVATIONAL))
        return np.asarray(self.labels == int(np.bincount(self.labels).argmax()))

    @property
    def may_change(self) -> NDArray[np.bool_]:
        """(k, d): pairs of regime and variable that may be targets without being named."""
        free = np.full(self.stated.shape, self.finds)
        if OBSERVATIONAL in self.names:
            free[self.names.index(OBSERVATIONAL)] = False
        return free

    def of_rows(self, rows: NDArray[Any]) -> "Regimes":
        """Take some rows, in any number of repetitions."""
        return replace(self, labels=self.labels[rows])


def label_texts(labels: Any, rows: int) -> list[str]:
    """Labels of all rows as text; an empty one (None, NaN, ``""``) is `OBSERVATIONAL`.

    >>> label_texts(["drug", None, 3], 3)
    ['drug', 'observational', '3']
    """
    entries = row_entries(labels, rows, "regimes")
    return [OBSERVATIONAL if is_absent(label) else str(label).strip() for label in entries]


def regimes_of(
    texts: Sequence[str],
    variables: Sequence[str],
    targets: NDArray[np.bool_] | None,
    *,
    finds: bool = True,
) -> Regimes:
    """Group rows by their labels (`label_texts`), and read the targets of each regime.

    `targets` (n, d) marks the variables that were named as targets; they must be the same in all
    rows of a regime. With `finds`, other variables may be targets too.

    >>> found = regimes_of(["observational"] * 10 + ["drug"] * 10, ["a", "b"], None)
    >>> found.names, found.may_change.tolist()
    (('observational', 'drug'), [[False, False], [True, True]])
    """
    names = tuple(dict.fromkeys(texts))
    if len(names) < 2:
        raise DataError(
            "regimes has the same label for all rows, so no regimes can be compared: leave it out."
        )
    labels = np.array([names.index(text) for text in texts], np.intp)
    rows = np.bincount(labels)
    small = [f"{name} ({own})" for name, own in zip(names, rows, strict=True) if own < FEWEST_ROWS]
    if small:
        raise DataError(
            f"Regimes with fewer than {FEWEST_ROWS} rows cannot be compared with others: leave out "
            f"the rows of {name_list(small)}, or join them with another regime."
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
