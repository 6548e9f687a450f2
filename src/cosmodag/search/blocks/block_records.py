"""Records of parents chosen among blocks, each with the condition under which it is valid.

The same as `cosmodag.search.kernel.grow_records`, in Python. Sets of variables are the bits of
integers.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.bits import as_bits
from cosmodag.search.blocks.block_columns import (
    CANDIDATE,
    LATER,
    NO_CANDIDATE,
    REQUIRED,
    choose_blocks,
    new_workspace,
)
from cosmodag.search.blocks.block_problem import BlockProblem, FoundBlocks
from cosmodag.search.column_problem import arc_rules
from cosmodag.search.gaussian_scores import growing_penalty, most_parents


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


class ParentRecords(ABC):
    """Base class of scores, which choose the parents of a variable and reuse earlier choices.

    A subclass implements `choose`. ``rules[v, u]`` is the role of u while the parents of v are
    chosen: `CANDIDATE`, `REQUIRED` or `NO_CANDIDATE`.
    """

    def __init__(self, problem: BlockProblem) -> None:
        self.problem, d = problem, problem.variables
        self.known: list[list[Record]] = [[] for _ in range(d)]
        rules = arc_rules(d, problem.support, problem.required, problem.before)
        self.rules = rules.astype(np.int64)

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


class Records(ParentRecords):
    """Parents chosen by the Gaussian score of `cosmodag.search.blocks.block_columns`."""

    def __init__(self, problem: BlockProblem) -> None:
        super().__init__(problem)
        moments, d = problem.moments, problem.variables
        self.layout = problem.layout
        self.workspace = new_workspace(self.layout)
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

    def score_with(self, v: int, parents: list[int]) -> tuple[float, NDArray[np.int64]]:
        """Score of v with the given parents, and the best number of columns of each of them."""
        roles = np.full(self.problem.variables, NO_CANDIDATE, np.int64)
        roles[parents] = REQUIRED
        score, found = self._choose_among(v, roles)
        return score, found[1]

    def choose(self, v: int, earlier: int) -> Record:
        """Grow and shrink the parents of v, whose predecessors are the bits of ``earlier``."""
        roles = self.rules[v].copy()
        for u in range(len(roles)):
            if roles[u] == CANDIDATE and not earlier >> u & 1:
                roles[u] = LATER
        score, (path, widths, later) = self._choose_among(v, roles)
        path_bits, later_bits = (as_bits(np.flatnonzero(one).tolist()) for one in (path, later))
        return Record(path_bits, later_bits, widths, score)

    def _choose_among(self, v: int, roles: NDArray[np.int64]) -> tuple[float, NDArray[np.int64]]:
        found = np.zeros((3, self.problem.variables), np.int64)
        score = choose_blocks(
            self.problem.moments.correlations[self.group[v]],
            self.layout,
            v,
            roles,
            self.settings[v],
            found,
            self.workspace,
        )
        return score, found
