"""Kernels for a CPU: COSMO in single precision, linear or with one layer of sigmoid units."""

from collections.abc import Callable
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


def _backend(
    name: str,
    fits: Callable[[Mechanism], bool],
    loss: Loss,
    kernel: Kernel,
    working_copies: int,
    entries: Callable[[Task], int],
) -> Backend:
    """Backend of COSMO in single precision, for the mechanisms that fit and one loss."""

    def implements(task: Task) -> bool:
        mechanism = task.recipe.mechanism
        cosmo = Recipe(Priority(), mechanism, AnnealedObjective(loss), CosineAnnealing())
        return (
            fits(mechanism)
            and task.recipe.is_like(cosmo)
            and task.features <= FEATURES
            and task.dtype == np.float32
            and task.platform == "cpu"
        )

    return Backend(
        name,
        implements,
        kernel.advance,
        working_copies,
        start=kernel.start,
        entries=entries,
        limited=limited,
    )


def _networks(name: str, loss: Loss, *, has_own_variances: bool) -> Backend:
    """Backend of networks, for one of two losses."""
    prepared = partial(mlp_arrays.workspace, has_own_variances=has_own_variances)
    kernel = Kernel(mlp_arrays.gather, prepared, mlp.run, mlp_arrays.scatter, has_one_program=True)
    # Five copies: three in its own layout, W and the gradient.
    return _backend(name, is_plain_network, loss, kernel, 5, _network_entries)


def _network_entries(task: Task) -> int:
    """Count H, p, and the biases and weights of the units and of the output."""
    d, h = task.variables, task.recipe.mechanism.hidden[0]  # type: ignore[attr-defined]
    return int(d * (d * h + 1 + 2 * h + 1))


BACKENDS: tuple[Backend, ...] = (
    _backend(
        "numba-linear",
        lambda mechanism: mechanism == Linear(),
        mean_squared_error,
        Kernel(linear.gather, linear.workspace, linear.run),
        working_copies=3,  # S, W and the gradient
        entries=lambda task: task.variables * (task.variables + 1),
    ),
    _networks("numba-mlp", mean_squared_error, has_own_variances=False),
    _networks("numba-mlp-likelihood", log_residual_variances, has_own_variances=True),
)
