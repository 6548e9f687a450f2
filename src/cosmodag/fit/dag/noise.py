"""Noise drawn for new rows of a fitted DAG."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["drawn_noise"]


def drawn_noise(
    dag: "FittedDAG", n: int, random: np.random.Generator, *, normal: bool
) -> NDArray[np.float64]:
    """Draw n rows of noise, independent between variables, in prepared units.

    They are residuals of the training data, or normal where these were not saved, or it is asked
    for.
    """
    if dag.residuals is not None and not normal:
        return dag.equations.redrawn(_drawn_residuals(dag, n, random), random)
    assert dag.noise_variances is not None
    deviations = np.sqrt(dag.noise_variances) / dag.preparation.scales
    return dag.equations.redrawn(random.normal(size=(n, dag.d)) * deviations, random)


def _drawn_residuals(dag: "FittedDAG", n: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw the noise of each variable from rows in which it was measured and not set."""
    assert dag.residuals is not None
    counted = dag.known.counted
    if counted is None:
        rows = random.integers(len(dag.residuals), size=(n, dag.d))
    else:
        own = (np.flatnonzero(column) for column in counted.T)
        rows = np.stack([random.choice(places, size=n) for places in own], axis=1)
    return dag.residuals[rows, np.arange(dag.d)].astype(np.float64)
