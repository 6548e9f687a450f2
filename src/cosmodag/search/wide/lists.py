"""Candidates of each variable among thousands: the columns its path may take in similar orders."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.search.column_problem import FIRST_ROOM, OrderProblem
from cosmodag.search.local import Pool, Stopped
from cosmodag.search.wide.scan import scan

# Columns listed at each step of a path on each side, before and after the variable.
TOP = 16
# Maximum length of a list that one scan fills.
MOST = 1024
# Variables scanned in one task.
TOGETHER = 64
# Number of parts in which the lists are extended by the neighbours of neighbours.
PARTS = 32


class Lists:
    """Lists of candidates, which only grow.

    The list of v holds the columns with the largest gains at each step of its path, and the
    neighbours of its neighbours. Two variables are neighbours if, at some step of the path of one,
    the other has the largest gain of all columns on its side of the order, before or after. On one
    table (ER4, d = 2,000, standardised), searches on two kinds of lists of 500 ended at .063 and
    .066 wrong arcs per variable, searches among all columns at .065, and searches on lists of that
    length without the neighbours of neighbours at 1.1.

    `problem` has all columns. Once the pool says so, `Stopped` is raised.
    """

    def __init__(self, problem: OrderProblem, pool: Pool) -> None:
        self.problem, self.pool = problem, pool
        d = problem.variables
        self.listed = sparse.csr_array((d, d), dtype=np.bool_)

    def extended(self, order: NDArray[np.int64]) -> OrderProblem:
        """Add the candidates on an order; return the problem restricted to the lists."""
        d = self.problem.variables
        key = np.empty(d)
        key[order] = np.arange(d)
        blocks = np.array_split(np.arange(d), max(1, d // TOGETHER))
        parts = self.pool.map(lambda some: self._scanned(key, some), blocks)
        heads, tails, first = (np.concatenate([part[i] for part in parts]) for i in range(3))
        near = _symmetric(heads[first], tails[first], d)
        self.listed += _symmetric(heads, tails, d)
        # In parts: all products together would take as much memory as all lists.
        rows = range(0, d, max(1, d // PARTS))
        grown = [_with_second_neighbours(self.listed, near, i, i + rows.step) for i in rows]
        self.listed = sparse.vstack(grown, format="csr")
        starts = self.listed.indptr.astype(np.int32) + np.int32(d + 1)
        return replace(
            self.problem, near=np.concatenate([starts, self.listed.indices.astype(np.int32)])
        )

    def _scanned(
        self, key: NDArray[np.float64], some: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Scan for candidates of some variables.

        Returns the variables and their candidates as heads and tails, and whether each candidate is
        the best column at a step of the path.
        """
        if self.pool.should_stop():
            raise Stopped
        d, done, room = len(key), 0, FIRST_ROOM
        lists = np.empty((2, len(some), min(d, MOST)), np.int32)
        counts = np.zeros(len(some), np.int64)
        while done < len(some):
            done += scan(
                self.problem.correlations,
                self.problem.settings,
                self.problem.rules,
                key,
                some[done:],
                lists[:, done:],
                counts[done:],
                np.empty((min(room, d) + 3, d)),
                np.empty((2, TOP)),
                np.empty((2, TOP), np.int64),
            )
            room *= 2
        filled = np.arange(lists.shape[2]) < counts[:, None]
        heads = np.repeat(some.astype(np.int32), counts)
        return heads, lists[0][filled], lists[1][filled] == 1


def _with_second_neighbours(listed: Any, near: Any, first: int, last: int) -> Any:
    """Add the neighbours of neighbours to rows first … last − 1 of the lists."""
    grown = listed[first:last] + near[first:last] @ near
    grown.setdiag(False, k=first)
    grown.eliminate_zeros()
    grown.sort_indices()
    return grown


def _symmetric(heads: NDArray[np.int32], tails: NDArray[np.int32], d: int) -> Any:
    ones = np.ones(2 * len(heads), np.bool_)
    pairs = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    return sparse.csr_array((ones, pairs), shape=(d, d))
