"""Objectives: functions of one problem's parameters and one batch of rows, to be minimised."""

from cosmodag.model.objective.losses import (
    LOSSES,
    SMALLEST_VARIANCE,
    Loss,
    Predicted,
    half_squared_error,
    log_residual_variances,
    log_squared_error,
    mean_squared_error,
    mean_squared_residuals,
)
from cosmodag.model.objective.objectives import (
    AnnealedObjective,
    Barrier,
    Decayed,
    Objective,
    Penalised,
    arc_squares,
    euclidean_norm,
    one_norm,
)

__all__ = [
    "LOSSES",
    "SMALLEST_VARIANCE",
    "AnnealedObjective",
    "Barrier",
    "Decayed",
    "Loss",
    "Objective",
    "Penalised",
    "Predicted",
    "arc_squares",
    "euclidean_norm",
    "half_squared_error",
    "log_residual_variances",
    "log_squared_error",
    "mean_squared_error",
    "mean_squared_residuals",
    "one_norm",
]
