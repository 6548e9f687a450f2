"""Effects and predictions by simulation, through fitted equations of any shape."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.assess.effects.covariance import Slope
from cosmodag.assess.effects.mixed_graph import MixedGraph
from cosmodag.assess.names import values_set
from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["contrasts", "direct_contrast", "mean_curves", "predict_set"]

DRAWS = 10_000
"""Rows that expectations are taken over."""


def contrasts(
    dag: FittedDAG, x: int, values: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Difference of E[y | do(x = b)] and E[y | do(x = a)] for all variables y: (d,).

    Rows are simulated twice with the same noise, drawn from the residuals of the fit. Values and
    differences are in the units of the table; the second result, (d,), is the standard errors of
    the simulation alone.
    """
    noise = dag.drawn_noise(DRAWS, np.random.default_rng(0))
    before, after = (
        dag.propagated(noise, dag.prepared_values({x: np.full(DRAWS, value)})) for value in values
    )
    changes = (after - before) * dag.preparation.scales
    return changes.mean(axis=0), changes.std(axis=0) / np.sqrt(DRAWS)


def mean_curves(
    dag: FittedDAG, x: int, grid: NDArray[np.float64], draws: int
) -> NDArray[np.float64]:
    """E[y | do(x = value)] of all variables y, at several values: (values, d).

    Rows are simulated at each value with the same noise, so that the curves are smooth.
    """
    noise = dag.drawn_noise(draws, np.random.default_rng(0))
    held = dag.prepared_values({x: np.repeat(grid, draws)})
    rows = dag.preparation.undo(dag.propagated(np.tile(noise, (len(grid), 1)), held))
    return np.asarray(rows.reshape(len(grid), draws, dag.d).mean(axis=1))


def direct_contrast(dag: FittedDAG, x: int, y: int, values: tuple[float, float]) -> Slope:
    """Mean change of y where x alone changes, over rows drawn from the fitted model."""
    noise = dag.drawn_noise(DRAWS, np.random.default_rng(0))
    rows = dag.propagated(noise)
    predicted = []
    for value in values:
        rows[:, x] = dag.prepared_values({x: np.array(value)})[x]
        predicted.append(np.asarray(dag.predict_column(rows, y), np.float64))
    change = (predicted[1] - predicted[0]) * dag.preparation.scales[y]
    return Slope(float(change.mean()), float(change.std() / np.sqrt(len(change))))


def predict_set(dag: FittedDAG, X: Any, do: Mapping[Any, Any]) -> NDArray[np.float64]:
    """Predict every variable of a table where some are set from outside.

    Descendants of what is set are predicted from predicted parents, everything else from the
    parents as they were measured.
    """
    data = dag.prepared(X).copy()
    given = values_set(dag.names, do, len(data), dag.kinds)
    held = dag.prepared_values(given)
    fitted = np.array(dag.predict_prepared(data), np.float64)
    changed = MixedGraph.of(dag.arcs).reached_from(held)
    for v in dag.order.tolist():
        if v in changed:
            data[:, v] = held[v] if v in held else dag.predict_column(data, v)
            fitted[:, v] = data[:, v]
    predicted = dag.preparation.undo(fitted)
    for v, values in given.items():
        predicted[:, v] = values  # to the last digit
    return predicted
