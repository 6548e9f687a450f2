"""Linear COSMO on a GPU, for one problem too large to leave to a compiler.

The same rounds as the reference loop's, `cosmodag.solve.training.loop`, in two fused kernels for
each step. Besides H and Adam's two moments nothing of size d² is ever in memory: at d = 100,000
they are 112 GiB in single precision, and 75 GiB with moments in bfloat16. Where a problem gives a
support, it is read as one byte per arc.

H and its moments are stored padded with zeros (`cosmodag.solve.kernels.gpu.tiling.padded`): cut
``arcs[..., :d, :d]`` out of a state that comes from here.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.model.structure import Parameters, Settings
from cosmodag.solve.backend import Backend, Task
from cosmodag.solve.kernels.gpu.declared import is_linear_cosmo, missing_pallas
from cosmodag.solve.kernels.gpu.large_rounds import on_groups, run_rounds
from cosmodag.solve.kernels.gpu.tiling import Tiling, padded
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import State

__all__ = ["LARGE", "SMALLEST", "advance", "implements", "parameters", "start"]

SMALLEST = 200
"""Number of variables from which the kernels were found faster than what XLA makes of the loop."""

_FEATURES = frozenset({"support", "counted"})


def implements(task: Task) -> bool:
    """Whether a task is one large problem of linear COSMO in single precision on a GPU."""
    return (
        task.lanes == 1
        and task.variables >= SMALLEST
        and task.features <= _FEATURES
        and is_linear_cosmo(task)
    )


def start(batch: Batch, moments: Any = jnp.float32) -> State:
    """Draw the initial state, padded, with Adam's moments of H in the precision asked for.

    The draws are those of `Batch.start`: each number is computed from its own place in H, so that
    no array of random bits comes before it.

    Parameters
    ----------
    batch : Batch
        One problem.
    moments : dtype
        ``float32``, or ``bfloat16`` to use two thirds of the memory: moments are then rounded at
        random, without bias.
    """
    with jax.default_device(batch.device):
        state = _start(
            batch.recipe, batch.variables, jnp.dtype(moments), batch.seeds[0], _settings(batch)
        )
    # Tied to the device, as every later state is: another kind of state is another program.
    tied: State = jax.device_put(state, batch.device)
    return tied


def advance(
    batch: Batch,
    state: State,
    first: int,
    last: int,
    tiling: Tiling | None = None,
    interpret: bool = False,
) -> State:
    """Train a batch of one problem over the rounds first … last − 1.

    Products are in TF32 unless JAX's default matmul precision says otherwise.

    Parameters
    ----------
    batch : Batch
        One problem of linear COSMO.
    state : State
        Where it stands; its memory is used for the result. It may be unpadded, which takes the
        memory of a copy.
    first, last : int
        The rounds to run.
    tiling : Tiling, optional
        How to cut up the work.
    interpret : bool
        Whether to run the kernels without a GPU, slowly.

    Returns
    -------
    State
        Padded.
    """
    with jax.default_device(batch.device):
        result: State = run_rounds(
            batch.recipe,
            tiling or Tiling(),
            interpret,
            _pad_state(state),
            batch.given,
            {name: places[0] for name, places in batch.which.items()},
            batch.seeds[0],
            _settings(batch),
            first,
            last,
        )
        return result


def parameters(batch: Batch, state: State) -> Parameters:
    """Cut the padding off; takes the memory of a copy of H."""
    d = batch.variables
    return {**state.parameters, "arcs": state.parameters["arcs"][..., :d, :d]}


def _settings(batch: Batch) -> dict[str, Any]:
    return {name: values[0] for name, values in batch.settings.items()}


@partial(jax.jit, static_argnums=(0, 1, 2))
def _start(recipe: Recipe, d: int, moments: Any, seed: Any, settings: Settings) -> State:
    parameters = jax.tree.map(lambda a: a[None], recipe.start(seed, d, settings))
    parameters["arcs"] = _pad(parameters["arcs"])

    def zeros() -> Parameters:
        return {
            **parameters,
            "arcs": jnp.zeros(parameters["arcs"].shape, moments),
            "order": jnp.zeros_like(parameters["order"]),
        }

    return State(
        parameters,
        zeros(),
        zeros(),
        jnp.zeros(1, jnp.int32),
        jnp.full(1, jnp.nan, jnp.float32),
        jnp.full(1, -1, jnp.int32),
    )


def _pad(arcs: jax.Array) -> jax.Array:
    more = padded(arcs.shape[-1]) - arcs.shape[-1]
    return jnp.pad(arcs, ((0, 0), (0, more), (0, more))) if more else arcs


def _pad_state(state: State) -> State:
    """Pad H and its moments one after the other, each let go as soon as its copy is made."""

    def pad_group(group: Parameters) -> Parameters:
        arcs = group["arcs"]
        wide = _pad(arcs)
        if wide is not arcs and isinstance(arcs, jax.Array):
            arcs.delete()
        return {**group, "arcs": wide}

    return on_groups(pad_group, state)


LARGE = Backend(
    "pallas-large",
    implements,
    advance,
    working_copies=0,
    start=start,
    parameters=parameters,
    missing=missing_pallas,
)
