"""Tests of conditional independence by partial correlations."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# Maximum number of sets tested at once, which bounds the memory of their matrices.
_AT_ONCE = 4096
_LARGEST_SQUARE = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class PartialCorrelations:
    """Evidence against conditional independence in a multivariate normal distribution.

    Examples
    --------
    >>> chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> tests = PartialCorrelations(chain, 1000, limit=3.3)
    >>> tests.find_separator(0, 2, [()]), tests.find_separator(0, 2, [(1,)])
    (None, (1,))
    """

    correlations: NDArray[np.float64]  # (d, d)
    rows: float  # effective number of rows
    # Variables count as independent if an edge gains less log-likelihood than this.
    limit: float
    _known: dict[tuple[int, int, frozenset[int]], float] = field(default_factory=dict, repr=False)

    def gain(self, u: int, v: int, given: Iterable[int]) -> float:
        """Log-likelihood that an edge between u and v gains: −(n/2) log(1 − r²).

        r is the partial correlation given the variables `given`, and n is reduced by their number.
        """
        key = (min(u, v), max(u, v), frozenset(given))
        if key not in self._known:
            self._known[key] = float(self.gains(*key[:2], [tuple(sorted(key[2]))])[0])
        return self._known[key]

    def gains(self, u: int, v: int, sets: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        """Compute the gain given each of several sets of the same size."""
        size = len(sets[0])
        columns = np.empty((len(sets), size + 2), np.intp)
        columns[:, 0], columns[:, 1] = u, v
        columns[:, 2:] = np.asarray(sets, np.intp).reshape(len(sets), size)
        products = self.correlations[columns[:, :, None], columns[:, None, :]]
        residual = products[:, :2, :2]
        if size:
            inner, across = products[:, 2:, 2:], products[:, 2:, :2]
            residual = residual - across.transpose(0, 2, 1) @ solution(inner, across)
        scale = np.maximum(residual[:, 0, 0] * residual[:, 1, 1], np.finfo(np.float64).tiny)
        squares = np.minimum(residual[:, 0, 1] ** 2 / scale, _LARGEST_SQUARE)
        n = max(self.rows - size - 3, 1.0)
        return np.asarray(-0.5 * n * np.log1p(-squares))

    def find_separator(
        self, u: int, v: int, sets: Sequence[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Find the set given which u and v depend least; None if they depend given all sets.

        All sets must have the same size.
        """
        best, least = None, math.inf
        for first in range(0, len(sets), _AT_ONCE):
            part = sets[first : first + _AT_ONCE]
            gains = self.gains(u, v, part)
            place = int(gains.argmin())
            if gains[place] < least:
                best, least = part[place], float(gains[place])
        return best if least < self.limit else None


def solution(matrices: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve linear equations with symmetric matrices, which may be singular."""
    try:
        return np.asarray(np.linalg.solve(matrices, right), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrices, hermitian=True) @ right, np.float64)
