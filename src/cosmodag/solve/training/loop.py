"""The reference loop: rounds of shuffled batches, with a step of Adam for each, for every recipe.

It implements every recipe and optional input, compiled by XLA on any device. Kernels do the same
steps faster for the recipes that they declare; tests compare them with this loop.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from cosmodag.model.objective import arc_squares
from cosmodag.model.structure import Parameters, Settings
from cosmodag.runtime.devices import on_device
from cosmodag.runtime.later import jax, jitted, jnp
from cosmodag.solve.problems import Backend, Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import AdamState, adam_step, after_round
from cosmodag.solve.training.batch_rows import Passes, rows_at

Arrays = dict[str, Any]
"""The m distinct input arrays of each kind, stacked: ``data`` (m, n, d) and, optionally,
``support``, ``required``, ``gaps`` (m, d, d), and ``counted`` (m, n, 1) or (m, n, d)."""


def run_rounds(
    recipe: Recipe,
    state: AdamState,
    given: Arrays,
    which: dict[str, Any],
    seed: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> AdamState:
    """Train one problem over the rounds first … last − 1.

    Every random choice is a function of the seed and the round, so the result does not depend on
    how the rounds are divided over several calls.

    `given` contains the input arrays of a batch, and `which` the indices of this problem's arrays.
    All arguments except the recipe may be traced.
    """
    data = given["data"]
    n = data.shape[1]
    passes = Passes.over(n, recipe.batch_size)
    places = jnp.arange(passes.steps * passes.size).reshape(passes.steps, passes.size)
    support = given["support"][which["support"]] if "support" in given else 1.0
    prices = 1.0 - given["required"][which["required"]] if "required" in given else 1.0
    gradient_of = jax.value_and_grad(recipe.loss)

    def run_round(round: Any, state: AdamState) -> AdamState:
        before = state.parameters
        now = recipe.schedule(round, settings)
        begin = (round % passes.rounds) * places.size
        order = rows_at(seed, round // passes.rounds, begin + places.ravel(), n)
        order = order.reshape(places.shape)

        def run_batch(k: Any, carry: tuple[AdamState, Any]) -> tuple[AdamState, Any]:
            state, total = carry
            real = begin + places[k] < n
            x = data[which["data"], order[k]]
            counted = real.astype(x.dtype)[:, None]
            if "counted" in given:
                counted = counted * given["counted"][which["counted"], order[k]]
            loss, gradient = gradient_of(state.parameters, x, counted, now, support, prices)
            state = adam_step(state, gradient, now)
            if "gaps" in given:
                gaps = given["gaps"][which["gaps"]]
                state = state._replace(
                    parameters=recipe.structure.restrain(state.parameters, now, gaps)
                )
            return state, total + loss

        batches = passes.steps_from(begin)
        zero = jnp.zeros((), data.dtype)
        state, total = jax.lax.fori_loop(0, batches, run_batch, (state, zero))
        state = after_round(state, round, total / batches)
        if recipe.guard is None:
            return state
        return _undo_outside(recipe, before, state, round, now, support)

    return jax.lax.fori_loop(first, last, run_round, state)


def _undo_outside(
    recipe: Recipe,
    before: Parameters,
    state: AdamState,
    round: Any,
    settings: Settings,
    support: Any,
) -> AdamState:
    """Undo a round's change of the parameters if it violates the guard; keep Adam's moments."""
    assert recipe.guard is not None
    count, first = state.undone
    weights = recipe.structure.orient(state.parameters, settings, support)
    inside = recipe.guard.holds(jnp.sqrt(arc_squares(weights)), settings)
    keep = inside & (count < recipe.guard.patience(settings))
    return state._replace(
        parameters=jax.tree.map(partial(jnp.where, keep), state.parameters, before),
        undone=(
            count + (~keep).astype(jnp.int32),
            jnp.where(~keep & (first < 0), round, first).astype(jnp.int32),
        ),
    )


def run_many(recipe: Recipe, *arguments: Any) -> AdamState:
    """Train a batch by `run_rounds`; arguments other than inputs and rounds have a batch axis."""
    many = jax.vmap(partial(run_rounds, recipe), in_axes=(0, None, 0, 0, 0, None, None))
    return many(*arguments)


_run_many = jitted(static_argnums=0, donate_argnums=1)(run_many)


def _advance(batch: Batch, state: AdamState, first: int, last: int) -> AdamState:
    with on_device(batch.device):
        return _run_many(
            batch.recipe, state, batch.given, batch.which, batch.seeds, batch.settings, first, last
        )


# Five copies: S, W, the gradient, and temporaries of XLA; a test compares this with XLA's analysis.
REFERENCE = Backend("reference", lambda task: True, _advance, working_copies=5)
