"""Rounds of one very large linear problem: two kernels per step and the code between them."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cosmodag.model.structure import Parameters, Settings
from cosmodag.solve.kernels.gpu.shared import TileScalars, Tiling, packed, pull
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import EPSILON, AdamState, adam_step, after_round
from cosmodag.solve.training.loop import Arrays
from cosmodag.solve.training.rows import Passes, rows_at


class _Table(NamedTuple):
    """Input arrays of one problem, padded to the stored size of H."""

    data: jax.Array  # (n, stored size)
    counted: jax.Array | None  # (n, 1) or (n, stored size); None if every entry counts once
    support: jax.Array | None  # int8, of the stored size; None if every arc may exist
    variables: int  # d


class _RoundRows(NamedTuple):
    """The rows of a round by batch, each padded to a multiple of the tiling's rows.

    A row of zeros has zero residuals and does not contribute to any product.
    """

    rows: jax.Array  # (batches, b, stored size)
    columns: jax.Array  # the same transposed
    counted: jax.Array | None  # (batches, 1 or stored size, b)
    entries: jax.Array  # (batches,): Σ c over the entries of each batch


@partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=3)
def run_rounds(
    recipe: Recipe,
    tiling: Tiling,
    interpret: bool,
    state: AdamState,
    given: Arrays,
    which: dict[str, Any],
    seed: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> AdamState:
    """Train one problem, a batch of one lane, over the rounds first … last − 1.

    The arguments are those of `cosmodag.solve.training.loop.run_rounds`; the state is padded.
    """
    d = state.parameters["order"].shape[1]
    state = jax.tree.map(lambda lanes: lanes[0], state)
    more = state.parameters["arcs"].shape[0] - d
    table = _padded_table(given, which, more)
    passes = Passes.over(table.data.shape[0], recipe.batch_size)
    state = _on_order(lambda order: jnp.pad(order, (0, more)), state)

    def run_round(round: Any, state: AdamState) -> AdamState:
        now = recipe.schedule(round, settings)
        begin = (round % passes.rounds) * (passes.steps * passes.size)
        rows = _rows_of_round(table, passes, seed, round // passes.rounds, begin, tiling.rows)

        def run_batch(k: Any, carry: tuple[AdamState, Any]) -> tuple[AdamState, Any]:
            state, total = carry
            state, loss = _step(state, rows, k, now, table.support, tiling, interpret)
            return state, total + loss

        batches = passes.steps_from(begin)
        zero = jnp.zeros((), jnp.float32)
        state, total = jax.lax.fori_loop(0, batches, run_batch, (state, zero))
        return after_round(state, round, total / batches)

    state = jax.lax.fori_loop(first, last, run_round, state)
    state = _on_order(lambda order: order[:d], state)
    return jax.tree.map(lambda value: value[None], state)


def _padded_table(given: Arrays, which: dict[str, Any], more: int) -> _Table:
    data = given["data"][which["data"]]
    counted = support = None
    if "counted" in given:
        counted = given["counted"][which["counted"]]
        if counted.shape[1] > 1:
            counted = jnp.pad(counted, ((0, 0), (0, more)))
    if "support" in given:
        allowed = (given["support"][which["support"]] != 0).astype(jnp.int8)
        support = _settled(jnp.pad(allowed, ((0, more), (0, more))))
    return _Table(jnp.pad(data, ((0, 0), (0, more))), counted, support, data.shape[1])


def _rows_of_round(
    table: _Table, passes: Passes, seed: Any, number: Any, begin: Any, multiple: int
) -> _RoundRows:
    """Rows that pass `number` visits in the round that begins at position `begin`."""
    within = jnp.arange(math.ceil(passes.size / multiple) * multiple)
    positions = begin + jnp.arange(passes.steps)[:, None] * passes.size + within
    real = (within < passes.size) & (positions < passes.rows)
    # Without the barriers, XLA would recompute the order for every number it copies, in a program
    # that takes minutes to compile.
    order = _settled(rows_at(seed, number, positions.ravel(), passes.rows)).reshape(real.shape)
    rows = _settled(jnp.where(real[..., None], table.data[order], 0))
    columns = jnp.swapaxes(rows, 1, 2)
    if table.counted is None:
        entries = jnp.sum(real, axis=1).astype(jnp.float32) * table.variables
        return _RoundRows(rows, columns, None, entries)
    counted = _settled(jnp.where(real[..., None], table.counted[order], 0))
    each = table.variables if counted.shape[2] == 1 else 1
    entries = jnp.sum(counted, axis=(1, 2)) * each
    return _RoundRows(rows, columns, jnp.swapaxes(counted, 1, 2), entries)


def _step(
    state: AdamState,
    rows: _RoundRows,
    k: Any,
    now: Settings,
    support: jax.Array | None,
    tiling: Tiling,
    interpret: bool,
) -> tuple[AdamState, jax.Array]:
    """One step, on batch k of a round, and the objective before it."""
    from cosmodag.solve.kernels.gpu.tiles import move_arcs, predict  # which imports Pallas

    arcs, order = state.parameters["arcs"], state.parameters["order"]
    step = state.step + 1
    scalars = _scalars_of(step, rows.entries[k], now)
    place = jnp.reshape(k, 1).astype(jnp.int32)

    parts, norm_parts = predict(
        place, packed(scalars), rows.rows, arcs, order, support, tiling, interpret
    )
    residuals = jnp.sum(parts, axis=0) - rows.columns[k]
    weighted = residuals if rows.counted is None else residuals * rows.counted[k]
    squares, magnitudes = jnp.sum(norm_parts, axis=(1, 2))
    frobenius, order_norm = jnp.sqrt(squares), jnp.sqrt(jnp.sum(order * order))
    scalars = scalars._replace(ridge=pull(now["lambda2"], frobenius))

    *moved, order_parts = move_arcs(
        place,
        jnp.reshape(step, 1),
        packed(scalars),
        rows.columns,
        weighted,
        arcs,
        state.mean["arcs"],
        state.square["arcs"],
        order,
        support,
        tiling,
        interpret,
    )
    fit = jnp.sum(order_parts, axis=0) * (scalars.loss_scale / now["temperature"])
    state = _move_order(state, fit + pull(now["lambda_p"], order_norm) * order, now)
    arrays = iter(moved)
    state = on_groups(lambda group: {**group, "arcs": next(arrays)}, state)
    loss = (
        jnp.sum(weighted * residuals) * (0.5 * scalars.loss_scale)
        + now["lambda1"] * magnitudes
        + now["lambda2"] * frobenius
        + now["lambda_p"] * order_norm
    )
    return state, loss


def _scalars_of(step: Any, entries: Any, now: Settings) -> TileScalars:
    """Scalars of a step, from the weighted number of entries; the norm of H is not known yet."""
    rate = now["learning_rate"] / (1 - now["beta1"] ** step)
    return TileScalars(
        sharpness=math.log2(math.e) / now["temperature"],
        shift=now["shift"],
        loss_scale=pull(2.0, entries),  # zero if no entry counts
        lambda1=now["lambda1"],
        ridge=0.0,
        fresh1=1 - now["beta1"],
        fresh2=1 - now["beta2"],
        root_scale=1 / (rate * jnp.sqrt(1 - now["beta2"] ** step)),
        floor=EPSILON / rate,
    )


def _settled(values: jax.Array) -> jax.Array:
    """Compute values once; an optimisation barrier keeps XLA from fusing them into their uses."""
    return jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]


def on_groups(change: Callable[[Parameters], Parameters], state: AdamState) -> AdamState:
    """Apply a function to the parameters and to both moments."""
    return state._replace(
        parameters=change(state.parameters), mean=change(state.mean), square=change(state.square)
    )


def _on_order(change: Callable[[jax.Array], jax.Array], state: AdamState) -> AdamState:
    """Apply a function to p and its moments."""
    return on_groups(lambda group: {**group, "order": change(group["order"])}, state)


def _move_order(state: AdamState, gradient: Any, settings: Settings) -> AdamState:
    """Count the step and move p by Adam; H and its moments are left to the caller."""
    small = on_groups(lambda group: {"order": group["order"]}, state)
    moved = adam_step(small, {"order": gradient}, settings)
    return moved._replace(
        parameters=state.parameters | moved.parameters,
        mean=state.mean | moved.mean,
        square=state.square | moved.square,
    )
