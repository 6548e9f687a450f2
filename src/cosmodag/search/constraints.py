"""What is known of a graph before a search: arcs that may or must exist, and orders of pairs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.errors import DataError
from cosmodag.graph.dags import respecting

Bools = NDArray[np.bool_]
Order = NDArray[np.int64]

# Roles of u among the parents of v, at [v, u] of `Constraints.rules`.
FORBIDDEN, ALLOWED, REQUIRED_ARC = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Constraints:
    """Arcs that may exist, arcs that must exist, and pairs whose order is fixed; by default none.

    Attributes
    ----------
    support, required : (d, d) arrays of bool, optional
        At [u, v], whether u → v may exist, and whether it must.
    before : (d, d) array of bool, optional
        Whether u must come before v, at [u, v].

    Examples
    --------
    >>> first, second = np.zeros((2, 3, 3), bool)
    >>> first[0, 1] = second[1, 2] = True
    >>> Constraints(required=first, before=second).precedence.astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """

    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None

    def __post_init__(self) -> None:
        for name in ("support", "required", "before"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, np.asarray(given, np.bool_))

    def of_size(self, d: int) -> "Constraints":
        """Return the constraints; refuse them if a mask is not (d, d)."""
        for name in ("support", "required", "before"):
            given = getattr(self, name)
            if given is not None and given.shape != (d, d):
                raise DataError(f"`{name}` must have shape ({d}, {d}); its shape is {given.shape}.")
        return self

    @property
    def are_none(self) -> bool:
        """Whether nothing is known."""
        return self.support is None and self.required is None and self.before is None

    @cached_property
    def precedence(self) -> Bools | None:
        """(d, d): whether u must come before v, transitively closed; None for no constraint."""
        parts = [part for part in (self.before, self.required) if part is not None]
        if not parts:
            return None
        closed = closure(np.logical_or.reduce(parts))
        if closed.diagonal().any():
            raise DataError("The required arcs and precedences of variables contain a cycle.")
        return closed

    def rules(self, d: int) -> NDArray[np.uint8]:
        """(d, d): at [v, u] 0 if u → v is forbidden, 2 if it is required, else 1."""
        rules = np.full((d, d), ALLOWED, np.uint8)
        if self.support is not None:
            rules[~self.support.T] = FORBIDDEN
        if self.precedence is not None:
            rules[self.precedence] = FORBIDDEN
        if self.required is not None:
            rules[self.required.T] = REQUIRED_ARC
        np.fill_diagonal(rules, FORBIDDEN)
        return rules

    def respected(self, order: ArrayLike) -> Order:
        """Return the order closest to the given one in which every fixed pair is in order."""
        return respecting(order, self.precedence)

    def checked(self, order: ArrayLike, d: int) -> Order:
        """Return an order of d variables as an array; refuse it if it breaks a constraint."""
        checked = checked_order(order, d)
        if not agrees(checked, self.precedence):
            raise DataError("The order contradicts a required arc or another required precedence.")
        return checked


NO_CONSTRAINTS = Constraints()


def checked_order(order: ArrayLike, d: int) -> Order:
    """Return an order as an array; refuse it if it is no permutation of d variables."""
    checked = np.array(order, np.int64)
    if checked.shape != (d,) or not np.array_equal(np.sort(checked), np.arange(d)):
        raise DataError(f"An order lists each of 0 … {d - 1} once; this one does not.")
    return checked


def agrees(order: Order, before: Bools | None) -> bool:
    """Whether u comes before v in an order wherever a relation has [u, v]."""
    if before is None:
        return True
    position = np.argsort(order)
    tails, heads = np.nonzero(before)
    return bool(np.all(position[tails] < position[heads]))
