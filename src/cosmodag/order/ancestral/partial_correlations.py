"""Whether two variables depend on each other given others: tests by partial correlations."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# Sets that are tested at once: bounds the memory of their matrices.
_AT_ONCE = 4096
_MOST_SHARED = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class PartialCorrelations:
    """Evidence against independence of two variables given others, in a normal distribution.

    Attributes
    ----------
    correlations : (d, d) array
    rows : float
        Number of rows, or what they are worth where values are missing.
    limit : float
        Log-likelihood that an edge must be worth. Below it variables count as independent.

    Examples
    --------
    >>> chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> tests = PartialCorrelations(chain, 1000, limit=3.3)
    >>> tests.find_separator(0, 2, [()]), tests.find_separator(0, 2, [(1,)])
    (None, (1,))
    """

    correlations: NDArray[np.float64]
    rows: float
    limit: float
    _known: dict[tuple[int, int, frozenset[int]], float] = field(default_factory=dict, repr=False)

    def gain(self, u: int, v: int, given: Iterable[int]) -> float:
        """Log-likelihood that u adds to the prediction of v from others: −(n/2) log(1 − r²)."""
        key = (min(u, v), max(u, v), frozenset(given))
        if key not in self._known:
            self._known[key] = self._gain(*key)
        return self._known[key]

    def _gain(self, u: int, v: int, given: frozenset[int]) -> float:
        columns = [u, v, *sorted(given)]
        try:
            inverse = np.linalg.inv(self.correlations[columns][:, columns])
        except np.linalg.LinAlgError:
            return float(self.gains(u, v, [tuple(columns[2:])])[0])
        square = inverse[0, 1] ** 2 / (inverse[0, 0] * inverse[1, 1])
        worth = max(self.rows - len(given) - 3, 1.0)
        return -0.5 * worth * math.log1p(-min(max(square, 0.0), _MOST_SHARED))

    def gains(self, u: int, v: int, sets: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        """Gains given each of some sets, all of one size."""
        size = len(sets[0])
        columns = np.empty((len(sets), size + 2), np.intp)
        columns[:, 0], columns[:, 1] = u, v
        columns[:, 2:] = np.asarray(sets, np.intp).reshape(len(sets), size)
        products = self.correlations[columns[:, :, None], columns[:, None, :]]
        left = products[:, :2, :2]
        if size:
            inner, across = products[:, 2:, 2:], products[:, 2:, :2]
            left = left - across.transpose(0, 2, 1) @ _solved(inner, across)
        scale = np.maximum(left[:, 0, 0] * left[:, 1, 1], np.finfo(np.float64).tiny)
        squares = np.minimum(left[:, 0, 1] ** 2 / scale, _MOST_SHARED)
        worth = max(self.rows - size - 3, 1.0)
        return np.asarray(-0.5 * worth * np.log1p(-squares))

    def find_separator(
        self, u: int, v: int, sets: Sequence[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Of sets of one size, the one given which u and v depend least; None if they depend."""
        best, least = None, math.inf
        for first in range(0, len(sets), _AT_ONCE):
            part = sets[first : first + _AT_ONCE]
            gains = self.gains(u, v, part)
            place = int(gains.argmin())
            if gains[place] < least:
                best, least = part[place], float(gains[place])
        return best if least < self.limit else None


def _solved(inner: NDArray[np.float64], across: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return np.asarray(np.linalg.solve(inner, across), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(inner, hermitian=True) @ across, np.float64)
