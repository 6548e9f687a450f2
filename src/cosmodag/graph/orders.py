"""Orders of variables that agree with what must come before what."""

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["respecting"]


def respecting(order: ArrayLike, before: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Nearest order to a given one in which u comes before v wherever ``before[u, v]``.

    Of the variables free to come next, the one that comes first in the given order does.

    Examples
    --------
    >>> before = np.zeros((3, 3), bool)
    >>> before[2, 0] = True
    >>> respecting([0, 1, 2], before).tolist()
    [1, 2, 0]
    """
    given = np.array(order, np.int64)
    if before is None:
        return given
    place = np.empty(len(given), np.int64)
    place[given] = np.arange(len(given))
    waiting = np.count_nonzero(before, axis=0)
    free = [int(place[v]) for v in np.flatnonzero(waiting == 0)]
    heapq.heapify(free)
    found = []
    while free:
        v = given[heapq.heappop(free)]
        found.append(v)
        for w in np.flatnonzero(before[v]):
            waiting[w] -= 1
            if waiting[w] == 0:
                heapq.heappush(free, int(place[w]))
    return np.array(found, np.int64)
