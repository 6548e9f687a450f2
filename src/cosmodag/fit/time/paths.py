"""Time series from the equations of a window: predictions, drawn paths, responses to a pulse.

The equations of time t are applied again and again, with what they gave as the past of the next
time. Values are in the units of the table; a column and its lagged copies have maps of their own.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.window import Window
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["drawn_path", "forecast", "lagged_weights", "next_rows", "responses"]

# Rows before a path that starts at the means, which are then left out.
_BEFORE = 100
# Paths over which the response of equations that are not linear is averaged.
_PATHS = 500

_NOTHING: Mapping[int, NDArray[Any]] = MappingProxyType({})


def next_rows(
    dag: "FittedDAG",
    past: NDArray[np.float64],
    noise: NDArray[np.float64] | None = None,
    held: Mapping[int, NDArray[Any]] = _NOTHING,
) -> NDArray[np.float64]:
    """Compute time t from the times before, causes first.

    Parameters
    ----------
    dag : FittedDAG
        Of a window of k lags and d variables.
    past : (m, k d) array
        Times t − 1, …, t − k.
    noise : (m, d) array, optional
        In prepared units; by default none, which gives predictions.
    held : mapping of places to (m,) arrays
        Variables that are set at time t.

    Returns
    -------
    (m, d) array
    """
    window = _window(dag)
    d, places = window.d, range(window.d, dag.d)
    start = np.zeros((len(past), dag.d))
    if noise is not None:
        start[:, :d] = noise
    known = {place: past[:, place - d] for place in places} | dict(held)
    found = dag.propagated(start, dag.prepared_values(known))
    rows = dag.preparation.undo(found)[:, :d]
    for v, values in held.items():
        rows[:, v] = values  # to the last digit
    return rows


def forecast(dag: "FittedDAG", last: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Predict the rows after the last k, each from those before it: (steps, d)."""
    return _continued(dag, last, np.zeros((steps, _window(dag).d)), _NOTHING)


def drawn_path(
    dag: "FittedDAG",
    n: int,
    random: np.random.Generator,
    held: Mapping[int, NDArray[Any]] = _NOTHING,
) -> NDArray[np.float64]:
    """Draw n successive rows, with noise from the residuals.

    A path starts after a window of the training data or, where that was not saved, at the means
    and 100 rows before its first.
    """
    window = _window(dag)
    is_kept = dag.residuals is not None
    more = 0 if is_kept else _BEFORE
    noise = dag.drawn_noise(n + more, random)[:, : window.d]
    held = {v: np.concatenate([np.repeat(x[:1], more), x]) for v, x in held.items()}
    return _continued(dag, _start(dag, 1, random)[0], noise, held)[more:]


def _start(dag: "FittedDAG", m: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw m pasts, (m, k, d), earliest first, from the training data; the means without it."""
    window = _window(dag)
    if dag.residuals is None:
        rows = np.repeat(dag.preparation.means[None], m, axis=0)
    else:
        chosen = random.integers(len(dag.residuals), size=m)
        rows = dag.preparation.undo(dag.training_data())[chosen]
    # The times of the window that end with t: the past of t + 1.
    return rows[:, : window.lags * window.d].reshape(m, window.lags, window.d)[:, ::-1]


def _continued(
    dag: "FittedDAG",
    last: NDArray[np.float64],
    noise: NDArray[np.float64],
    held: Mapping[int, NDArray[Any]],
) -> NDArray[np.float64]:
    """Continue k rows, earliest first, by as many as there is noise for."""
    lags, d = last.shape
    path = np.concatenate([last, np.empty_like(noise)])
    for place in range(len(noise)):
        past = path[place : place + lags][::-1].reshape(1, lags * d)
        now = {v: values[place : place + 1] for v, values in held.items()}
        path[lags + place] = next_rows(dag, past, noise[place : place + 1], now)[0]
    return path[lags:]


def lagged_weights(dag: "FittedDAG") -> NDArray[np.float64]:
    """Weights of the arcs into time t: (k + 1, d, d), at [lag, u, v]."""
    window, edges = _window(dag), dag.edges
    weights = np.zeros((window.lags + 1, window.d, window.d))
    weights[edges.row // window.d, edges.row % window.d, edges.col] = edges.data
    return weights


def responses(dag: "FittedDAG", horizon: int, is_linear: bool) -> NDArray[np.float64]:
    r"""Effect of raising each variable once, by one unit, on all variables, now and later.

    For linear equations :math:`x_t = B_0^\top x_t + \dots + B_k^\top x_{t-k} + e_t` they are

    .. math:: \Psi_0 = (I - B_0)^{-1}, \qquad \Psi_h = \sum_j \Psi_{h-j} B_j (I - B_0)^{-1},

    and for others the mean difference between 500 paths with and without the pulse, and the same
    noise.

    Returns
    -------
    (horizon + 1, d, d) array
        At [h, u, v] the change of v, h times after u was raised.
    """
    if not is_linear:
        return _simulated_responses(dag, horizon)
    d, factors = _window(dag).d, dag.preparation.factors
    # Weights of standardised columns, in the units of the table.
    weights = lagged_weights(dag) * (factors[:d] / factors.reshape(-1, d, 1))
    at_once = np.linalg.inv(np.eye(d) - weights[0])
    found = np.zeros((horizon + 1, d, d))
    found[0] = at_once
    for h in range(1, horizon + 1):
        for lag in range(1, min(h, len(weights) - 1) + 1):
            found[h] += found[h - lag] @ weights[lag] @ at_once
    return found


def _simulated_responses(dag: "FittedDAG", horizon: int) -> NDArray[np.float64]:
    random, window = np.random.default_rng(0), _window(dag)
    d = window.d
    start = _start(dag, _PATHS, random)
    noise = dag.drawn_noise(_PATHS * (horizon + 1), random)[:, :d].reshape(horizon + 1, -1, d)
    calm = _paths(dag, start, noise)
    found = np.empty((horizon + 1, d, d))
    for u in range(d):
        raised = noise.copy()
        raised[0, :, u] += 1.0 / dag.preparation.scales[u]
        found[:, u] = (_paths(dag, start, raised) - calm).mean(axis=1)
    return found


def _paths(
    dag: "FittedDAG", start: NDArray[np.float64], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Continue m pasts at once: (steps, m, d)."""
    lags = start.shape[1]
    times = [start[:, lag] for lag in range(lags)]
    for drawn in noise:
        past = np.concatenate(times[: -lags - 1 : -1], axis=1)
        times.append(next_rows(dag, past, drawn))
    return np.stack(times[lags:])


def _window(dag: "FittedDAG") -> Window:
    if dag.window is None:
        raise DataError("The rows of this model are not in time: fit it with lags (--lags).")
    return dag.window
