"""Pairs of categories that have an effect on a third only together."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.compiled import compiled

# Limits on the number of triples times rows, and on the number of rows that shows anything: 180
# variables are screened in about two seconds, and exclusive ors among more are not found.
_MOST_WORK, _FEWEST_ROWS = 10**9, 500
# Gain beyond the price of BIC, in units of log n, with which a cause is certainly found alone.
_MORE = 2.0


@compiled
def interaction_gains(
    codes: Any, weights: Any, levels: Any, logs: Any, cells: Any, last: int, pairs: Any, gains: Any
) -> None:
    """Log-likelihood ratios of the dependence of ``last`` on earlier variables.

    ``pairs`` (d, d) gets those of two variables at [last, u] and [u, last]; ``gains`` (d, d) those
    of the interaction of three at [u, v], u < v, positive only if two of them determine the third
    better than their pairs do. Those of earlier pairs must be known.
    """
    n, a = codes.shape[1], levels[last]
    total = 0
    for i in range(n):
        total += weights[i]
    for u in range(last):
        for v in range(last - 1, u - 1, -1):
            b = levels[u]
            c = 1 if u == v else levels[v]
            size = a * b * c
            gains[u, v] = -math.inf
            if 5 * size > total and u != v:
                continue
            if u == v:
                for i in range(n):
                    cells[codes[u, i] * a + codes[last, i]] += weights[i]
            else:
                for i in range(n):
                    cells[(codes[u, i] * c + codes[v, i]) * a + codes[last, i]] += weights[i]
            # What three variables gain over independence, minus what their pairs gain.
            found = 0.0
            for j in range(size):
                found += logs[cells[j]]
            for j in range(b):
                one = 0
                for k in range(c * a):
                    one += cells[j * c * a + k]
                found -= logs[one]
            for m in range(a):
                one = 0
                for j in range(b * c):
                    one += cells[j * a + m]
                found -= logs[one]
            if u == v:
                found += logs[total]
                pairs[last, u], pairs[u, last] = found, found
            else:
                for k in range(c):
                    one = 0
                    for j in range(b):
                        for m in range(a):
                            one += cells[(j * c + k) * a + m]
                    found -= logs[one]
                gains[u, v] = found + 2.0 * logs[total]
            for j in range(size):
                cells[j] = 0
    for u in range(last):
        for v in range(u + 1, last):
            gains[u, v] -= pairs[u, v] + pairs[u, last] + pairs[v, last]


def interacting(
    codes: NDArray[np.uint16],
    weights: NDArray[np.int32],
    levels: NDArray[np.int64],
    logs: NDArray[np.float64],
) -> NDArray[np.int64]:
    """List variables with two possible causes (m, 3) that show an effect only together.

    The interaction is one that BIC would keep among all triples, and neither cause has a clear
    effect: then adding one parent after another may find neither. An exclusive or of two balanced
    causes is an example.

    Examples
    --------
    >>> codes = np.random.default_rng(0).integers(0, 2, (4, 999)).astype(np.uint16)
    >>> codes[2] = codes[0] ^ codes[3]
    >>> counts = np.arange(1000.0)
    >>> logs = counts * np.log(np.maximum(counts, 1))
    >>> found = interacting(codes, np.ones(999, np.int32), np.full(4, 2), logs)
    >>> sorted([v, *sorted(pair)] for v, *pair in found.tolist())
    [[0, 2, 3], [2, 0, 3], [3, 0, 2]]
    """
    d, n = codes.shape
    step = max(1, math.ceil(d**3 / 6 * n / _MOST_WORK))
    codes, weights = np.ascontiguousarray(codes[:, ::step]), weights[::step]
    rows = int(weights.sum())
    if rows < _FEWEST_ROWS or d < 3:
        return np.zeros((0, 3), np.int64)
    room = max(rows, int(levels.max()) ** 2)
    cells, gains, pairs = np.zeros(room, np.int32), np.zeros((d, d)), np.zeros((d, d))
    least = 0.5 * math.log(max(rows, 2)) * np.outer(levels - 1, levels - 1)
    found = []
    for last in range(1, d):
        interaction_gains(codes, weights, levels, logs, cells, last, pairs, gains)
        u, v = np.triu_indices(last, 1)
        price = least[u, v] * (levels[last] - 1) + 2 * math.log(d)
        kept = gains[u, v] > price
        found += [(last, *pair) for pair in zip(u[kept].tolist(), v[kept].tolist(), strict=True)]
    # With prices per arc, causes are added one by one only if they gain more than by BIC.
    shows = pairs > least + _MORE * math.log(max(rows, 2))
    return np.array(
        [
            (child, first, second)
            for a, b, c in found
            for child, first, second in ((a, b, c), (b, a, c), (c, a, b))
            if not shows[child, first] and not shows[child, second]
        ],
        np.int64,
    ).reshape(-1, 3)
