"""The training loop, the only one: epochs of shuffled batches, each a step of Adam."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.solver.adam import State, adam_step
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.shuffle import row_order
from cosmodag.structure import Settings

__all__ = ["run_epochs"]


def run_epochs(
    recipe: Recipe,
    state: State,
    tables: jax.Array,
    table: Any,
    seed: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> State:
    """Train one problem over the epochs first … last − 1.

    Every random choice is a function of the seed and the epoch, so it does not matter in how many
    pieces the epochs are run.

    Parameters
    ----------
    recipe : Recipe
        What is minimised.
    state : State
        Where the problem stands.
    tables : (m, n, d) array
        The data, shared by all problems of a batch.
    table : int
        Which of them is this problem's.
    seed : uint32
        Decides the order of rows.
    settings : mapping
        The problem's hyper-parameters.
    first, last : int
        The epochs to run; they may be traced.

    Returns
    -------
    State
    """
    n = tables.shape[1]
    size = min(recipe.batch_size, n)
    batches = math.ceil(n / size)
    places = jnp.arange(batches * size).reshape(batches, size)
    gradient_of = jax.value_and_grad(recipe.loss)

    def run_epoch(epoch: Any, state: State) -> State:
        now = recipe.schedule(epoch, settings)
        order = row_order(seed, epoch, n)

        def run_batch(k: Any, carry: tuple[State, Any]) -> tuple[State, Any]:
            state, total = carry
            real = places[k] < n
            x = tables[table, order[jnp.where(real, places[k], 0)]]
            loss, gradient = gradient_of(state.parameters, x, real.astype(x.dtype), now)
            return adam_step(state, gradient, now), total + loss

        zero = jnp.zeros((), tables.dtype)
        state, total = jax.lax.fori_loop(0, batches, run_batch, (state, zero))
        loss = total / batches
        broken = (state.diverged_at < 0) & ~jnp.isfinite(loss)
        return state._replace(
            loss=loss, diverged_at=jnp.where(broken, epoch, state.diverged_at).astype(jnp.int32)
        )

    final: State = jax.lax.fori_loop(first, last, run_epoch, state)
    return final
