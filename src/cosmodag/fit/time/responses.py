"""Effects over time: how variables change after one of them was raised once, with intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.time.paths import (
    PATHS,
    are_categories,
    continued,
    drawn_pasts,
    lagged_weights,
    window_of,
)
from cosmodag.fit.view.arcs import coefficient_covariance

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["response_errors", "responses"]

# Draws of the coefficients: the relative error of a standard deviation is then 4 %.
_DRAWS = 400
# Numbers that are held at once while they are drawn.
_AT_ONCE = 4_000_000


def responses(dag: "FittedDAG", horizon: int) -> NDArray[np.float64]:
    r"""Effect of raising each variable once, by one unit, on all variables, now and later.

    For linear equations :math:`x_t = B_0^\top x_t + \dots + B_k^\top x_{t-k} + e_t` they are

    .. math:: \Psi_0 = (I - B_0)^{-1}, \qquad \Psi_h = \sum_j \Psi_{h-j} B_j (I - B_0)^{-1},

    and for others the mean difference between 500 paths with and without the change, and the same
    noise. A variable of two values changes from the lower to the upper one. A category has no unit
    and no mean: its responses are NaN.

    Returns
    -------
    (horizon + 1, d, d) array
        At [h, u, v] the change of v, h times after u was raised.
    """
    if dag.is_linear:
        return _of_weights(_own_units(dag, lagged_weights(dag)), horizon)
    return _simulated(dag, horizon)


def _own_units(dag: "FittedDAG", weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (…, k + 1, d, d) of standardised columns, in the units of the table."""
    d, factors = window_of(dag).d, dag.preparation.factors
    return np.asarray(weights * (factors[:d] / factors.reshape(-1, d, 1)))


def _of_weights(weights: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """Responses (…, horizon + 1, d, d) of linear equations with weights (…, k + 1, d, d)."""
    lags, d = weights.shape[-3] - 1, weights.shape[-1]
    at_once = np.linalg.inv(np.eye(d) - weights[..., 0, :, :])
    found = np.zeros((*weights.shape[:-3], horizon + 1, d, d))
    found[..., 0, :, :] = at_once
    for h in range(1, horizon + 1):
        for lag in range(1, min(h, lags) + 1):
            found[..., h, :, :] += found[..., h - lag, :, :] @ weights[..., lag, :, :] @ at_once
    return found


def response_errors(
    dag: "FittedDAG", data: NDArray[Any], horizon: int, *, cumulative: bool = False
) -> NDArray[np.float64]:
    """Compute standard errors of linear responses, (horizon + 1, d, d), as if the graph were known.

    The coefficients of each equation are drawn from the normal distribution that least squares
    gives them, and the deviation of the responses, or of their sums so far (`cumulative`), is taken
    over the draws. `data` is the training data, prepared: (n, (k + 1) d). NaN after equations with
    redundant parents, or too few rows.
    """
    d = window_of(dag).d
    total, squares = np.zeros((2, horizon + 1, d, d))
    together = max(1, _AT_ONCE // total.size)
    random = np.random.default_rng(0)
    left = _DRAWS
    own = responses(dag, horizon)
    own = own.cumsum(axis=0) if cumulative else own
    while left:
        drawn = _drawn_weights(dag, data, min(together, left), random)
        left -= len(drawn)
        found = _of_weights(_own_units(dag, drawn), horizon)
        off = (found.cumsum(axis=1) if cumulative else found) - own
        total += off.sum(axis=0)
        squares += (off**2).sum(axis=0)
    variance = squares / _DRAWS - (total / _DRAWS) ** 2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _drawn_weights(
    dag: "FittedDAG", data: NDArray[Any], m: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the weights of m graphs with the arcs of one: (m, k + 1, d, d)."""
    d, edges, counted = window_of(dag).d, dag.edges, dag.known.counted
    weights = np.repeat(lagged_weights(dag)[None], m, axis=0)
    for v in range(d):
        parents = edges.row[edges.col == v]
        if len(parents):
            own = data if counted is None else data[counted[:, v] > 0]
            covariance, sizes = coefficient_covariance(own[:, parents], own[:, v])
            root = covariance if np.isnan(covariance).any() else np.linalg.cholesky(covariance)
            drawn = random.normal(size=(m, len(parents))) @ (root / sizes[:, None]).T
            weights[:, parents // d, parents % d, v] += drawn
    return weights


def _simulated(dag: "FittedDAG", horizon: int) -> NDArray[np.float64]:
    random, d = np.random.default_rng(0), window_of(dag).d
    start = drawn_pasts(dag, PATHS, random)
    noise = dag.drawn_noise(PATHS * (horizon + 1), random)[:, :d].reshape(horizon + 1, PATHS, d)
    calm = continued(dag, start, noise)
    found = np.full((horizon + 1, d, d), np.nan)
    categories = are_categories(dag)
    for u in np.flatnonzero(~categories).tolist():
        before, values = calm, np.unique(calm[0, :, u])
        raised = calm[0, :, u] + 1.0
        if len(values) == 2:
            lowered = np.full_like(raised, values[0])
            before = continued(dag, start, noise, [{u: lowered}])
            raised = np.full_like(raised, values[1])
        found[:, u] = (continued(dag, start, noise, [{u: raised}]) - before).mean(axis=1)
    found[:, :, categories] = np.nan
    return found
