"""Input of a search among blocks of columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.moments import Moments


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """Moments, penalties and constraints of a search among blocks of columns.

    Attributes
    ----------
    moments : Moments
        Moments of all columns. The columns of a variable are adjacent and count the same rows.
    widths : (d,) array of int
        Number of columns of each variable.
    penalty : float
        Penalty per parameter. The number of parameters of an arc is the number of columns of the
        parent times the number of target columns of the child.
    targets : (d,) array of int, optional
        Number of first columns that represent a variable as a child; by default all. A curve has
        one (the variable itself); its further columns are for its effects.
    shortest : (d,) array of int, optional
        Minimum number of first columns that represent a variable as a parent; by default all. If
        this is less than the width, as for a curve, each arc uses as many as raise the score.
    arc_penalty : float
        Penalty per arc, in addition to the penalty of its parameters.
    constraints : Constraints
    """

    moments: Moments
    widths: NDArray[np.int64]
    penalty: float
    targets: NDArray[np.int64] | None = None
    shortest: NDArray[np.int64] | None = None
    arc_penalty: float = 0.0
    constraints: Constraints = NO_CONSTRAINTS

    def __post_init__(self) -> None:
        widths = np.asarray(self.widths, np.int64)
        targets = widths if self.targets is None else np.asarray(self.targets, np.int64)
        shortest = widths if self.shortest is None else np.asarray(self.shortest, np.int64)
        if widths.ndim != 1 or not targets.shape == shortest.shape == widths.shape:
            raise DataError("widths, targets and shortest must each have one number per variable.")
        if np.any(targets < 1) or np.any(targets > widths):
            raise DataError("targets must lie between 1 and the width of each variable.")
        if np.any(shortest < 1) or np.any(shortest > widths):
            raise DataError("shortest must lie between 1 and the width of each variable.")
        if widths.sum() != self.moments.variables:
            raise DataError(
                f"widths add up to {widths.sum()}, but the moments are of "
                f"{counted(self.moments.variables, 'column')}."
            )
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "shortest", shortest)

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return len(self.widths)

    @property
    def are_columns(self) -> bool:
        """Whether every variable is one column."""
        return bool(np.all(self.widths == 1))

    @property
    def layout(self) -> NDArray[np.int64]:
        """(3, d + 1): starts, number of target columns, and minimum number as a parent."""
        assert self.targets is not None
        assert self.shortest is not None
        rest = (np.append(self.targets, 0), np.append(self.shortest, 0))
        return np.stack([self.starts, *rest]).astype(np.int64)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,): the columns of v are starts[v], …, starts[v + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)
