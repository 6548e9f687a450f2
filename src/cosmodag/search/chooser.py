"""Greedy choice of the parents of one variable: make the best change while it gains enough.

The score of a variable starts from a set of parents and has two operations: add a parent, and drop
a parent. It proposes the best change with its gain, and applies it; `grow_and_shrink` decides when
to stop. Searches that try thousands of orders have compiled versions of the same two loops: over
single columns in `cosmodag.search.kernel.grow_and_shrink`, over blocks of columns in
`cosmodag.search.blocks.block_columns`.
"""

import math
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Protocol, TypeVar

from cosmodag.search.search_run import never

Changed = TypeVar("Changed")

Change = tuple[float, int]
"""Gain of a change, and the parent that it adds or drops."""
NO_CHANGE: Change = (-math.inf, -1)


class LocalScore(Protocol):
    """Score of one variable, for a set of parents that changes.

    Gains may be estimates: `add` or `drop` may reject the proposed change. The score then proposes
    another one, or `NO_CHANGE`.
    """

    def best_addition(self) -> Change:
        """Find the candidate that gains most as a further parent."""

    def best_drop(self) -> Change:
        """Find the parent whose removal gains most."""

    def add(self, u: int) -> None:
        """Add a parent."""

    def drop(self, u: int) -> None:
        """Drop a parent."""


def grow_and_shrink(score: LocalScore, least_to_add: float, least_to_drop: float) -> None:
    """Add the best parent while it gains enough, then drop the worst one while that gains enough.

    Growing may require a smaller gain than a parent must have in the end: some parents gain little
    individually but much together. Shrinking drops the others.
    """
    change_best(score.best_addition, score.add, least_to_add)
    change_best(score.best_drop, score.drop, least_to_drop)


def change_best(
    best: Callable[[], tuple[float, Changed]],
    change: Callable[[Changed], None],
    least: float,
    should_stop: Callable[[], bool] = never,
) -> None:
    """Apply the best change of the current state while it gains at least a given amount.

    `should_stop` is called before every change.

    Examples
    --------
    >>> changes, applied = [(1.0, 7), (3.0, 8), (5.0, 9)], []
    >>> change_best(changes.pop, applied.append, least=2.0)
    >>> applied
    [9, 8]
    """
    while not should_stop():
        gain, changed = best()
        if not gain >= least:
            return
        change(changed)


def best_of(changes: Iterable[Change]) -> Change:
    """Return the change with the largest gain; the first one if several are equal."""
    return max(changes, key=itemgetter(0), default=NO_CHANGE)
