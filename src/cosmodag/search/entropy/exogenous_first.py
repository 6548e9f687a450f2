"""An order for a linear non-Gaussian model, the most exogenous variable first.

If one of two variables causes the other, the residual of a regression is independent of the
regressor only in the causal direction, where the sum of the two entropies is smaller. Each pair
gives evidence against one of its variables. The variable with the least evidence against it comes
first, its effect is subtracted from the others, and so on. This is the order of DirectLiNGAM
(Shimizu et al. 2011), from the same comparisons, but not all of them are computed: evidence against
a variable only grows, so that only the variable with the least evidence so far is compared further,
first with the variable that gave the most evidence against it in earlier steps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import respecting
from cosmodag.runtime.compiled import compiled, part
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.entropy.measure import entropy_parts
from cosmodag.search.kernel.grow_and_shrink import wide
from cosmodag.search.search_run import never

_AT_ONCE = 10_000  # comparisons between two calls of should_stop: some tenths of a second
_NEARLY_EQUAL = 1e-10  # 1 − ρ² below which two variables differ by rounding errors only


def exogenous_first_order(
    columns: NDArray[np.float64],
    constraints: Constraints = NO_CONSTRAINTS,
    should_stop: Callable[[], bool] = never,
) -> NDArray[np.int64]:
    """Order variables by repeatedly choosing the one with the least evidence of having a cause.

    `columns` (d, n) are the variables, each with mean 0 and variance 1, or constant 0. Once
    `should_stop` returns True, the remaining variables follow in an allowed order.

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(3, 500)) - 1
    >>> noise[1] += noise[2]
    >>> noise[0] += noise[1]
    >>> columns = noise / noise.std(axis=1, keepdims=True)
    >>> exogenous_first_order(columns).tolist()
    [2, 1, 0]
    """
    residuals = np.ascontiguousarray(columns, dtype=np.float64).copy()
    variables, rows = residuals.shape
    before = constraints.precedence
    before = np.zeros((variables, variables), np.bool_) if before is None else before
    remaining = np.ones(variables, bool)
    last_seen = np.zeros((variables, variables))
    ones, difference = np.ones(rows), np.empty(rows)
    order = np.empty(variables, np.int64)
    for place in range(variables):
        found = -1
        negentropy, evidence = np.zeros(variables), np.full(variables, np.inf)
        for i in np.flatnonzero(remaining):
            negentropy[i] = entropy_parts(residuals[i], ones)[1]
        evidence[remaining & ~before[remaining].any(axis=0)] = 0.0
        compared = before | before.T | np.eye(variables, dtype=bool) | ~remaining
        while found < 0:
            if should_stop():
                order[place:] = respecting(np.flatnonzero(remaining), before)
                return order
            found = _most_exogenous(
                residuals, last_seen, negentropy, evidence, compared, ones, difference, _AT_ONCE
            )
        order[place] = found
        remaining[found] = False
        _take_out(residuals, found, remaining)
    return order


def _take_out(residuals: NDArray[np.float64], cause: int, remaining: NDArray[np.bool_]) -> None:
    """Replace each remaining variable by its standardised residual given the cause."""
    rest = residuals[remaining]
    correlations = rest @ residuals[cause] / rest.shape[1]
    rest -= correlations[:, None] * residuals[cause]
    deviations = np.sqrt(np.einsum("ij,ij->i", rest, rest) / rest.shape[1])
    is_new = 1.0 - correlations**2 >= _NEARLY_EQUAL
    rest[~is_new] = 0.0
    residuals[remaining] = rest / np.where(is_new & (deviations > 0), deviations, 1.0)[:, None]


@compiled
def _most_exogenous(
    residuals: Any,
    last_seen: Any,
    negentropy: Any,
    evidence: Any,
    compared: Any,
    ones: Any,
    difference: Any,
    most: int,
) -> int:
    """Find the remaining variable with the least evidence against it in all comparisons.

    Returns −1 after ``most`` comparisons; the next call continues from there.
    """
    variables = len(evidence)
    for _ in range(most):
        least = wide(0)
        for j in range(variables):
            if evidence[j] < evidence[least]:
                least = j
        rival = least
        for j in range(variables):
            if not compared[least, j] and (
                rival == least or last_seen[least, j] < last_seen[least, rival]
            ):
                rival = j
        if rival == least:
            return least
        speaks_for = _direction(residuals, negentropy, least, rival, ones, difference)
        last_seen[least, rival] = speaks_for
        last_seen[rival, least] = -speaks_for
        compared[least, rival] = compared[rival, least] = True
        evidence[least] += min(0.0, speaks_for) ** 2
        evidence[rival] += min(0.0, -speaks_for) ** 2
    return -1


@part
def _direction(
    residuals: Any, negentropy: Any, i: int, j: int, ones: Any, difference: Any
) -> float:
    """Compute the entropy of j → i minus that of i → j: positive if i looks like the cause.

    Both residuals have variance 1 − ρ², so that only the negentropies differ.
    """
    correlation = 0.0
    for row in range(difference.size):
        correlation += residuals[i, row] * residuals[j, row]
    correlation /= difference.size
    if 1.0 - correlation**2 < _NEARLY_EQUAL:
        return 0.0
    for row in range(difference.size):
        difference[row] = residuals[j, row] - correlation * residuals[i, row]
    forward = negentropy[i] + entropy_parts(difference, ones)[1]
    for row in range(difference.size):
        difference[row] = residuals[i, row] - correlation * residuals[j, row]
    return float(forward - negentropy[j] - entropy_parts(difference, ones)[1])
