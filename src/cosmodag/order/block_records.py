"""Records of parents chosen among blocks, each with the condition under which it is valid.

As `cosmodag.order.records`, in Python: sets of variables are integers, one bit for each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.block_columns import CANDIDATE, LATER, NO_CANDIDATE, REQUIRED, choose_blocks
from cosmodag.order.block_problem import BlockProblem, FoundBlocks
from cosmodag.refinement.scores import growing_penalty

__all__ = ["Records"]


@dataclass(frozen=True)
class _Record:
    """Parents chosen once, as bits; they are chosen again wherever the condition holds.

    The condition: all of ``path`` comes before the variable, none of ``later`` does.
    """

    path: int
    later: int
    parents: int
    score: float


class Records:
    """Chosen parents of every variable, with the conditions under which they hold."""

    def __init__(self, problem: BlockProblem) -> None:
        self.problem = problem
        moments, d = problem.moments, problem.variables
        self.starts = problem.starts
        first = self.starts[:-1]
        self.group = moments.group[first]
        self.rules = np.full((d, d), CANDIDATE, np.int64)
        if problem.support is not None:
            self.rules[~np.asarray(problem.support, np.bool_).T] = NO_CANDIDATE
        if problem.before is not None:
            self.rules[np.asarray(problem.before, np.bool_)] = NO_CANDIDATE
        if problem.required is not None:
            self.rules[np.asarray(problem.required, np.bool_).T] = REQUIRED
        growing = growing_penalty(problem.penalty, d)
        rows = moments.rows[self.group]
        self.settings = np.stack(
            [0.5 * rows, np.full(d, growing), np.full(d, problem.penalty), np.maximum(rows - 2, 0)],
            axis=1,
        )
        self.known: list[list[_Record]] = [[] for _ in range(d)]

    def at(self, v: int, earlier: int) -> _Record:
        """Give the record of a variable after those whose bits are set."""
        for record in self.known[v]:
            if not record.path & ~earlier and not record.later & earlier:
                return record
        record = self._made(v, earlier)
        self.known[v].insert(0, record)
        return record

    def _made(self, v: int, earlier: int) -> _Record:
        d = self.problem.variables
        roles = self.rules[v].copy()
        for u in range(d):
            if roles[u] == CANDIDATE and not earlier >> u & 1:
                roles[u] = LATER
        roles[v] = NO_CANDIDATE
        found = np.zeros((3, d), np.int64)
        k, score = choose_blocks(
            self.problem.moments.correlations[self.group[v]],
            self.starts,
            self.problem.targets,
            v,
            roles,
            self.settings[v],
            found,
        )
        path = found[0, :k]
        return _Record(
            _bits(path), _bits(np.flatnonzero(found[2])), _bits(path[found[1, :k] > 0]), score
        )

    def scores(self, order: list[int]) -> list[float]:
        """Local scores, in the order."""
        earlier, scores = 0, []
        for v in order:
            scores.append(self.at(v, earlier).score)
            earlier |= 1 << v
        return scores

    def total(self, order: list[int]) -> float:
        """Sum of the local scores."""
        return float(sum(self.scores(order)))

    def found(self, order: list[int]) -> FoundBlocks:
        """Graph on an order."""
        d, earlier = len(order), 0
        adjacency, scores = np.zeros((d, d), np.bool_), np.zeros(d)
        for v in order:
            record = self.at(v, earlier)
            adjacency[:, v] = [record.parents >> u & 1 for u in range(d)]
            scores[v] = record.score
            earlier |= 1 << v
        total = float(scores.sum())
        return FoundBlocks(np.array(order, np.int64), adjacency, scores, total, total)


def _bits(places: NDArray[np.int64]) -> int:
    return sum(1 << int(place) for place in places)
