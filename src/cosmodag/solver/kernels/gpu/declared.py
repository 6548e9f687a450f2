"""What the GPU's kernels declare: the one recipe they are written for, and what they need."""

from importlib import import_module

import numpy as np

from cosmodag.mechanism import Linear
from cosmodag.objective import AnnealedObjective, mean_squared_error
from cosmodag.solver.backend import Task
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.schedules import CosineAnnealing
from cosmodag.structure import Priority

__all__ = ["LINEAR_COSMO", "is_linear_cosmo", "missing_pallas"]

LINEAR_COSMO = Recipe(
    Priority(), Linear(), AnnealedObjective(mean_squared_error), CosineAnnealing()
)
"""The recipe of linear COSMO, whatever the batch size."""


def is_linear_cosmo(task: Task) -> bool:
    """Whether a task is linear COSMO in single precision on a GPU."""
    return task.platform == "gpu" and task.dtype == np.float32 and task.recipe.is_like(LINEAR_COSMO)


def missing_pallas(task: Task) -> str | None:
    """Say why kernels cannot be compiled here: JAX 0.11 announces it will drop what they need."""
    try:
        import_module("jax.experimental.pallas.triton")
    except ImportError:
        return "this version of JAX has no Pallas for Triton"
    return None
