"""Constants, residuals and variances of a fitted DAG, from its training data."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.preparation import deviations_of

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["with_constants"]


def with_constants(given: "FittedDAG", data: NDArray[np.float32], recentre: bool) -> "FittedDAG":
    """Fit constants, residuals and variances; see `FittedDAG.settled`."""
    counted = given.known.counted
    residuals = data - given.predict_prepared(data)
    unexplained = np.average(residuals, axis=0, weights=counted)
    unexplained[given.preparation.constant] = 0
    equations = given.equations.settled(unexplained)
    dag, preparation = replace(given, equations=equations), given.preparation
    if equations is not given.equations:
        residuals = data - dag.predict_prepared(data)
    if recentre and given.known.targets is not None and not equations.has_constants:
        shift = _shift_of_means(dag, np.average(residuals, axis=0, weights=counted))
        preparation = preparation.moved(shift)
        data = np.asarray(data - shift, np.float32)
        residuals = data - dag.predict_prepared(data)
    noise = equations.noise_of(data, dag.adjacency, residuals)
    residuals = np.asarray(noise, np.float32)
    scaled = residuals.astype(np.float64) * preparation.scales
    return replace(
        dag,
        preparation=preparation,
        residuals=residuals,
        noise_variances=np.average(scaled**2, axis=0, weights=counted),
        deviations=deviations_of(data, counted) * preparation.scales,
    )


def _shift_of_means(dag: "FittedDAG", unexplained: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shift of the means that gives residuals of mean zero."""
    shift = np.asarray(unexplained, np.float64)
    shift[dag.preparation.constant] = 0.0
    for v in dag.order:
        shift[v] += dag.predict_column(shift[None], v)[0]
    return shift
