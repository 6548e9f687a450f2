"""The training loop, the only one: epochs of shuffled batches, each a step of Adam."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.adam import State, adam_step
from cosmodag.solver.training.shuffle import row_order
from cosmodag.structure import Parameters, Settings

__all__ = ["run_epochs", "run_many"]


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
        before = state.parameters
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
        state = state._replace(
            loss=loss, diverged_at=jnp.where(broken, epoch, state.diverged_at).astype(jnp.int32)
        )
        return state if recipe.guard is None else _undo_outside(recipe, before, state, epoch, now)

    final: State = jax.lax.fori_loop(first, last, run_epoch, state)
    return final


def _undo_outside(
    recipe: Recipe, before: Parameters, state: State, epoch: Any, settings: Settings
) -> State:
    """Take an epoch's parameters back where the guard fails; Adam keeps its moments."""
    assert recipe.guard is not None
    count, first = state.undone
    inside = recipe.guard.holds(recipe.read_out(state.parameters, settings), settings)
    keep = inside & (count < recipe.guard.patience(settings))
    return state._replace(
        parameters=jax.tree.map(partial(jnp.where, keep), state.parameters, before),
        undone=(
            count + (~keep).astype(jnp.int32),
            jnp.where(~keep & (first < 0), epoch, first).astype(jnp.int32),
        ),
    )


def run_many(
    recipe: Recipe,
    state: State,
    tables: jax.Array,
    table: Any,
    seeds: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> State:
    """Train a batch of problems; all but the tables and the epochs have an axis more."""
    one = partial(run_epochs, recipe)
    many = jax.vmap(one, in_axes=(0, None, 0, 0, 0, None, None))
    trained: State = many(state, tables, table, seeds, settings, first, last)
    return trained
