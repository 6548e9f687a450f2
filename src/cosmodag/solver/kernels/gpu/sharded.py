"""One very large problem on several devices: the columns of H shared out, p on every one.

Column v of W says how variable v is predicted, so each device predicts its own variables from the
whole batch of rows and updates its own columns; only the gradient of p, a vector, is summed over
devices. JAX's partitioner derives all that from where the arrays are.
"""

from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from cosmodag.mechanism import Linear
from cosmodag.solver.problems import Batch, start_many
from cosmodag.solver.training.adam import State
from cosmodag.solver.training.loop import run_many
from cosmodag.structure import Priority

__all__ = ["SMALLEST", "advance", "applies", "devices_for", "start"]

_Spec: Any = PartitionSpec  # untyped in some versions of JAX

SMALLEST = 20_000
"""Number of variables from which several accelerators are used."""


def devices_for(batch: Batch) -> list[jax.Device]:
    """As many devices of the batch's kind as share the columns evenly."""
    devices = jax.devices(batch.device.platform)
    count = max(k for k in range(1, len(devices) + 1) if batch.variables % k == 0)
    return devices[:count]


def applies(batch: Batch) -> bool:
    """Whether a batch is one problem worth several accelerators, where there are some."""
    return (
        batch.size == 1
        and batch.variables >= SMALLEST
        and batch.device.platform != "cpu"
        and isinstance(batch.recipe.structure, Priority)
        and isinstance(batch.recipe.mechanism, Linear)
        and len(devices_for(batch)) > 1
    )


def start(batch: Batch) -> State:
    """Draw the initial state, each device its own columns."""
    drawn = partial(start_many, batch.recipe, d=batch.variables)
    shapes = jax.eval_shape(drawn, seeds=batch.seeds, settings=batch.settings)
    program = jax.jit(drawn, out_shardings=_shardings(batch, shapes))
    state: State = program(seeds=batch.seeds, settings=batch.settings)
    return state


def advance(batch: Batch, state: State, first: int, last: int) -> State:
    """Train a batch of one problem over the epochs first … last − 1."""
    everywhere = NamedSharding(_mesh(batch), _Spec())
    shared = (batch.tables, batch.table, batch.seeds, batch.settings)
    program = jax.jit(
        partial(run_many, batch.recipe), donate_argnums=0, out_shardings=_shardings(batch, state)
    )
    advanced: State = program(state, *jax.device_put(shared, everywhere), first, last)
    return advanced


def _mesh(batch: Batch) -> Mesh:
    return Mesh(np.array(devices_for(batch)), ("columns",))


def _shardings(batch: Batch, state: State) -> Any:
    """Matrices by column, all else everywhere."""
    mesh = _mesh(batch)
    columns = NamedSharding(mesh, _Spec(None, None, "columns"))
    everywhere = NamedSharding(mesh, _Spec())
    return jax.tree.map(lambda leaf: columns if leaf.ndim == 3 else everywhere, state)
