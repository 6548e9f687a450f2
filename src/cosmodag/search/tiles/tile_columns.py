"""Standardised columns, for tables with too many columns to store their correlations."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.errors import DataError
from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.moments import Moments, standardised_table

# Columns standardised at a time: few enough for the cache, enough to outweigh the cost of a call.
_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class Columns(Moments):
    """Moments whose correlations are computed from the columns when they are needed.

    Memory is O(n d) instead of O(d²): correlations of 100,000 variables take 80 GB.
    """

    # (d, n): values of each variable, centred and scaled to length one; zeros if it is constant.
    standard: NDArray[np.float64] = field(kw_only=True)

    @staticmethod
    def of(X: ArrayLike, counted: ArrayLike | None = None) -> "Columns":
        """Standardise a table without row weights.

        Examples
        --------
        >>> columns = Columns.of([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [4.0, 8.0, 5.0]])
        >>> (columns.standard @ columns.standard.T).round(12).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
        """
        table = np.asarray(X)
        if table.ndim != 2 or not len(table):
            raise DataError(f"A table has rows and columns, but this one has shape {table.shape}.")
        if counted is not None:
            raise DataError("Columns are standardised over all rows, without row weights.")
        n, d = table.shape
        standard, means, scales = np.empty((d, n)), np.empty((1, d)), np.empty((1, d))

        def standardise(first: int) -> None:
            part = slice(first, first + _TOGETHER)
            columns, _, means[0, part], scales[0, part] = standardised_table(
                np.ascontiguousarray(table[:, part], np.float64), None
            )
            standard[part] = columns.T

        with mapper(available_threads()) as run:
            run(standardise, range(0, d, _TOGETHER))
        return Columns(
            np.empty((1, 0, 0)),
            np.zeros(d, np.int64),
            np.array([float(n)]),
            means,
            scales,
            standard=standard,
        )
