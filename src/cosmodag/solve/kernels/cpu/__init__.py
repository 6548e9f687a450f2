"""Kernels for a CPU: COSMO in single precision, linear or with one layer of sigmoid units."""

from functools import partial

import numpy as np

from cosmodag.model.mechanism import MLP, Linear, Mechanism
from cosmodag.model.objective import (
    AnnealedObjective,
    Loss,
    log_residual_variances,
    mean_squared_error,
)
from cosmodag.model.structure import Priority
from cosmodag.solve.backend import Backend, Task
from cosmodag.solve.kernels.cpu import linear, mlp, mlp_arrays
from cosmodag.solve.kernels.cpu.kernel import FEATURES, Kernel, limited
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.schedules import CosineAnnealing

__all__ = ["BACKENDS", "is_plain_network"]


def is_plain_network(mechanism: Mechanism) -> bool:
    """Whether the networks have one hidden layer of sigmoid units, of any width."""
    return (
        type(mechanism) is MLP and len(mechanism.hidden) == 1 and mechanism.activation == "sigmoid"
    )


def _is_cosmo(task: Task, loss: Loss) -> bool:
    """Whether a task is COSMO on a CPU, for any mechanism, with features that kernels support."""
    cosmo = Recipe(
        Priority(),
        task.recipe.mechanism,
        AnnealedObjective(loss),
        CosineAnnealing(),
    )
    return (
        task.recipe.is_like(cosmo)
        and task.features <= FEATURES
        and task.dtype == np.float32
        and task.platform == "cpu"
    )


def _is_linear_cosmo(task: Task) -> bool:
    return _is_cosmo(task, mean_squared_error) and task.recipe.mechanism == Linear()


def _is_network_cosmo(task: Task, *, loss: Loss) -> bool:
    return _is_cosmo(task, loss) and is_plain_network(task.recipe.mechanism)


def _network_entries(task: Task) -> int:
    """Count H, p, and the biases and weights of the units and of the output."""
    d, h = task.variables, task.recipe.mechanism.hidden[0]  # type: ignore[attr-defined]
    return int(d * (d * h + 1 + 2 * h + 1))


def _networks(name: str, loss: Loss, *, has_own_variances: bool) -> Backend:
    """Kernel of networks, for one of two losses."""
    prepared = partial(mlp_arrays.workspace, has_own_variances=has_own_variances)
    kernel = Kernel(mlp_arrays.gather, mlp_arrays.scatter, prepared, mlp.run, has_one_program=True)
    return Backend(
        name,
        partial(_is_network_cosmo, loss=loss),
        kernel.advance,
        working_copies=5,  # three in its own layout, W and the gradient
        start=kernel.start,
        entries=_network_entries,
        limited=limited,
    )


_LINEAR = Kernel(linear.gather, linear.scatter, linear.workspace, linear.run)

BACKENDS: tuple[Backend, ...] = (
    Backend(
        "numba-linear",
        _is_linear_cosmo,
        _LINEAR.advance,
        working_copies=3,  # S, W and the gradient
        start=_LINEAR.start,
        entries=lambda task: task.variables * (task.variables + 1),
        limited=limited,
    ),
    _networks("numba-mlp", mean_squared_error, has_own_variances=False),
    _networks("numba-mlp-likelihood", log_residual_variances, has_own_variances=True),
)
