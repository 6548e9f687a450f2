"""Scores of categories whose parents act jointly: a distribution for each combination of levels.

Equations with additive effects cannot represent interactions. A table of counts can, but it has
parameters for each combination of levels, so that the number of rows limits the number of parents.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from cosmodag.search.bits import members
from cosmodag.search.blocks import BlockProblem
from cosmodag.search.local_scores import FoundBlocks, SetScore
from cosmodag.search.mixed.table import BlockTable


def states_of(levels: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Encode the combination of levels in each row as a number; the last column changes fastest.

    `counts` are the numbers of levels of the columns.

    Examples
    --------
    >>> states_of(np.array([[0, 0], [0, 2], [1, 0]]), np.array([2, 3])).tolist()
    [0, 2, 3]
    """
    states = np.zeros(len(levels), np.int64)
    for column, count in zip(levels.T, counts, strict=True):
        states = states * int(count) + column
    return states


def shares_of(
    states: NDArray[np.integer], levels: NDArray[np.integer], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Estimate probabilities of levels by counts plus one half: (combinations, levels).

    Examples
    --------
    >>> shares_of(np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0]), (3, 2)).tolist()
    [[0.125, 0.875], [0.75, 0.25], [0.5, 0.5]]
    """
    cells = np.bincount(states * shape[1] + levels, minlength=math.prod(shape))
    counts = cells.reshape(shape) + 0.5
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


class JointScore(SetScore):
    r"""Parents of categories, chosen by a score in which they act jointly.

    The score of a variable with r levels, whose parents have q combinations of levels, is the
    quotient normalised maximum likelihood (Silander, Leppä-aho, Jääsaari and Roos 2018)

    .. math:: \sum_{jk} n_{jk} \log \frac{n_{jk}}{n_j} - \log C(n, q r) + \log C(n, q),

    with counts :math:`n_{jk}` and the normaliser C(n, K) of a distribution of K values. It has no
    tuning parameter, and is the same for all graphs of an equivalence class. The ``arc_penalty`` of
    the problem is subtracted for each arc. A variable whose required parents alone have more cells
    than there are rows keeps only these, with effects that add up and a score of 0.
    """

    def __init__(self, table: BlockTable, problem: BlockProblem) -> None:
        super().__init__(problem.variables, problem.constraints)
        self.arc_penalty = problem.arc_penalty
        embedding, d = table.embedding, problem.variables
        columns = [embedding.levels_of(table.X[:, v], v) for v in range(d)]
        self.levels = np.column_stack(columns)
        self.counts = embedding.widths + 1
        self.rows = [np.arange(len(table.X))[table.rows_of(v)] for v in range(d)]
        self.share = table.share
        self.normalisers = _Normalisers()
        self.has_room = np.array(
            [self._fits(v, members(bits)) for v, bits in enumerate(self.required)]
        )

    def of(self, v: int, parents: list[int]) -> float:
        """Score of v with the given parents, relative to no parents."""
        if not self.has_room[v] or not parents:
            return 0.0
        own = self._likelihood(v, parents)
        score = own - self.arc_penalty * len(parents)
        return score - self._likelihood(v, []) if math.isfinite(own) else score

    def _likelihood(self, v: int, parents: list[int]) -> float:
        """Log of the normalised maximum likelihood of v; −∞ for more cells than rows."""
        if not self._fits(v, parents):
            return -math.inf
        rows, counts = self.rows[v], self.counts[parents]
        q, r, n = math.prod(counts.tolist()), int(self.counts[v]), len(rows)
        states = states_of(self.levels[np.ix_(rows, parents)], counts)
        cells = np.bincount(states * r + self.levels[rows, v], minlength=q * r).reshape(q, r)
        likelihood = self.share * (_sum_n_log_n(cells) - _sum_n_log_n(cells.sum(axis=1)))
        of = self.normalisers
        used = max(round(self.share * n), 1)
        return likelihood - of.log(used, q * r) + of.log(used, q)

    def _fits(self, v: int, parents: list[int]) -> bool:
        """Whether the table of counts of v has no more cells than rows, or v no parents."""
        cells = math.prod(self.counts[[v, *parents]].tolist())
        return not parents or cells <= len(self.rows[v])

    def found(self, order: list[int]) -> FoundBlocks:
        """Return the graph chosen on an order; one parent alone counts as additive."""
        found = super().found(order)
        found = replace(found, widths=found.widths * (self.counts - 1)[:, None])
        is_joint = (np.count_nonzero(found.widths, axis=0) > 1) & self.has_room
        return replace(found, joint=is_joint)


class _Normalisers:
    """Normalisers C(n, K) of the maximum likelihood of a distribution of K values, cached by n."""

    def __init__(self) -> None:
        self.known: dict[int, list[float]] = {}

    def log(self, n: int, values: int) -> float:
        """Logarithm of C(n, K), by the recurrence C(n, K + 2) = C(n, K + 1) + (n / K) C(n, K)."""
        if n not in self.known:
            hits = np.arange(n + 1, dtype=np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = [np.where(k > 0, k * np.log(k / n), 0.0) for k in (hits, n - hits)]
            ways = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
            self.known[n] = [-math.inf, 0.0, float(logsumexp(ways + shares[0] + shares[1]))]
        logs = self.known[n]
        while len(logs) <= values:
            k = len(logs) - 2
            logs.append(float(np.logaddexp(logs[-1], math.log(n / k) + logs[-2])))
        return logs[values]


def _sum_n_log_n(counts: NDArray[np.integer]) -> float:
    positive = counts[counts > 0].astype(np.float64)
    return float(positive @ np.log(positive))
