"""What a search among blocks of columns maximises, what it must obey, and what it returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.order.moments import Moments

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """What a search among blocks maximises, and what it must obey.

    Attributes
    ----------
    moments : Moments
        Of all columns; the columns of a variable are beside each other and count the same rows.
    widths : (d,) array of int
        Number of columns of each variable.
    penalty : float
        Per parameter: a parent costs its columns times the child's number of target columns.
    targets : (d,) array of int, optional
        How many of its first columns a variable is as a child; by default all. A curve has one (the
        variable itself), and further columns for its effects.
    shortest : (d,) array of int, optional
        Fewest of its first columns with which a variable can be a parent; by default all. Of a
        curve, each arc uses as many columns as raise the score.
    arc_penalty : float
        Per arc, beside its parameters.
    support, required, before : (d, d) arrays of bool, optional
        Arcs that may exist, arcs that are always in, and what must come before what (transitively
        closed).
    """

    moments: Moments
    widths: NDArray[np.int64]
    penalty: float
    targets: NDArray[np.int64] | None = None
    shortest: NDArray[np.int64] | None = None
    arc_penalty: float = 0.0
    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None

    def __post_init__(self) -> None:
        widths = np.asarray(self.widths, np.int64)
        targets = widths if self.targets is None else np.asarray(self.targets, np.int64)
        shortest = widths if self.shortest is None else np.asarray(self.shortest, np.int64)
        if widths.ndim != 1 or not targets.shape == shortest.shape == widths.shape:
            raise DataError("widths, targets and shortest need one number for each variable.")
        if np.any(targets < 1) or np.any(targets > widths):
            raise DataError("A variable needs at least one target column among its columns.")
        if np.any(shortest < 1) or np.any(shortest > widths):
            raise DataError("A variable needs at least one column as a parent.")
        if widths.sum() != self.moments.variables:
            raise DataError(
                f"widths add up to {widths.sum()}, but there are {self.moments.variables} columns."
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
    def precedence(self) -> Bools | None:
        """What must come before what, required arcs included."""
        parts = [part for part in (self.before, self.required) if part is not None]
        return np.asarray(np.any(parts, axis=0), np.bool_) if parts else None

    @property
    def layout(self) -> NDArray[np.int64]:
        """(3, d + 1): starts, target columns, and fewest columns of a parent."""
        assert self.targets is not None
        assert self.shortest is not None
        rest = (np.append(self.targets, 0), np.append(self.shortest, 0))
        return np.stack([self.starts, *rest]).astype(np.int64)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,): the columns of v are starts[v], …, starts[v + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FoundBlocks:
    """An order and the graph chosen on it.

    Attributes
    ----------
    order : (d,) array of int
    widths : (d, d) array of int
        At [u, v] the number of columns of u in the equation of v; 0 if u is no parent.
    scores : (d,) array
        Local scores.
    score, start_score : float
        Totals; never below that of the start.
    restarts : int
    ended_early : bool
        Whether the search was asked to stop.
    joint : (d,) array of bool, optional
        Variables whose parents act jointly; by default the effects of all parents add up.
    """

    order: NDArray[np.int64]
    widths: NDArray[np.int64]
    scores: NDArray[np.float64]
    score: float
    start_score: float
    restarts: int = 0
    ended_early: bool = False
    joint: Bools | None = None

    @property
    def adjacency(self) -> Bools:
        """(d, d): at [u, v] whether u → v."""
        return self.widths > 0
