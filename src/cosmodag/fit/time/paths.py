"""Time series from the equations of a window: forecasts, drawn paths, and responses to a change.

The equations of time t are applied repeatedly: each result is part of the past of the next time.
Values are in the units of the table; a column and its lagged copies have maps of their own.
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

# First rows of a path that starts at the means: they are left out.
_BEFORE = 100

PATHS = 500
"""Paths over which expectations are taken where equations are not linear."""

# Draws of the noise of one time, for expectations in every row of a table.
_DRAWS = 200

_NOTHING_HELD: Mapping[int, NDArray[Any]] = MappingProxyType({})

# Draws of the coefficients: the relative error of a standard deviation is then 4 %.
_COEFFICIENT_DRAWS = 400
# Numbers that are held at once while they are drawn.
_AT_ONCE = 4_000_000


def _next_rows(
    dag: "FittedDAG", past: Floats, noise: Floats, held: Mapping[int, NDArray[Any]] = _NOTHING_HELD
) -> Floats:
    """Compute time t, (m, d), from the times before, causes first.

    `past` is (m, k d), times t − 1, …, t − k; `noise` (m, d), in prepared units; `held` gives the
    values (m,) of variables that are set at time t, by place.
    """
    d = _window_of(dag).d
    start = np.zeros((len(past), dag.d))
    start[:, :d] = noise
    known = {place: past[:, place - d] for place in range(d, dag.d)} | dict(held)
    found = dag.propagated(start, dag.prepared_values(known))
    rows = dag.preparation.undo(found)[:, :d]
    for v, values in held.items():
        rows[:, v] = values  # to the last digit
    return rows


def expected_rows(
    dag: "FittedDAG", past: Floats, held: Mapping[int, NDArray[Any]] = _NOTHING_HELD
) -> Floats:
    """Predict time t from the times before: expected numbers, most probable levels.

    Linear equations without noise give the expectation. Of others the mean over draws of the noise
    is taken, the same draws for all rows: the square of a variable that varies is more than the
    square of its expectation.
    """
    d = _window_of(dag).d
    if dag.is_linear:
        return _next_rows(dag, past, np.zeros((len(past), d)), held)
    noise = _centred_noise(dag, _DRAWS, np.random.default_rng(0))
    draws = (_next_rows(dag, past, np.tile(one, (len(past), 1)), held) for one in noise)
    return _typical(dag, len(past), draws)


def forecast(dag: "FittedDAG", last: Floats, steps: int) -> Floats:
    """Predict the rows after the last k, earliest first, from these: (steps, d).

    For equations that are not linear they are means over drawn paths, and most frequent levels.
    """
    d = _window_of(dag).d
    if dag.is_linear:
        return continued(dag, last[None], np.zeros((steps, 1, d)))[:, 0]
    random = np.random.default_rng(0)
    noise = np.stack([_centred_noise(dag, PATHS, random) for _ in range(steps)])
    paths = continued(dag, np.repeat(last[None], PATHS, axis=0), noise)
    return _typical(dag, steps, paths.transpose(1, 0, 2))


def _centred_noise(dag: "FittedDAG", m: int, random: np.random.Generator) -> Floats:
    """Draw m rows of noise at time t, of which that of numbers has mean zero exactly.

    Noise that is added then does not change a mean over the draws. It is normal, so that a model
    that was saved without its residuals predicts the same.
    """
    d = _window_of(dag).d
    drawn = dag.drawn_noise(m, random, normal=True)[:, :d]
    numbers = ~_are_categories(dag)
    drawn[:, numbers] -= drawn[:, numbers].mean(axis=0)
    return drawn


def _are_categories(dag: "FittedDAG") -> NDArray[np.bool_]:
    """(d,): variables without a mean."""
    d = _window_of(dag).d
    return np.array([not kind.is_number for kind in dag.kinds[:d]] or [False] * d)


def _typical(dag: "FittedDAG", n: int, draws: Iterable[Floats]) -> Floats:
    """Mean over draws of n rows, (n, d) each; of a category the most frequent level."""
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
    dag: "FittedDAG",
    n: int,
    random: np.random.Generator,
    held: Mapping[int, NDArray[Any]] = _NOTHING_HELD,
) -> Floats:
    """Draw n successive rows, with noise from the residuals.

    A path starts after a window of the training data. Where that was not saved, it starts at the
    means, and its first 100 rows are left out.
    """
    is_kept = dag.residuals is not None
    more = 0 if is_kept else _BEFORE
    noise = dag.drawn_noise(n + more, random)[:, None, : _window_of(dag).d]
    places = np.maximum(np.arange(n + more) - more, 0)
    at_times = [{v: values[[place]] for v, values in held.items()} for place in places]
    return continued(dag, drawn_pasts(dag, 1, random), noise, at_times)[more:, 0]


def drawn_pasts(dag: "FittedDAG", m: int, random: np.random.Generator) -> Floats:
    """Draw m pasts, (m, k, d), earliest first, from the training data; the means without it."""
    window = _window_of(dag)
    if dag.residuals is None:
        rows = np.repeat(dag.preparation.means[None], m, axis=0)
    else:
        chosen = random.integers(len(dag.residuals), size=m)
        rows = dag.preparation.undo(dag.training_data())[chosen]
    # The times of the window that end with t: the past of t + 1.
    return rows[:, : window.lags * window.d].reshape(m, window.lags, window.d)[:, ::-1]


def continued(
    dag: "FittedDAG", last: Floats, noise: Floats, held: Sequence[Mapping[int, NDArray[Any]]] = ()
) -> Floats:
    """Continue m pasts side by side: (times, m, d).

    `last` is (m, k, d), the pasts, earliest time first; `noise` (times, m, d), in prepared units;
    `held` gives the values (m,) of variables that are set, by place, at each of the first times.
    """
    m, lags, d = last.shape
    times = [last[:, place] for place in range(lags)]
    for place, drawn in enumerate(noise):
        past = np.concatenate(times[: -lags - 1 : -1], axis=1)
        now = held[place] if place < len(held) else _NOTHING_HELD
        times.append(_next_rows(dag, past, drawn, now))
    return np.stack(times[lags:]) if len(noise) else np.empty((0, m, d))


def lagged_weights(dag: "FittedDAG") -> Floats:
    """Weights of the arcs into time t: (k + 1, d, d), at [lag, u, v]."""
    window, edges = _window_of(dag), dag.edges
    weights = np.zeros((window.lags + 1, window.d, window.d))
    weights[edges.row // window.d, edges.row % window.d, edges.col] = edges.data
    return weights


def _window_of(dag: "FittedDAG") -> Window:
    """Window of a fit to rows in time."""
    if dag.window is None:
        raise DataError("The rows of this model are not in time: fit it with lags (--lags).")
    return dag.window


def responses(dag: "FittedDAG", horizon: int) -> Floats:
    r"""Effect of raising each variable once, by one unit, on all variables, now and later.

    For linear equations :math:`x_t = B_0^\top x_t + \dots + B_k^\top x_{t-k} + e_t` they are

    .. math:: \Psi_0 = (I - B_0)^{-1}, \qquad \Psi_h = \sum_j \Psi_{h-j} B_j (I - B_0)^{-1},

    and for others the mean difference between 500 paths with and without the change, and the same
    noise. A variable of two values changes from the lower to the upper one. A category has no unit
    and no mean: its responses are NaN.

    The result is (horizon + 1, d, d): at [h, u, v] the change of v, h times after u was raised.
    """
    if dag.is_linear:
        return _of_weights(_own_units(dag, lagged_weights(dag)), horizon)
    return _simulated(dag, horizon)


def _own_units(dag: "FittedDAG", weights: Floats) -> Floats:
    """Weights (…, k + 1, d, d) of standardised columns, in the units of the table."""
    d, factors = _window_of(dag).d, dag.preparation.factors
    return np.asarray(weights * (factors[:d] / factors.reshape(-1, d, 1)))


def _of_weights(weights: Floats, horizon: int) -> Floats:
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
) -> Floats:
    """Compute standard errors of linear responses, (horizon + 1, d, d), as if the graph were known.

    The coefficients of each equation are drawn from the normal distribution that least squares
    gives them, and the deviation of the responses, or of their sums so far (`cumulative`), is taken
    over the draws. `data` is the training data, prepared: (n, (k + 1) d). NaN after equations with
    redundant parents, or too few rows.
    """
    d = _window_of(dag).d
    total, squares = np.zeros((2, horizon + 1, d, d))
    together = max(1, _AT_ONCE // total.size)
    random = np.random.default_rng(0)
    left = _COEFFICIENT_DRAWS
    own = responses(dag, horizon)
    own = own.cumsum(axis=0) if cumulative else own
    while left:
        drawn = _drawn_weights(dag, data, min(together, left), random)
        left -= len(drawn)
        found = _of_weights(_own_units(dag, drawn), horizon)
        off = (found.cumsum(axis=1) if cumulative else found) - own
        total += off.sum(axis=0)
        squares += (off**2).sum(axis=0)
    variance = squares / _COEFFICIENT_DRAWS - (total / _COEFFICIENT_DRAWS) ** 2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _drawn_weights(
    dag: "FittedDAG", data: NDArray[Any], m: int, random: np.random.Generator
) -> Floats:
    """Draw the weights of m graphs with the arcs of one: (m, k + 1, d, d)."""
    d, edges, counted = _window_of(dag).d, dag.edges, dag.known.counted
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


def _simulated(dag: "FittedDAG", horizon: int) -> Floats:
    random, d = np.random.default_rng(0), _window_of(dag).d
    start = drawn_pasts(dag, PATHS, random)
    noise = dag.drawn_noise(PATHS * (horizon + 1), random)[:, :d].reshape(horizon + 1, PATHS, d)
    calm = continued(dag, start, noise)
    found = np.full((horizon + 1, d, d), np.nan)
    categories = _are_categories(dag)
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
