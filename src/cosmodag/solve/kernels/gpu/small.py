"""Linear COSMO on a GPU, for many small problems: one kernel program per problem.

The same rounds as in the reference loop, `cosmodag.solve.training.loop`. XLA's program for a step
of thousands of problems makes a dozen passes over their memory; here one kernel (`small_round`)
runs a whole round, in which every problem's H, p and Adam's moments stay in the registers of one
multiprocessor.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.model.structure import Settings
from cosmodag.solve.backend import Backend, Task
from cosmodag.solve.kernels.gpu.arithmetic import packed
from cosmodag.solve.kernels.gpu.declared import is_linear_cosmo, missing_pallas
from cosmodag.solve.kernels.gpu.small_round import RoundScalars, one_round
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState, after_round
from cosmodag.solve.training.passes import Passes
from cosmodag.solve.training.shuffle import rows_at

__all__ = ["LARGEST", "SMALL", "advance", "implements"]

LARGEST = 64
"""Largest number of variables for which the kernel is used."""

# Largest number of rows per step that fits in registers.
_MOST_ROWS = 128


def implements(task: Task) -> bool:
    """Whether a task is small problems of linear COSMO without features, in float32 on a GPU."""
    return (
        task.variables <= LARGEST
        and Passes.over(task.rows, task.recipe.batch_size).size <= _MOST_ROWS
        and not task.features
        and is_linear_cosmo(task)
    )


def advance(
    batch: Batch, state: AdamState, first: int, last: int, interpret: bool = False
) -> AdamState:
    """Train a batch of small problems over the rounds first … last − 1.

    Products use TF32 unless JAX's default matmul precision is set otherwise. The memory of the
    state is reused for the result. With `interpret`, the kernel runs without a GPU, slowly.
    """
    with jax.default_device(batch.device):
        return _run_rounds(
            batch.recipe,
            interpret,
            state,
            batch.given["data"],
            batch.which["data"],
            batch.seeds,
            batch.settings,
            first,
            last,
        )


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def _run_rounds(
    recipe: Recipe,
    interpret: bool,
    state: AdamState,
    tables: jax.Array,
    which: Any,
    seeds: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> AdamState:
    n = tables.shape[1]
    passes = Passes.over(n, recipe.batch_size)
    longest = passes.steps * passes.size
    starts = jnp.asarray(which, jnp.int32) * n

    def run_round(round: Any, state: AdamState) -> AdamState:
        now = jax.vmap(partial(recipe.schedule, round))(settings)
        step = state.step.astype(jnp.float32)
        scalars = RoundScalars(
            power1=now["beta1"] ** step,
            power2=now["beta2"] ** step,
            **{name: now[name] for name in RoundScalars._fields if name in now},
        )
        begin = (round % passes.rounds) * longest
        count = jnp.minimum(longest, n - begin)
        positions = begin + jnp.arange(min(longest, n))
        orders = jax.vmap(lambda seed: rows_at(seed, round // passes.rounds, positions, n))(seeds)
        state, loss = one_round(
            state,
            jnp.reshape(count, 1).astype(jnp.int32),
            packed(scalars),
            orders + starts[:, None],
            tables.reshape(-1, tables.shape[2]),
            passes.size,
            interpret,
        )
        state = state._replace(step=state.step + -(-count // passes.size))
        return after_round(state, round, loss)

    return jax.lax.fori_loop(first, last, run_round, state)


SMALL = Backend("pallas-small", implements, advance, working_copies=2, missing=missing_pallas)
