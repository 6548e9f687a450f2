"""The Gaussian score of blocks of columns."""

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
from cosmodag.search.blocks.block_problem import BlockProblem
from cosmodag.search.gaussian_scores import growing_penalty, most_parents
from cosmodag.search.local_scores import Record, Score


class BlockScore(Score):
    """Parents chosen by the Gaussian score of `cosmodag.search.blocks.block_columns`."""

    def __init__(self, problem: BlockProblem) -> None:
        super().__init__(problem.variables, problem.constraints)
        self.problem, moments, d = problem, problem.moments, problem.variables
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
