"""Linear COSMO on a GPU, for many small problems: one kernel program per problem.

The rounds are those of the reference loop, `cosmodag.solve.training.loop`. XLA's program for a step
of thousands of problems makes a dozen passes over their memory; here one Pallas kernel for Triton
runs a whole round, in which every problem's H, p and Adam's moments stay in the registers of one
multiprocessor. With ``interpret=True`` it runs on any device, but slowly.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cosmodag.model.structure import Settings
from cosmodag.runtime.devices import on_device
from cosmodag.solve.kernels.gpu.shared import (
    array_like,
    is_linear_cosmo,
    missing_pallas,
    orientation,
    packed,
    pull,
    reciprocal,
    root,
    signed,
)
from cosmodag.solve.problems import Backend, Batch, Task
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.adam import EPSILON, AdamState, after_round
from cosmodag.solve.training.batch_rows import Passes, rows_at


class RoundScalars(NamedTuple):
    """Scalars of one problem in one round, in the order in which the kernel reads them."""

    temperature: Any
    shift: Any
    lambda1: Any
    lambda2: Any
    lambda_p: Any
    learning_rate: Any
    priority_learning_rate: Any
    beta1: Any
    beta2: Any
    power1: Any  # β₁ᵏ after k steps
    power2: Any  # β₂ᵏ


def _one_round(
    state: AdamState, count: Any, scalars: Any, orders: Any, rows: Any, size: int, interpret: bool
) -> tuple[AdamState, jax.Array]:
    """Run one round of every problem.

    `orders` are indices into `rows`, the rows of all tables; the first `count` of each problem are
    visited.
    """
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    groups = (state.parameters, state.mean, state.square)
    arrays = [group[name] for name in ("arcs", "order") for group in groups]
    problems, d = arrays[-1].shape
    # On tiles this small, more threads would only repeat the same work.
    warps = 2 if _power_of_two(d) <= 32 else 4
    *moved, loss = pl.pallas_call(
        partial(_round_kernel, size=size),
        grid=(problems,),
        out_shape=(*(array_like(array.shape) for array in arrays), array_like((problems,))),
        input_output_aliases={4 + place: place for place in range(6)},
        compiler_params=triton.CompilerParams(num_warps=warps, num_stages=1),
        interpret=interpret,
        name="cosmo_round",
    )(count, scalars, orders, rows, *arrays)
    changed = [
        {**group, "arcs": arcs, "order": order}
        for group, arcs, order in zip(groups, moved[:3], moved[3:], strict=True)
    ]
    return state._replace(parameters=changed[0], mean=changed[1], square=changed[2]), loss


def _round_kernel(
    count: Any, scalars: Any, orders: Any, rows: Any, *arrays: Any, size: int
) -> None:
    """Run a round; `arrays` are H, p and their moments before it, the same after it, and losses."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    *before_and_after, losses = arrays
    before, after = before_and_after[:6], before_and_after[6:]
    lane = pl.program_id(0)
    n, d = count[0], rows.shape[1]
    wide, tall = _power_of_two(d), _power_of_two(size)
    v = jnp.arange(wide)
    inside = v < d
    square_inside = inside[:, None] & inside[None, :]
    now = RoundScalars(*(scalars[lane, k] for k in range(len(RoundScalars._fields))))
    within = jnp.arange(tall)

    # Indices, not slices: JAX refuses a slice that is longer than its axis, even if it is masked.
    def whole(array: Any, ndim: int) -> tuple[Any, Any]:
        at = (lane, v[:, None], v[None, :]) if ndim == 2 else (lane, v)
        return _at(array, *at), square_inside if ndim == 2 else inside

    def load(array: Any, ndim: int) -> Any:
        place, mask = whole(array, ndim)
        return triton.load(place, mask=mask, other=0.0)

    def store(array: Any, values: Any) -> None:
        place, mask = whole(array, values.ndim)
        triton.store(place, values, mask=mask)

    def batch_of(k: Any) -> Any:
        places = k * size + within
        real = (within < size) & (places < n)
        chosen = triton.load(_at(orders, lane, places), mask=real, other=0)
        place = _at(rows, chosen[:, None], v[None, :])
        return triton.load(place, mask=real[:, None] & inside[None, :], other=0.0)

    sharpness = math.log2(math.e) / now.temperature

    def run_batch(k: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        h, m, s2, p, p_m, p_s2, power1, power2, errors, magnitudes, norms = carry
        scale = 1 / (jnp.minimum(size, n - k * size).astype(jnp.float32) * d)
        x = batch_of(k)
        s = orientation(p, p[None, :], v, v, sharpness, now.shift)
        r = jnp.dot(x, h * s) - x
        oriented = jnp.dot(x.T, r) * s
        through = oriented * h
        q = through - through * s
        frobenius, order_norm = jnp.sqrt(jnp.sum(h * h)), jnp.sqrt(jnp.sum(p * p))
        ridge = pull(now.lambda2, frobenius)
        g = oriented * (2 * scale) + (ridge * h + signed(now.lambda1, h))
        p_fit = (jnp.sum(q, axis=0) - jnp.sum(q, axis=1)) * (2 * scale / now.temperature)
        p_g = p_fit + pull(now.lambda_p, order_norm) * p
        power1, power2 = power1 * now.beta1, power2 * now.beta2

        def moved(value: Any, mean: Any, square: Any, g: Any, speed: Any) -> tuple[Any, Any, Any]:
            speed = (1 - power1) / speed
            mean = mean + (1 - now.beta1) * (g - mean)
            square = square + (1 - now.beta2) * (g * g - square)
            slowness = root(square) * (speed * jax.lax.rsqrt(1 - power2)) + EPSILON * speed
            return value - mean * reciprocal(slowness), mean, square

        return (
            *moved(h, m, s2, g, now.learning_rate),
            *moved(p, p_m, p_s2, p_g, now.priority_learning_rate),
            power1,
            power2,
            errors + jnp.sum(r * r, axis=1) * scale,
            magnitudes + jnp.sum(jnp.abs(h), axis=1),
            norms + now.lambda2 * frobenius + now.lambda_p * order_norm,
        )

    carry = (
        *(load(array, 2) for array in before[:3]),
        *(load(array, 1) for array in before[3:]),
        now.power1,
        now.power2,
        jnp.zeros(tall, jnp.float32),
        jnp.zeros(wide, jnp.float32),
        jnp.float32(0),
    )
    batches = pl.cdiv(n, size)
    *state, _, _, errors, magnitudes, norms = jax.lax.fori_loop(0, batches, run_batch, carry)
    total = jnp.sum(errors) + now.lambda1 * jnp.sum(magnitudes) + norms
    for output, values in zip(after, state, strict=True):
        store(output, values)
    losses[lane] = total / batches


def _at(array: Any, *indices: Any) -> Any:
    """Refer to entries of an array, by indices that are broadcast to one shape, as Triton needs."""
    shape = jnp.broadcast_shapes(*(jnp.shape(index) for index in indices))
    return array.at[tuple(jnp.broadcast_to(index, shape) for index in indices)]


def _power_of_two(size: int) -> int:
    """Smallest power of two that is at least a size and at least 16, as products require."""
    return max(16, 1 << (size - 1).bit_length())


LARGEST = 64
"""Maximum number of variables for which the kernel is used."""

# Maximum number of rows per step, which must fit in registers.
_MOST_ROWS = 128


def implements(task: Task) -> bool:
    """Whether a task is small problems of linear COSMO without optional inputs, on a GPU."""
    return (
        task.variables <= LARGEST
        and Passes.over(task.rows, task.recipe.batch_size).size <= _MOST_ROWS
        and not task.features
        and is_linear_cosmo(task)
    )


def advance(
    batch: Batch, state: AdamState, first: int, last: int, interpret: bool = False
) -> AdamState:
    """Train a batch over the rounds first … last − 1; the memory of the state is reused.

    Products use TF32 unless JAX's default matmul precision is set otherwise.
    """
    with on_device(batch.device):
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
        state, loss = _one_round(
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
