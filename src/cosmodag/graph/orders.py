"""Orders of variables that satisfy given precedences."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.graph.dags import topological_order

__all__ = ["respecting"]


def respecting(order: ArrayLike, before: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Nearest order to a given one in which u comes before v wherever ``before[u, v]``.

    Of the variables that may come next, the first in the given order is taken.

    Examples
    --------
    >>> before = np.zeros((3, 3), bool)
    >>> before[2, 0] = True
    >>> respecting([0, 1, 2], before).tolist()
    [1, 2, 0]
    """
    given = np.array(order, np.int64)
    return given if before is None else given[topological_order(before[np.ix_(given, given)])]
