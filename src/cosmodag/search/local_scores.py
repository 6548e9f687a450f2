"""Scores of graphs that are computed in Python, and the parents that were chosen by them.

A score is a sum over variables. `Score` remembers the parents that it chose for a variable, each
time with the condition under which they are valid, as `cosmodag.search.kernel.grow_records` does
for single columns. `SetScore` is the base of a new score: it needs one function, the score of a
variable given a set of parents. Sets of variables are the bits of integers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.bits import as_bits, members
from cosmodag.search.chooser import Change, best_of, grow_and_shrink
from cosmodag.search.constraints import ALLOWED, NO_CONSTRAINTS, REQUIRED_ARC, Constraints

# Smaller gains of log-likelihood are treated as rounding error.
_LEAST_GAIN = 1e-9

MakeScore: TypeAlias = "Callable[[NDArray[np.float64], NDArray[np.bool_], Constraints], Score]"
LOCAL_SCORES: dict[str, MakeScore] = {}
"""Further scores of tables of numbers by name, which is then a value of the parameter `noise`.

A score is created from the centred table (n, d), the entries that count (n, d), and constraints;
the equation of v counts the rows in which v does (`examples/extend/laplace_score.py`).
"""


@dataclass(frozen=True)
class Record:
    """Parents of a variable, valid for every order that meets a condition.

    All variables of ``path`` must come before the variable, and none of ``later``; both are bits.
    ``widths`` has the number of columns of each parent.
    """

    path: int
    later: int
    widths: NDArray[np.int64]
    score: float


@dataclass(frozen=True, eq=False)
class FoundBlocks:
    """An order and the graph chosen on it.

    Attributes
    ----------
    order : (d,) array of int
        Causes first.
    widths : (d, d) array of int
        At [u, v] the number of columns of u in the equation of v; 0 if u is not a parent of v.
    scores : (d,) array
        Local scores.
    score, start_score : float
        Total scores of this graph and of the start; the first is never below the second.
    restarts : int
        Number of restarts made.
    ended_early : bool
        Whether ``run.should_stop`` ended the search.
    joint : (d,) array of bool, optional
        Whether the parents of a variable act jointly; by default their effects are additive.
    """

    order: NDArray[np.int64]
    widths: NDArray[np.int64]
    scores: NDArray[np.float64]
    score: float
    start_score: float
    restarts: int = 0
    ended_early: bool = False
    joint: NDArray[np.bool_] | None = None

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """(d, d): at [u, v] whether u → v."""
        return self.widths > 0


class Score(ABC):
    """Scores of d variables given their parents; earlier choices of parents are reused.

    ``rules[v, u]`` is the role of u among the parents of v, as in `Constraints.rules`.
    """

    def __init__(self, d: int, constraints: Constraints = NO_CONSTRAINTS) -> None:
        self.variables, self.constraints = d, constraints
        self.rules = constraints.rules(d).astype(np.int64)
        self.known: list[list[Record]] = [[] for _ in range(d)]

    @abstractmethod
    def choose(self, v: int, earlier: int) -> Record:
        """Choose the parents of v, whose predecessors are the bits of ``earlier``."""

    def record(self, v: int, earlier: int) -> Record:
        """Look up a valid record of v with the predecessors ``earlier``, or choose its parents."""
        known = self.known[v]
        for place, record in enumerate(known):
            if not record.path & ~earlier and not record.later & earlier:
                if place:  # move it to the front: it is likely to be valid again
                    known.insert(0, known.pop(place))
                return record
        known.insert(0, self.choose(v, earlier))
        return known[0]

    def total(self, order: list[int]) -> float:
        """Sum of the local scores on an order."""
        earlier, total = 0, 0.0
        for v in order:
            total += self.record(v, earlier).score
            earlier |= 1 << v
        return total

    def found(self, order: list[int]) -> FoundBlocks:
        """Return the graph chosen on an order."""
        d, earlier = len(order), 0
        widths, scores = np.zeros((d, d), np.int64), np.zeros(d)
        for v in order:
            record = self.record(v, earlier)
            widths[:, v] = record.widths
            scores[v] = record.score
            earlier |= 1 << v
        total = float(scores.sum())
        return FoundBlocks(np.array(order, np.int64), widths, scores, total, total)


class SetScore(Score):
    """Score of a variable given a set of parents, each set computed once.

    A subclass implements `of`. Parents are chosen by adding the best one while that gains, then
    dropping the worst one while that gains.

    Examples
    --------
    >>> class Count(SetScore):
    ...     def of(self, v, parents):
    ...         return 2.0 * ((v + 1) in parents) - 0.5 * len(parents)
    >>> Count(3).found([2, 1, 0]).adjacency.astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    """

    def __init__(self, d: int, constraints: Constraints = NO_CONSTRAINTS) -> None:
        super().__init__(d, constraints)
        self.candidates = [np.flatnonzero(row == ALLOWED).tolist() for row in self.rules]
        self.required = [
            as_bits(np.flatnonzero(row == REQUIRED_ARC).tolist()) for row in self.rules
        ]
        self._scored: list[dict[int, float]] = [{} for _ in range(d)]

    @abstractmethod
    def of(self, v: int, parents: list[int]) -> float:
        """Compute the score of v given its parents, with the penalty for them."""

    def score(self, v: int, parents: int) -> float:
        """Score of v with the given parents (bits)."""
        known = self._scored[v]
        if parents not in known:
            known[parents] = self.of(v, members(parents))
        return known[parents]

    def choose(self, v: int, earlier: int) -> Record:
        """Grow and shrink the parents of v, whose predecessors are the bits of ``earlier``."""
        found = _ChangingSet(self, v, earlier)
        grow_and_shrink(found, _LEAST_GAIN, 0.0)
        widths = np.zeros(self.variables, np.int64)
        widths[members(found.chosen)] = 1
        return Record(found.path, found.later, widths, self.score(v, found.chosen))


class _ChangingSet:
    """Parents of one variable while they are chosen.

    ``path`` has all variables that were added, ``later`` the later variables that a step of growing
    would have preferred.
    """

    def __init__(self, score: SetScore, v: int, earlier: int) -> None:
        self.score: Callable[[int], float] = lambda parents: score.score(v, parents)
        self.candidates = score.candidates[v]
        self.earlier, self.required = earlier, score.required[v]
        self.chosen, self.path, self.later = self.required, 0, 0

    def best_addition(self) -> Change:
        """Find the candidate that gains most among the predecessors."""
        free = [u for u in self.candidates if not self.chosen >> u & 1]
        gains = [(self._gain(self.chosen | 1 << u), u) for u in free]
        best = best_of(one for one in gains if self.earlier >> one[1] & 1)
        # Predecessors gain at most this, so that only later variables can exceed it.
        most = max(best[0], _LEAST_GAIN)
        self.later |= as_bits(u for gain, u in gains if gain > most)
        return best

    def best_drop(self) -> Change:
        """Find the parent, not a required one, whose removal gains most."""
        free = members(self.chosen & ~self.required)
        return best_of((self._gain(self.chosen & ~(1 << u)), u) for u in free)

    def _gain(self, parents: int) -> float:
        return self.score(parents) - self.score(self.chosen)

    def add(self, u: int) -> None:
        """Add a parent."""
        self.chosen |= 1 << u
        self.path |= 1 << u

    def drop(self, u: int) -> None:
        """Drop a parent."""
        self.chosen &= ~(1 << u)
