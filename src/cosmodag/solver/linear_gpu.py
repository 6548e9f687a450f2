"""Linear COSMO's epochs on a GPU, for one problem too large to leave to a compiler.

The same steps as `cosmodag.solver.loop`, for one recipe, in the two fused kernels of
`cosmodag.solver.tiles`. Besides H and Adam's two moments nothing of size d² is ever in memory, so
that d = 100,000 takes 112 GiB in single precision and 75 GiB with moments in bfloat16.
"""

import importlib.util
import math
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.solver.adam import State, adam_step
from cosmodag.solver.problems import Batch
from cosmodag.solver.schedules import anneal_temperature
from cosmodag.solver.shuffle import row_order
from cosmodag.structure import Settings

__all__ = ["SMALLEST", "advance", "applies", "start"]

SMALLEST = 500
"""Number of variables from which the kernels are used."""

_tables: WeakKeyDictionary[Batch, jax.Array] = WeakKeyDictionary()


def applies(batch: Batch) -> bool:
    """Whether a batch of linear COSMO is one large problem in single precision on a GPU."""
    return (
        batch.device.platform == "gpu"
        and batch.size == 1
        and batch.variables >= SMALLEST
        and batch.tables.dtype == np.float32
        and _has_triton()
    )


def start(batch: Batch, moments: Any = jnp.float32) -> State:
    """Initial state, with Adam's moments of H in the precision asked for.

    The draws are those of `Batch.start`. Each number is computed from its own place in H, so that
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
        state: State = _start(
            batch.recipe, batch.variables, jnp.dtype(moments), batch.seeds[0], _settings(batch)
        )
        return state


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
        Where it stands; its memory is used for the result.
    first, last : int
        The epochs to run.
    tiling : Tiling, optional
        How to cut up the work.
    interpret : bool
        Whether to run the kernels without a GPU, slowly.
    """
    from cosmodag.solver.tiles import DEFAULT_TILING

    if batch not in _tables:
        _tables[batch] = jax.device_put(batch.tables[batch.table[0]], batch.device)
    with jax.default_device(batch.device):
        result: State = _run_epochs(
            batch.recipe.batch_size,
            tiling or DEFAULT_TILING,
            interpret,
            state,
            _tables[batch],
            batch.seeds[0],
            _settings(batch),
            first,
            last,
        )
        return result


def _settings(batch: Batch) -> dict[str, Any]:
    return {name: values[0] for name, values in batch.settings.items()}


def _has_triton() -> bool:
    """Whether this JAX still has Pallas for Triton, which 0.11 announces will go one day."""
    return importlib.util.find_spec("jax.experimental.pallas.triton") is not None


@partial(jax.jit, static_argnums=(0, 1, 2))
def _start(recipe: Any, d: int, moments: Any, seed: Any, settings: Settings) -> State:
    parameters = jax.tree.map(lambda a: a[None], recipe.start(seed, d, settings))

    def zeros() -> dict[str, Any]:
        dtypes = {"arcs": moments, "order": jnp.float32}
        return {
            **parameters,
            **{group: jnp.zeros(parameters[group].shape, dtype) for group, dtype in dtypes.items()},
        }

    return State(
        parameters,
        zeros(),
        zeros(),
        jnp.zeros(1, jnp.int32),
        jnp.full(1, jnp.nan, jnp.float32),
        jnp.full(1, -1, jnp.int32),
    )


@partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=3)
def _run_epochs(
    batch_size: int,
    tiling: Any,
    interpret: bool,
    state: State,
    table: jax.Array,
    seed: Any,
    settings: Settings,
    first: Any,
    last: Any,
) -> State:
    from cosmodag.solver.tiles import Rates, move_arcs, predict

    n, d = table.shape
    size = min(batch_size, n)
    batches = math.ceil(n / size)
    state = jax.tree.map(lambda lanes: lanes[0], state)

    def run_epoch(epoch: Any, carry: tuple[State, Any]) -> tuple[State, Any]:
        state, norms = carry
        now = anneal_temperature(epoch, settings)
        rows = _rows_of_batches(table, row_order(seed, epoch, n), size, tiling.rows)

        def run_batch(k: Any, carry: tuple[State, Any, Any]) -> tuple[State, Any, Any]:
            state, norms, total = carry
            order = state.parameters["order"]
            step = state.step + 1
            entries = jnp.minimum(size, n - k * size).astype(jnp.float32) * d
            frobenius, one_norm = jnp.sqrt(norms[0]), norms[1]
            order_norm = jnp.sqrt(jnp.sum(order * order))
            rates = Rates(
                sharpness=math.log2(math.e) / now["temperature"],
                shift=now["shift"],
                loss_scale=2 / entries,
                lambda1=now["lambda1"],
                ridge=_quotient(now["lambda2"], frobenius),
                beta1=now["beta1"],
                beta2=now["beta2"],
                rate=now["learning_rate"] / (1 - now["beta1"] ** step),
                square_scale=1 / (1 - now["beta2"] ** step),
            )
            packed = jnp.stack([jnp.asarray(rate, jnp.float32) for rate in rates])
            place = jnp.reshape(k, 1).astype(jnp.int32)

            parts = predict(place, packed, rows, state.parameters["arcs"], order, tiling, interpret)
            residuals = jnp.sum(parts, axis=0) - rows[k]
            moved = move_arcs(
                place,
                jnp.reshape(step, 1),
                packed,
                rows,
                residuals,
                state.parameters["arcs"],
                state.mean["arcs"],
                state.square["arcs"],
                order,
                tiling,
                interpret,
            )
            pull = _quotient(now["lambda_p"], order_norm)
            fit = jnp.sum(moved.order_parts, axis=0) * (rates.loss_scale / now["temperature"])
            state = _move_order(state, fit + pull * order, now)
            state.parameters["arcs"], state.mean["arcs"], state.square["arcs"] = moved[:3]
            loss = (
                jnp.sum(residuals * residuals) / entries
                + now["lambda1"] * one_norm
                + now["lambda2"] * frobenius
                + now["lambda_p"] * order_norm
            )
            return state, jnp.sum(moved.norm_parts, axis=(1, 2)), total + loss

        zero = jnp.zeros((), jnp.float32)
        state, norms, total = jax.lax.fori_loop(0, batches, run_batch, (state, norms, zero))
        loss = total / batches
        broken = (state.diverged_at < 0) & ~jnp.isfinite(loss)
        diverged_at = jnp.where(broken, epoch, state.diverged_at).astype(jnp.int32)
        return state._replace(loss=loss, diverged_at=diverged_at), norms

    arcs = state.parameters["arcs"]
    norms = jnp.stack([jnp.sum(arcs * arcs), jnp.sum(jnp.abs(arcs))])
    state, _ = jax.lax.fori_loop(first, last, run_epoch, (state, norms))
    return jax.tree.map(lambda value: value[None], state)


def _rows_of_batches(table: jax.Array, order: jax.Array, size: int, multiple: int) -> jax.Array:
    """Rows of an epoch by batch, (batches, b, d), each batch filled up with rows of zeros.

    A row of zeros is predicted to be zero and leaves no trace in any product.
    """
    n = table.shape[0]
    wide = math.ceil(size / multiple) * multiple
    within = jnp.arange(wide)
    places = jnp.arange(math.ceil(n / size))[:, None] * size + within
    real = (within < size) & (places < n)
    return jnp.where(real[..., None], table[order[jnp.where(real, places, 0)]], 0)


def _quotient(numerator: Any, norm: Any) -> Any:
    """Penalty's pull λ / ‖·‖, zero where the norm is."""
    return jnp.where(norm > 0, numerator / jnp.where(norm > 0, norm, 1), 0)


def _move_order(state: State, gradient: Any, settings: Settings) -> State:
    """Count the step and move p by Adam; H and its moments are left to the caller."""
    small = State(
        *({"order": group["order"]} for group in (state.parameters, state.mean, state.square)),
        *state[3:],
    )
    moved = adam_step(small, {"order": gradient}, settings)
    return State(*(old | new for old, new in zip(state[:3], moved[:3], strict=True)), *moved[3:])
