"""Time series from the equations of a window: forecasts, drawn paths, and impulse responses.

The equations of time t are applied repeatedly: each result is part of the past of the next time.
Values are in the units of the table, since a column and its lagged copies are scaled separately.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.time.window import Window
from cosmodag.errors import DataError
from cosmodag.fit.view.arcs import coefficient_covariance

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

Floats = NDArray[np.float64]

# Length of the burn-in of a path that starts at the means.
_BURN_IN = 100

PATHS = 500
"""Number of simulated paths for expectations under equations that are not linear."""

# Draws of the noise of one time, for expectations in every row of a table.
_DRAWS = 200

_NOTHING_HELD: Mapping[int, NDArray[Any]] = MappingProxyType({})

# Draws of the coefficients: the relative error of a standard deviation is then 4 %.
_COEFFICIENT_DRAWS = 400
# Largest number of response values in memory at once.
_AT_ONCE = 4_000_000


def _next_rows(
    dag: "FittedDAG", past: Floats, noise: Floats, held: Mapping[int, NDArray[Any]]
) -> Floats:
    """Compute time t, (m, d), from the times before, causes first.

    `past` is (m, k d), times t − 1, …, t − k; `noise` (m, d), in prepared units; `held` maps the
    variables that are set at time t to their values (m,).
    """
    d = _window_of(dag).d
    start = np.zeros((len(past), dag.d))
    start[:, :d] = noise
    known = {place: past[:, place - d] for place in range(d, dag.d)} | dict(held)
    found = dag.propagated(start, dag.prepared_values(known))
    rows = dag.preparation.undo(found)[:, :d]
    for v, values in held.items():
        rows[:, v] = values  # exactly, without the rounding of the preparation
    return rows


def expected_rows(dag: "FittedDAG", past: Floats, held: Mapping[int, NDArray[Any]]) -> Floats:
    """Predict time t from the times before: expected numbers, most frequent levels.

    Linear equations without noise give the expectation. For other equations it is the mean over
    draws of the noise, the same draws for all rows, since the expectation of a function is not the
    function of the expectation.
    """
    d = _window_of(dag).d
    if dag.is_linear:
        return _next_rows(dag, past, np.zeros((len(past), d)), held)
    noise = _centred_noise(dag, _DRAWS, np.random.default_rng(0))
    draws = (_next_rows(dag, past, np.tile(one, (len(past), 1)), held) for one in noise)
    return _typical(dag, len(past), draws)


def forecast(dag: "FittedDAG", last: Floats, steps: int) -> Floats:
    """Predict the rows (steps, d) that follow the `last` k rows (k, d), earliest first.

    If equations are not linear, predictions are means, or most frequent levels, over drawn paths.
    """
    d = _window_of(dag).d
    if dag.is_linear:
        return continued(dag, last[None], np.zeros((steps, 1, d)))[:, 0]
    random = np.random.default_rng(0)
    noise = np.stack([_centred_noise(dag, PATHS, random) for _ in range(steps)])
    paths = continued(dag, np.repeat(last[None], PATHS, axis=0), noise)
    return _typical(dag, steps, paths.transpose(1, 0, 2))


def _centred_noise(dag: "FittedDAG", m: int, random: np.random.Generator) -> Floats:
    """Draw m rows of noise at time t, and centre the noise of numbers.

    Additive noise then does not change a mean over the draws. It is normal, so that a model that
    was saved without residuals predicts the same.
    """
    d = _window_of(dag).d
    drawn = dag.drawn_noise(m, random, normal=True)[:, :d]
    numbers = ~_are_categories(dag)
    drawn[:, numbers] -= drawn[:, numbers].mean(axis=0)
    return drawn


def _are_categories(dag: "FittedDAG") -> NDArray[np.bool_]:
    """(d,): whether each variable is an unordered category, which has no mean."""
    d = _window_of(dag).d
    return np.array([not kind.is_number for kind in dag.kinds[:d]] or [False] * d)


def _typical(dag: "FittedDAG", n: int, draws: Iterable[Floats]) -> Floats:
    """Average draws of n rows, (n, d) each; for a category, take the most frequent level."""
    levels = {v: len(dag.kinds[v].levels) for v in np.flatnonzero(_are_categories(dag)).tolist()}
    seen = {v: np.zeros((n, number)) for v, number in levels.items()}
    total, count = np.zeros((n, _window_of(dag).d)), 0
    for rows in draws:
        total += rows
        count += 1
        for v, number in levels.items():
            seen[v] += np.rint(rows[:, [v]]) == np.arange(number)
    found = total / count
    for v, times in seen.items():
        found[:, v] = np.argmax(times, axis=1)
    return found


def drawn_path(
    dag: "FittedDAG", n: int, random: np.random.Generator, held: Mapping[int, NDArray[Any]]
) -> Floats:
    """Draw n successive rows, with noise from the residuals.

    A path starts after a window of the training data. If residuals were not saved, it starts at the
    means, and a burn-in of 100 rows is left out.
    """
    burn_in = _BURN_IN if dag.residuals is None else 0
    noise = dag.drawn_noise(n + burn_in, random)[:, None, : _window_of(dag).d]
    places = np.maximum(np.arange(n + burn_in) - burn_in, 0)
    at_times = [{v: values[[place]] for v, values in held.items()} for place in places]
    return continued(dag, drawn_pasts(dag, 1, random), noise, at_times)[burn_in:, 0]


def drawn_pasts(dag: "FittedDAG", m: int, random: np.random.Generator) -> Floats:
    """Draw m pasts, (m, k, d), earliest first, from the training data, or repeat its means."""
    window = _window_of(dag)
    if dag.residuals is None:
        rows = np.repeat(dag.preparation.means[None], m, axis=0)
    else:
        chosen = random.integers(len(dag.residuals), size=m)
        rows = dag.preparation.undo(dag.training_data())[chosen]
    # The last k times of a window, t included: the past of t + 1.
    return rows[:, : window.lags * window.d].reshape(m, window.lags, window.d)[:, ::-1]


def continued(
    dag: "FittedDAG", last: Floats, noise: Floats, held: Sequence[Mapping[int, NDArray[Any]]] = ()
) -> Floats:
    """Continue m pasts in parallel: (times, m, d).

    `last` (m, k, d) are the pasts, earliest time first; `noise` (times, m, d), in prepared units;
    `held` maps, for each of the first times, the variables that are set then to their values (m,).
    """
    m, lags, d = last.shape
    times = [last[:, place] for place in range(lags)]
    for place, drawn in enumerate(noise):
        past = np.concatenate(times[: -lags - 1 : -1], axis=1)
        now = held[place] if place < len(held) else _NOTHING_HELD
        times.append(_next_rows(dag, past, drawn, now))
    return np.stack(times[lags:]) if len(noise) else np.empty((0, m, d))


def lagged_weights(dag: "FittedDAG") -> Floats:
    """Weights of the arcs from u at t − lag to v at t: (k + 1, d, d), at [lag, u, v]."""
    window, edges = _window_of(dag), dag.edges
    weights = np.zeros((window.lags + 1, window.d, window.d))
    weights[edges.row // window.d, edges.row % window.d, edges.col] = edges.data
    return weights


def _window_of(dag: "FittedDAG") -> Window:
    """Return the window of a fit, or refuse a fit without lags."""
    if dag.window is None:
        raise DataError("The rows of this model are not in time: fit it with lags (--lags).")
    return dag.window


def responses(dag: "FittedDAG", horizon: int) -> Floats:
    r"""Compute impulse responses: effects over time of raising each variable once, by one unit.

    For linear equations :math:`x_t = B_0^\top x_t + \dots + B_k^\top x_{t-k} + e_t` they are

    .. math:: \Psi_0 = (I - B_0)^{-1}, \qquad \Psi_h = \sum_j \Psi_{h-j} B_j (I - B_0)^{-1},

    and for other equations the mean difference between 500 pairs of paths with and without the
    change, and with the same noise. A variable with two values changes from the lower to the upper
    one. A category has no unit and no mean: its responses are NaN.

    The result is (horizon + 1, d, d): at [h, u, v] the change of v, h times after u was raised.
    """
    if dag.is_linear:
        return _linear_responses(_own_units(dag, lagged_weights(dag)), horizon)
    return _simulated_responses(dag, horizon)


def _own_units(dag: "FittedDAG", weights: Floats) -> Floats:
    """Convert weights (…, k + 1, d, d) of prepared columns to the units of the table."""
    d, factors = _window_of(dag).d, dag.preparation.factors
    return np.asarray(weights * (factors[:d] / factors.reshape(-1, d, 1)))


def _linear_responses(weights: Floats, horizon: int) -> Floats:
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
    dag: "FittedDAG", data: NDArray[Any], horizon: int, *, cumulative: bool
) -> Floats:
    """Compute standard errors of linear responses, (horizon + 1, d, d), as if the graph were known.

    The coefficients of each equation are drawn from the normal distribution of the least-squares
    estimates. The errors are the standard deviations, over these draws, of the responses or, if
    `cumulative`, of their cumulative sums. `data` is the prepared training data, (n, (k + 1) d).
    Errors are NaN if parents in an equation are redundant, or its rows are too few.
    """
    d = _window_of(dag).d
    total, squares = np.zeros((2, horizon + 1, d, d))
    together = max(1, _AT_ONCE // total.size)
    random = np.random.default_rng(0)
    remaining = _COEFFICIENT_DRAWS
    fitted = responses(dag, horizon)
    fitted = fitted.cumsum(axis=0) if cumulative else fitted
    while remaining:
        drawn = _drawn_weights(dag, data, min(together, remaining), random)
        remaining -= len(drawn)
        found = _linear_responses(_own_units(dag, drawn), horizon)
        deviations = (found.cumsum(axis=1) if cumulative else found) - fitted
        total += deviations.sum(axis=0)
        squares += (deviations**2).sum(axis=0)
    variance = squares / _COEFFICIENT_DRAWS - (total / _COEFFICIENT_DRAWS) ** 2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _drawn_weights(
    dag: "FittedDAG", data: NDArray[Any], m: int, random: np.random.Generator
) -> Floats:
    """Draw m sets of weights of the arcs of a graph: (m, k + 1, d, d)."""
    d, edges = _window_of(dag).d, dag.edges
    weights = np.repeat(lagged_weights(dag)[None], m, axis=0)
    for v in range(d):
        parents = edges.row[edges.col == v]
        if len(parents):
            own = data[dag.known.rows_of_equation(parents, v)]
            covariance, sizes = coefficient_covariance(own[:, parents], own[:, v])
            is_regular = (np.diag(covariance) > 0).all()  # neither unknown nor without noise
            root = np.linalg.cholesky(covariance) if is_regular else covariance
            drawn = random.normal(size=(m, len(parents))) @ (root / sizes[:, None]).T
            weights[:, parents // d, parents % d, v] += drawn
    return weights


def _simulated_responses(dag: "FittedDAG", horizon: int) -> Floats:
    """Responses by simulation; see `responses`."""
    random, d = np.random.default_rng(0), _window_of(dag).d
    start = drawn_pasts(dag, PATHS, random)
    noise = dag.drawn_noise(PATHS * (horizon + 1), random)[:, :d].reshape(horizon + 1, PATHS, d)
    unchanged = continued(dag, start, noise)
    found = np.full((horizon + 1, d, d), np.nan)
    categories = _are_categories(dag)
    for u in np.flatnonzero(~categories).tolist():
        baseline, values = unchanged, np.unique(unchanged[0, :, u])
        raised = unchanged[0, :, u] + 1.0
        if len(values) == 2:
            lowered = np.full_like(raised, values[0])
            baseline = continued(dag, start, noise, [{u: lowered}])
            raised = np.full_like(raised, values[1])
        found[:, u] = (continued(dag, start, noise, [{u: raised}]) - baseline).mean(axis=1)
    found[:, :, categories] = np.nan
    return found
