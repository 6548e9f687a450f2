"""Records of parents chosen among blocks, each with the condition under which it is valid.

As `cosmodag.order.kernel.records`, in Python: sets of variables are integers, one bit for each.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.bits import as_bits
from cosmodag.order.blocks.columns import (
    CANDIDATE,
    LATER,
    NO_CANDIDATE,
    REQUIRED,
    choose_blocks,
    new_space,
)
from cosmodag.order.blocks.problem import BlockProblem, FoundBlocks
from cosmodag.order.scores import growing_penalty, most_parents


@dataclass(frozen=True)
class Record:
    """Columns of parents chosen once; they are chosen again wherever the condition holds.

    The condition, as bits: all of ``path`` comes before the variable, none of ``later`` does.
    """

    path: int
    later: int
    widths: NDArray[np.int64]
    score: float


class ParentRecords(ABC):
    """Chosen parents of every variable by some score, with the conditions under which they hold.

    A score defines how the parents of one variable are chosen (`choose`). At ``rules[v, u]`` is
    whether u may, must or must not be a parent of v.
    """

    def __init__(self, problem: BlockProblem) -> None:
        self.problem, d = problem, problem.variables
        self.known: list[list[Record]] = [[] for _ in range(d)]
        self.rules = np.full((d, d), CANDIDATE, np.int64)
        if problem.support is not None:
            self.rules[~np.asarray(problem.support, np.bool_).T] = NO_CANDIDATE
        if problem.before is not None:
            self.rules[np.asarray(problem.before, np.bool_)] = NO_CANDIDATE
        if problem.required is not None:
            self.rules[np.asarray(problem.required, np.bool_).T] = REQUIRED
        np.fill_diagonal(self.rules, NO_CANDIDATE)

    @abstractmethod
    def choose(self, v: int, earlier: int) -> Record:
        """Choose the parents of a variable after those whose bits are set."""

    def record(self, v: int, earlier: int) -> Record:
        """Give the record of a variable after those whose bits are set."""
        known = self.known[v]
        for place, record in enumerate(known):
            if not record.path & ~earlier and not record.later & earlier:
                if place:  # the next question is most often answered by the same record
                    known.insert(0, known.pop(place))
                return record
        known.insert(0, self.choose(v, earlier))
        return known[0]

    def total(self, order: list[int]) -> float:
        """Sum of the local scores."""
        earlier, total = 0, 0.0
        for v in order:
            total += self.record(v, earlier).score
            earlier |= 1 << v
        return total

    def found(self, order: list[int]) -> FoundBlocks:
        """Graph on an order."""
        d, earlier = len(order), 0
        widths, scores = np.zeros((d, d), np.int64), np.zeros(d)
        for v in order:
            record = self.record(v, earlier)
            widths[:, v] = record.widths
            scores[v] = record.score
            earlier |= 1 << v
        total = float(scores.sum())
        return FoundBlocks(np.array(order, np.int64), widths, scores, total, total)


class Records(ParentRecords):
    """Parents chosen by the score of blocks of columns (`cosmodag.order.blocks.columns`)."""

    def __init__(self, problem: BlockProblem) -> None:
        super().__init__(problem)
        moments, d = problem.moments, problem.variables
        self.layout = problem.layout
        self.space = new_space(self.layout)
        self.group = moments.group[self.layout[0, :-1]]
        per_arc = problem.penalty + problem.arc_penalty
        growing = growing_penalty(per_arc, d) / per_arc if per_arc else 1.0
        prices = np.array([problem.penalty, problem.arc_penalty])
        rows = moments.rows[self.group]
        self.settings = np.column_stack(
            [
                0.5 * rows,
                np.tile(np.append(growing * prices, prices), (d, 1)),
                most_parents(rows),
            ]
        )

    def given(self, v: int, parents: list[int]) -> tuple[float, NDArray[np.int64]]:
        """Score of a variable with certain parents, and the columns of them that raise it most."""
        roles = np.full(self.problem.variables, NO_CANDIDATE, np.int64)
        roles[parents] = REQUIRED
        score, found = self._chosen(v, roles)
        return score, found[1]

    def choose(self, v: int, earlier: int) -> Record:
        """Grow and shrink the parents of a variable after those whose bits are set."""
        roles = self.rules[v].copy()
        for u in range(len(roles)):
            if roles[u] == CANDIDATE and not earlier >> u & 1:
                roles[u] = LATER
        score, (path, widths, later) = self._chosen(v, roles)
        before, behind = (as_bits(np.flatnonzero(part).tolist()) for part in (path, later))
        return Record(before, behind, widths, score)

    def _chosen(self, v: int, roles: NDArray[np.int64]) -> tuple[float, NDArray[np.int64]]:
        found = np.zeros((3, self.problem.variables), np.int64)
        score = choose_blocks(
            self.problem.moments.correlations[self.group[v]],
            self.layout,
            v,
            roles,
            self.settings[v],
            found,
            self.space,
        )
        return score, found
