"""One very large problem on several devices: the columns of H are distributed, p is replicated.

Column v of W predicts variable v, so each device predicts its own variables from the whole batch of
rows and updates its own columns; only the gradient of p, a vector, is summed over devices. The
program is the reference loop, so all optional inputs are supported; JAX's partitioner derives the
communication from the placement of the arrays.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from cosmodag.solve.kernels.gpu.shared import LINEAR_COSMO
from cosmodag.solve.problems import FEATURES, Backend, Batch, Task, start_many
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.training.loop import run_many

_Spec: Any = PartitionSpec  # untyped in some versions of JAX

SMALLEST = 20_000
"""Number of variables from which several accelerators are used."""

_Devices = tuple[jax.Device, ...]


def devices_for(variables: int, platform: str) -> _Devices:
    """Return as many devices of a platform as can share the columns evenly."""
    devices = jax.devices(platform)
    count = max(k for k in range(1, len(devices) + 1) if variables % k == 0)
    return tuple(devices[:count])


def implements(task: Task) -> bool:
    """Whether a task is one problem that is large enough to use several accelerators."""
    return (
        task.lanes == 1
        and task.variables >= SMALLEST
        and task.platform != "cpu"
        and task.features <= FEATURES - {"start"}
        and task.recipe.is_like(LINEAR_COSMO)
        and len(devices_for(task.variables, task.platform)) > 1
    )


def start(batch: Batch) -> AdamState:
    """Draw the initial state, distributed over the devices."""
    devices = devices_for(batch.variables, batch.device.platform)
    return _start_program(batch.recipe, batch.variables, devices)(batch.seeds, batch.settings)


def advance(batch: Batch, state: AdamState, first: int, last: int) -> AdamState:
    """Train a batch of one problem over the rounds first … last − 1."""
    devices = devices_for(batch.variables, batch.device.platform)
    by_column, everywhere = _placements(devices)
    matrices = {"support", "required", "gaps"}
    given = {
        name: jax.device_put(array, by_column if name in matrices else everywhere)
        for name, array in batch.given.items()
    }
    shared = jax.device_put((batch.which, batch.seeds, batch.settings), everywhere)
    return _advance_program(batch.recipe, devices)(state, given, *shared, first, last)


# Cached, because `jax.jit` compiles a new program for every new function.
@cache
def _start_program(recipe: Recipe, d: int, devices: _Devices) -> Callable[..., AdamState]:
    return jax.jit(
        lambda seeds, settings: _distributed(start_many(recipe, seeds, d, settings), devices)
    )


@cache
def _advance_program(recipe: Recipe, devices: _Devices) -> Callable[..., AdamState]:
    def advance(state: AdamState, *shared: Any) -> AdamState:
        return _distributed(run_many(recipe, state, *shared), devices)

    return jax.jit(advance, donate_argnums=0)


def _distributed(state: AdamState, devices: _Devices) -> AdamState:
    """Distribute matrices by column, and replicate all other arrays."""
    by_column, everywhere = _placements(devices)
    constrain: Any = jax.lax.with_sharding_constraint  # untyped in some versions of JAX
    return jax.tree.map(
        lambda leaf: constrain(leaf, by_column if leaf.ndim == 3 else everywhere), state
    )


def _placements(devices: _Devices) -> tuple[NamedSharding, NamedSharding]:
    """Placement of matrices, by column, and of all other arrays, which are replicated."""
    mesh = Mesh(np.array(devices), ("columns",))
    return NamedSharding(mesh, _Spec(None, None, "columns")), NamedSharding(mesh, _Spec())


# Five copies, as for the reference loop, which it runs.
SHARDED = Backend(
    "sharded",
    implements,
    advance,
    working_copies=5,
    start=start,
    devices=lambda task: len(devices_for(task.variables, task.platform)),
)
