"""Linear COSMO's epochs on a GPU, for one problem too large to leave to a compiler.

The same steps as `cosmodag.solver.training.loop`, for one recipe, in the two fused kernels of
`cosmodag.solver.kernels.gpu.tiles`. Besides H and Adam's two moments nothing of size d² is ever in memory: at
d = 100,000 they are 112 GiB in single precision, and 75 GiB with moments in bfloat16.

H and its moments are stored padded with zeros (`cosmodag.solver.kernels.gpu.tiles.padded`): cut
``arcs[..., :d, :d]`` out of a state that comes from here.
"""

import importlib.util
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.mechanism import Linear
from cosmodag.objective import cosmo_objective
from cosmodag.solver.problems import Batch
from cosmodag.solver.training.adam import EPSILON, State, adam_step
from cosmodag.solver.training.schedules import anneal_temperature
from cosmodag.solver.training.shuffle import row_order
from cosmodag.structure import Parameters, Priority, Settings

__all__ = ["SMALLEST", "advance", "applies", "has_kernels", "parameters", "start"]

SMALLEST = 200
"""Number of variables from which the kernels were found faster than what XLA makes of the loop."""


def applies(batch: Batch) -> bool:
    """Whether a batch is one large problem of linear COSMO in single precision on a GPU."""
    return batch.size == 1 and batch.variables >= SMALLEST and has_kernels(batch)


def has_kernels(batch: Batch) -> bool:
    """Whether kernels are written for a batch's recipe, precision and device.

    They need Pallas for Triton, which JAX 0.11 announces it will drop one day.
    """
    recipe = batch.recipe
    return (
        batch.device.platform == "gpu"
        and batch.tables.dtype == np.float32
        and isinstance(recipe.structure, Priority)
        and isinstance(recipe.mechanism, Linear)
        and recipe.objective is cosmo_objective
        and recipe.schedule is anneal_temperature
        and recipe.guard is None
        and importlib.util.find_spec("jax.experimental.pallas.triton") is not None
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
    tiling: Any = None,
    interpret: bool = False,
) -> State:
    """Train a batch of one problem over the epochs first … last − 1.

    Products are in TF32 unless JAX's default matmul precision says otherwise.

    Parameters
    ----------
    batch : Batch
        One problem of linear COSMO.
    state : State
        Where it stands; its memory is used for the result. It may be unpadded, which takes the
        memory of a copy.
    first, last : int
        The epochs to run.
    tiling : Tiling, optional
        How to cut up the work.
    interpret : bool
        Whether to run the kernels without a GPU, slowly.

    Returns
    -------
    State
        Padded.
    """
    from cosmodag.solver.kernels.gpu.tiles import Tiling

    with jax.default_device(batch.device):
        result: State = _run_epochs(
            batch.recipe.batch_size,
            tiling or Tiling(),
            interpret,
            _pad_state(state),
            batch.tables,
            batch.table[0],
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
def _start(recipe: Any, d: int, moments: Any, seed: Any, settings: Settings) -> State:
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
    from cosmodag.solver.kernels.gpu.tiles import padded

    more = padded(arcs.shape[-1]) - arcs.shape[-1]
    return jnp.pad(arcs, ((0, 0), (0, more), (0, more))) if more else arcs


def _pad_state(state: State) -> State:
    """Pad H and its moments one after the other, each let go as soon as its copy is made."""

    def pad_group(group: Parameters) -> Parameters:
        arcs = group["arcs"]
        wide = _pad(arcs)
        if wide is not arcs:
            arcs.delete()
        return {**group, "arcs": wide}

    return _on_groups(pad_group, state)


@partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=3)
def _run_epochs(
    batch_size: int,
    tiling: Any,
    interpret: bool,
    state: State,
    tables: jax.Array,
    place: Any,
    seed: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> State:
    n = tables.shape[1]
    size = min(batch_size, n)
    batches = math.ceil(n / size)
    d = state.parameters["order"].shape[1]
    state = jax.tree.map(lambda lanes: lanes[0], state)
    more = state.parameters["arcs"].shape[0] - d
    table = jnp.pad(tables[place], ((0, 0), (0, more)))
    state = _on_order(lambda order: jnp.pad(order, (0, more)), state)

    def run_epoch(epoch: Any, state: State) -> State:
        now = anneal_temperature(epoch, settings)
        # Without the barriers XLA would work out the order anew for every number it copies, in a
        # program that takes minutes to compile.
        order = _settled(row_order(seed, epoch, n))
        rows = _settled(_rows_of_batches(table, order, size, tiling.rows))
        columns = jnp.swapaxes(rows, 1, 2)

        def run_batch(k: Any, carry: tuple[State, Any]) -> tuple[State, Any]:
            state, total = carry
            entries = jnp.minimum(size, n - k * size).astype(jnp.float32) * d
            state, loss = _step(state, rows, columns, k, entries, now, tiling, interpret)
            return state, total + loss

        zero = jnp.zeros((), jnp.float32)
        state, total = jax.lax.fori_loop(0, batches, run_batch, (state, zero))
        loss = total / batches
        broken = (state.diverged_at < 0) & ~jnp.isfinite(loss)
        diverged_at = jnp.where(broken, epoch, state.diverged_at).astype(jnp.int32)
        return state._replace(loss=loss, diverged_at=diverged_at)

    state = jax.lax.fori_loop(first, last, run_epoch, state)
    state = _on_order(lambda order: order[:d], state)
    stacked: State = jax.tree.map(lambda value: value[None], state)
    return stacked


def _step(
    state: State,
    rows: jax.Array,
    columns: jax.Array,
    k: Any,
    entries: Any,
    now: Settings,
    tiling: Any,
    interpret: bool,
) -> tuple[State, jax.Array]:
    """One step, on batch k of an epoch with so many entries in it, and the objective before it."""
    from cosmodag.solver.kernels.gpu.tiles import Rates, move_arcs, predict

    arcs, order = state.parameters["arcs"], state.parameters["order"]
    step = state.step + 1
    rate = now["learning_rate"] / (1 - now["beta1"] ** step)
    rates = Rates(
        sharpness=math.log2(math.e) / now["temperature"],
        shift=now["shift"],
        loss_scale=2 / entries,
        lambda1=now["lambda1"],
        ridge=0.0,
        fresh1=1 - now["beta1"],
        fresh2=1 - now["beta2"],
        root_scale=1 / (rate * jnp.sqrt(1 - now["beta2"] ** step)),
        floor=EPSILON / rate,
    )
    place = jnp.reshape(k, 1).astype(jnp.int32)

    parts, norm_parts = predict(place, _packed(rates), rows, arcs, order, tiling, interpret)
    residuals = jnp.sum(parts, axis=0) - columns[k]
    squares, magnitudes = jnp.sum(norm_parts, axis=(1, 2))
    frobenius, order_norm = jnp.sqrt(squares), jnp.sqrt(jnp.sum(order * order))
    rates = rates._replace(ridge=_pull(now["lambda2"], frobenius))

    *moved, order_parts = move_arcs(
        place,
        jnp.reshape(step, 1),
        _packed(rates),
        columns,
        residuals,
        arcs,
        state.mean["arcs"],
        state.square["arcs"],
        order,
        tiling,
        interpret,
    )
    fit = jnp.sum(order_parts, axis=0) * (rates.loss_scale / now["temperature"])
    state = _move_order(state, fit + _pull(now["lambda_p"], order_norm) * order, now)
    arrays = iter(moved)
    state = _on_groups(lambda group: {**group, "arcs": next(arrays)}, state)
    loss = (
        jnp.sum(residuals * residuals) / entries
        + now["lambda1"] * magnitudes
        + now["lambda2"] * frobenius
        + now["lambda_p"] * order_norm
    )
    return state, loss


def _rows_of_batches(table: jax.Array, order: jax.Array, size: int, multiple: int) -> jax.Array:
    """Rows of an epoch by batch, (batches, b, d), each batch filled up with rows of zeros.

    A row of zeros is predicted to be zero and leaves no trace in any product.
    """
    n = table.shape[0]
    within = jnp.arange(math.ceil(size / multiple) * multiple)
    places = jnp.arange(math.ceil(n / size))[:, None] * size + within
    real = (within < size) & (places < n)
    return jnp.where(real[..., None], table[order[jnp.where(real, places, 0)]], 0)


def _packed(rates: Any) -> jax.Array:
    return jnp.stack([jnp.asarray(rate, jnp.float32) for rate in rates])


def _pull(strength: Any, norm: Any) -> Any:
    """λ / ‖·‖, the factor in the gradient of a norm; zero where the norm is."""
    return jnp.where(norm > 0, strength / jnp.where(norm > 0, norm, 1), 0)


def _settled(values: jax.Array) -> jax.Array:
    """Values that are worked out once and not merged into what uses them."""
    settled: jax.Array = jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return settled


def _on_groups(change: Callable[[Parameters], Parameters], state: State) -> State:
    """Change the parameters and both moments alike."""
    return state._replace(
        parameters=change(state.parameters), mean=change(state.mean), square=change(state.square)
    )


def _on_order(change: Callable[[jax.Array], jax.Array], state: State) -> State:
    """Change p and its moments."""
    return _on_groups(lambda group: {**group, "order": change(group["order"])}, state)


def _move_order(state: State, gradient: Any, settings: Settings) -> State:
    """Count the step and move p by Adam; H and its moments are left to the caller."""
    small = _on_groups(lambda group: {"order": group["order"]}, state)
    moved = adam_step(small, {"order": gradient}, settings)
    return moved._replace(
        parameters=state.parameters | moved.parameters,
        mean=state.mean | moved.mean,
        square=state.square | moved.square,
    )
