"""Scope of the GPU kernels: the recipe they implement, and their requirements."""

from importlib import import_module

import numpy as np

from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import AnnealedObjective, mean_squared_error
from cosmodag.model.structure import Priority
from cosmodag.solve.backend import Task
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.schedules import CosineAnnealing

__all__ = ["LINEAR_COSMO", "is_linear_cosmo", "missing_pallas"]

LINEAR_COSMO = Recipe(
    Priority(), Linear(), AnnealedObjective(mean_squared_error), CosineAnnealing()
)
"""The recipe of linear COSMO; any batch size matches."""


def is_linear_cosmo(task: Task) -> bool:
    """Whether a task is linear COSMO in single precision on a GPU."""
    return task.platform == "gpu" and task.dtype == np.float32 and task.recipe.is_like(LINEAR_COSMO)


def missing_pallas(task: Task) -> str | None:
    """Return why kernels cannot be compiled: JAX 0.11 announces to remove Pallas for Triton."""
    try:
        import_module("jax.experimental.pallas.triton")
    except ImportError:
        return "this version of JAX has no Pallas for Triton"
    return None
