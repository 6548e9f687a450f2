"""Kernels for one very large linear problem: a step of COSMO in two passes over H, tile by tile.

A step reads H twice and Adam's two moments once, and writes all three: seven passes over d²
numbers, and no other array of that size exists. The first kernel forms W = H ∘ S inside the product
x̂ = x W, and the norms of H on the way; the second forms each tile of the gradient G = xᵀ r and at
once moves that tile of H and of both moments, leaving behind only the sums of G ∘ W ∘ (1 − S) over
rows and over columns, from which the gradient of p is made.

H and the moments are stored with rows and columns of zeros up to a multiple of `UNIT`, which stay
zero: every tile is then whole, and every row begins where the memory likes it to.

They are Pallas kernels for Triton; with ``interpret=True`` they run anywhere, slowly.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from cosmodag.solver.kernels.gpu.arithmetic import (
    orientation,
    reciprocal,
    root,
    round_at_random,
    signed,
)

__all__ = [
    "UNIT",
    "Moved",
    "Predicted",
    "Rates",
    "Tiling",
    "move_arcs",
    "padded",
    "predict",
]

UNIT = 64
"""What the stored size of H is a multiple of; every measure of a tiling divides it."""


class Tiling(NamedTuple):
    """How the work is cut up; it changes speed, and results by rounding alone.

    Attributes
    ----------
    depth, width, splits, warps, stages
        Of the product: tiles of W are depth × width, and the sum over variables is cut into
        `splits` parts that run side by side.
    tall, wide, move_warps
        Of the update: tiles are tall × wide.
    span, busy
        Tiles below each other that one program of the update visits in turn, keeping what they
        share; fewer where this would leave fewer than `busy` programs.
    rows
        Rows of data multiplied at a time.
    """

    depth: int = 32
    width: int = 64
    splits: int = 10
    warps: int = 4
    stages: int = 3
    tall: int = 16
    wide: int = 64
    move_warps: int = 4
    span: int = 16
    busy: int = 1000
    rows: int = 64


class Rates(NamedTuple):
    """Scalars of one step, in the order in which the kernels read them.

    Attributes
    ----------
    sharpness
        log₂(e) / t, for powers of two in place of e.
    shift
        ε.
    loss_scale
        2 / (B d), from the mean in the loss.
    lambda1, ridge
        λ₁, and λ₂ / ‖H‖_F.
    fresh1, fresh2
        1 − β₁ and 1 − β₂, the shares of a new gradient in the moments.
    root_scale, floor
        With a = learning rate / (1 − β₁ᵏ): 1 / (a √(1 − β₂ᵏ)) and Adam's 10⁻⁸ / a, so that H moves
        by mean / (√square · root_scale + floor).
    """

    sharpness: Any
    shift: Any
    loss_scale: Any
    lambda1: Any
    ridge: Any
    fresh1: Any
    fresh2: Any
    root_scale: Any
    floor: Any


class Predicted(NamedTuple):
    """What the product returns, in parts.

    Attributes
    ----------
    parts
        (splits, d, b); their sum is x̂ᵀ.
    norm_parts
        (2, …); the sums are ‖H‖_F² and ‖H‖₁.
    """

    parts: jax.Array
    norm_parts: jax.Array


class Moved(NamedTuple):
    """What the update returns.

    Attributes
    ----------
    arcs, mean, square
        H and its moments after the step, in the memory of those given.
    order_parts
        (parts, d); their sum over parts is, up to `loss_scale` / t, the gradient of the fit with
        respect to p.
    """

    arcs: jax.Array
    mean: jax.Array
    square: jax.Array
    order_parts: jax.Array


def padded(d: int) -> int:
    """Size at which H is stored for d variables.

    Examples
    --------
    >>> padded(10_000)
    10048
    """
    return -(-d // UNIT) * UNIT


def predict(
    place: jax.Array,
    rates: jax.Array,
    rows: jax.Array,
    arcs: jax.Array,
    order: jax.Array,
    tiling: Tiling,
    interpret: bool = False,
) -> Predicted:
    """x̂ = x (H ∘ S) for one batch of rows, and the norms of H.

    Parameters
    ----------
    place : (1,) int32 array
        Which batch.
    rates : (9,) array
        `Rates`.
    rows : (batches, b, d) array
        Rows in the order of the epoch, b a multiple of `tiling.rows`.
    arcs, order : (d, d) and (d,) arrays
        H and p, padded.
    tiling : Tiling
    interpret : bool

    Returns
    -------
    Predicted
    """
    size, d = rows.shape[1:]
    splits = min(tiling.splits, d // tiling.depth)
    across = d // tiling.width
    predicted = pl.pallas_call(
        partial(_predict_kernel, tiling=tiling, splits=splits),
        grid=(across, splits, size // tiling.rows),
        out_shape=(_shape((splits, d, size)), _shape((2, splits, across))),
        compiler_params=triton.CompilerParams(num_warps=tiling.warps, num_stages=tiling.stages),
        interpret=interpret,
        name="cosmo_predict",
    )(place, rates, rows, arcs, order)
    return Predicted(*predicted)


def move_arcs(
    place: jax.Array,
    step: jax.Array,
    rates: jax.Array,
    columns: jax.Array,
    residuals: jax.Array,
    arcs: jax.Array,
    mean: jax.Array,
    square: jax.Array,
    order: jax.Array,
    tiling: Tiling,
    interpret: bool = False,
) -> Moved:
    """Move H and Adam's moments by one step, in place.

    Moments in bfloat16 are rounded at random, up or down in proportion to the distance, by a hash
    of the step and the arc: rounded to nearest, the second moment would never fall, since a step
    changes it by less than half a unit of its last place.

    Parameters
    ----------
    place, rates, order, tiling, interpret
        As for `predict`.
    step : (1,) int32 array
        Which step this is; seeds the rounding.
    columns : (batches, d, b) array
        The rows given to `predict`, transposed.
    residuals : (d, b) array
        (x̂ − x)ᵀ.
    arcs : (d, d) float32 array
        H.
    mean, square : (d, d) float32 or bfloat16 arrays
        Adam's moments of its gradient.

    Returns
    -------
    Moved
    """
    d = order.shape[0]
    down, across = d // tiling.tall, d // tiling.wide
    span = max(1, min(tiling.span, down * across // tiling.busy))
    groups = pl.cdiv(down, span)
    moved = pl.pallas_call(
        partial(_move_kernel, tiling=tiling, span=span),
        grid=(across, groups),
        out_shape=(
            *(_shape(array.shape, array.dtype) for array in (arcs, mean, square)),
            _shape((groups + across, d)),
        ),
        input_output_aliases={5: 0, 6: 1, 7: 2},
        compiler_params=triton.CompilerParams(num_warps=tiling.move_warps, num_stages=1),
        interpret=interpret,
        name="cosmo_move_arcs",
    )(place, step, rates, columns, residuals, arcs, mean, square, order)
    return Moved(*moved)


def _shape(shape: tuple[int, ...], dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def _predict_kernel(
    place: Any,
    rates: Any,
    rows: Any,
    arcs: Any,
    order: Any,
    parts: Any,
    norm_parts: Any,
    *,
    tiling: Tiling,
    splits: int,
) -> None:
    j, split, slab = (pl.program_id(axis) for axis in range(3))
    heads, some = pl.ds(j * tiling.width, tiling.width), pl.ds(slab * tiling.rows, tiling.rows)
    v = j * tiling.width + jnp.arange(tiling.width)
    p_v = order[heads]
    batch = place[0]
    tiles = order.shape[0] // tiling.depth
    each = pl.cdiv(tiles, splits)

    def in_thread(values: Any) -> Any:
        """Sum each four neighbours, which one thread holds: the rest waits until the end."""
        return jnp.sum(values.reshape(tiling.depth, tiling.width // 4, 4), axis=2)

    def add_tile(i: Any, sums: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        product, squares, magnitudes = sums
        tails = pl.ds(i * tiling.depth, tiling.depth)
        u = i * tiling.depth + jnp.arange(tiling.depth)
        h = arcs[tails, heads]
        w = h * orientation(order[tails], p_v[None, :], u, v, rates[0], rates[1])
        x = rows[batch, some, tails]
        return (
            product + jnp.dot(w.T, x.T),
            squares + in_thread(h * h),
            magnitudes + in_thread(jnp.abs(h)),
        )

    zeros = jnp.zeros((tiling.depth, tiling.width // 4), jnp.float32)
    nothing = jnp.zeros((tiling.width, tiling.rows), jnp.float32)
    first = split * each
    product, squares, magnitudes = jax.lax.fori_loop(
        first, jnp.minimum(first + each, tiles), add_tile, (nothing, zeros, zeros)
    )
    parts[split, heads, some] = product
    norm_parts[0, split, j] = jnp.sum(squares)
    norm_parts[1, split, j] = jnp.sum(magnitudes)


def _move_kernel(
    place: Any,
    step: Any,
    rates: Any,
    columns: Any,
    residuals: Any,
    arcs: Any,
    mean: Any,
    square: Any,
    order: Any,
    arcs_out: Any,
    mean_out: Any,
    square_out: Any,
    order_parts: Any,
    *,
    tiling: Tiling,
    span: int,
) -> None:
    j, group, groups = pl.program_id(0), pl.program_id(1), pl.num_programs(1)
    heads = pl.ds(j * tiling.wide, tiling.wide)
    v = j * tiling.wide + jnp.arange(tiling.wide)
    rate = Rates(*(rates[k] for k in range(len(Rates._fields))))
    batch = place[0]
    slabs = residuals.shape[1] // tiling.rows
    first_residuals = residuals[heads, pl.ds(0, tiling.rows)]

    def move_tile(i: Any, column_sums: Any) -> Any:
        tails = pl.ds(i * tiling.tall, tiling.tall)
        u = i * tiling.tall + jnp.arange(tiling.tall)
        h = arcs[tails, heads]
        m = mean[tails, heads].astype(jnp.float32)
        s2 = square[tails, heads].astype(jnp.float32)

        def add_slab(k: Any, total: Any) -> Any:
            some = pl.ds(k * tiling.rows, tiling.rows)
            return total + jnp.dot(residuals[heads, some], columns[batch, tails, some].T)

        fit = jnp.dot(first_residuals, columns[batch, tails, pl.ds(0, tiling.rows)].T)
        if slabs > 1:
            fit = jax.lax.fori_loop(1, slabs, add_slab, fit)

        # Left to itself, Triton would bring h, m and s2 into the layout of a product, and back,
        # rather than the product into theirs. So the product is transposed, which makes its layout
        # no better than another, and p_v is loaded for each row, after it: of such layouts, the
        # last one loaded decides. This was measured to save a tenth of the time.
        p_v = order[jnp.broadcast_to(v[None, :], (tiling.tall, tiling.wide))]
        s = orientation(order[tails], p_v, u, v, rate.sharpness, rate.shift)
        oriented = fit.T * s
        through = oriented * h
        q = through - through * s
        g = oriented * rate.loss_scale + (rate.ridge * h + signed(rate.lambda1, h))
        m = m + rate.fresh1 * (g - m)
        s2 = s2 + rate.fresh2 * (g * g - s2)
        arcs_out[tails, heads] = h - m * reciprocal(root(s2) * rate.root_scale + rate.floor)
        if mean.dtype != jnp.float32:
            m, s2 = round_at_random(m, s2, step[0], u, v)
        mean_out[tails, heads] = m.astype(mean.dtype)
        square_out[tails, heads] = s2.astype(square.dtype)
        order_parts[groups + j, tails] = -jnp.sum(q, axis=1)
        return column_sums + q

    first = group * span
    last = jnp.minimum(first + span, order.shape[0] // tiling.tall)
    nothing = jnp.zeros((tiling.tall, tiling.wide), jnp.float32)
    column_sums = jax.lax.fori_loop(first, last, move_tile, nothing)
    order_parts[group, heads] = jnp.sum(column_sums, axis=0)
