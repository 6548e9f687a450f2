"""Choice of the parents of one variable: the best change, again and again, while one gains.

A score of one variable starts with some parents and has two verbs: add a parent, drop a parent.
The score names the best change and what it gains, and makes it; `grow_and_shrink` decides when.
Searches that try thousands of orders have the same two loops compiled: over single columns in
`cosmodag.order.kernel.grow_and_shrink`, over blocks of them in `cosmodag.order.blocks.columns`.
"""

import math
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Protocol

Change = tuple[float, int]
"""What a change gains, and the parent that it adds or drops."""
NO_CHANGE: Change = (-math.inf, -1)


class LocalScore(Protocol):
    """Score of one variable, with a set of parents that changes.

    Gains may be estimates: a score may refuse a change in `add` or `drop`, and then offers another
    one, or `NO_CHANGE`.
    """

    def best_addition(self) -> Change:
        """Candidate that gains most as a further parent."""

    def best_drop(self) -> Change:
        """Parent without which the score is highest."""

    def add(self, u: int) -> None:
        """Add a parent."""

    def drop(self, u: int) -> None:
        """Leave out a parent."""


def grow_and_shrink(score: LocalScore, least_to_add: float, least_to_drop: float) -> None:
    """Add the best parent while one gains enough, then drop the worst while that gains enough.

    Growing may ask for less than a parent must be worth in the end: some gain little one by one but
    much together, and shrinking leaves out those that do not.
    """
    change_best(score.best_addition, score.add, least_to_add)
    change_best(score.best_drop, score.drop, least_to_drop)


def change_best(best: Callable[[], Change], change: Callable[[int], None], least: float) -> None:
    """Make the best change while it gains at least so much.

    Parameters
    ----------
    best : function
        The best change in the present state.
    change : function
        Makes it.
    least : float

    Examples
    --------
    >>> left, made = [(1.0, 7), (3.0, 8), (5.0, 9)], []
    >>> change_best(left.pop, made.append, least=2.0)
    >>> made
    [9, 8]
    """
    while True:
        gain, u = best()
        if not gain >= least:
            return
        change(u)


def best_of(changes: Iterable[Change]) -> Change:
    """Take the change that gains most; of equal ones the first."""
    return max(changes, key=itemgetter(0), default=NO_CHANGE)
