"""Pallas kernels for one very large linear problem, tile by tile; a step runs both in turn.

A step of COSMO reads H twice and Adam's two moments once, and writes all three: seven passes over
d² numbers, and no other array has that size. `predict` forms W = H ∘ S inside the product x̂ = x W,
and also computes the norms of H. `move_arcs` forms each tile of the gradient G = xᵀ r and updates
that tile of H and of both moments at once. G is not stored, only the sums of G ∘ W ∘ (1 − S) over
rows and over columns, from which the gradient of p is computed.

The kernels are compiled by Triton; with ``interpret=True`` they run on any device, but slowly.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from cosmodag.solve.kernels.gpu.shared import (
    TileScalars,
    Tiling,
    array_like,
    orientation,
    reciprocal,
    root,
    signed,
)


def predict(
    place: jax.Array,
    scalars: jax.Array,
    rows: jax.Array,
    arcs: jax.Array,
    order: jax.Array,
    support: jax.Array | None,
    tiling: Tiling,
    interpret: bool = False,
) -> tuple[jax.Array, jax.Array]:
    """Compute x̂ = x (H ∘ S) for one batch of rows, and the norms of H; all arrays are padded.

    The batch is number `place`, (1,), of the `rows`, (batches, b, d), where b is a multiple of
    `tiling.rows`; the scalars are `TileScalars`. The support is int8, zero at arcs that may not
    exist; None selects a variant of the kernel that reads one array less. The sum of the first
    result, (splits, d, b), over splits is x̂ᵀ; the sums of the second, (2, …), are ‖H‖_F² and ‖H‖₁.
    """
    size, d = rows.shape[1:]
    splits = min(tiling.splits, d // tiling.depth)
    across = d // tiling.width
    given = () if support is None else (support,)
    return pl.pallas_call(
        partial(_predict_kernel, tiling=tiling, splits=splits),
        grid=(across, splits, size // tiling.rows),
        out_shape=(array_like((splits, d, size)), array_like((2, splits, across))),
        compiler_params=triton.CompilerParams(num_warps=tiling.warps, num_stages=tiling.stages),
        interpret=interpret,
        name="cosmo_predict",
    )(place, scalars, rows, arcs, order, *given)


def _predict_kernel(
    place: Any,
    scalars: Any,
    rows: Any,
    arcs: Any,
    order: Any,
    *support_and_outputs: Any,
    tiling: Tiling,
    splits: int,
) -> None:
    *support, parts, norm_parts = support_and_outputs
    j, split, slab = (pl.program_id(axis) for axis in range(3))
    heads, some = pl.ds(j * tiling.width, tiling.width), pl.ds(slab * tiling.rows, tiling.rows)
    v = j * tiling.width + jnp.arange(tiling.width)
    p_v = order[heads]
    batch = place[0]
    tiles = order.shape[0] // tiling.depth
    each = pl.cdiv(tiles, splits)

    def in_thread(values: Any) -> Any:
        """Sum groups of four neighbours within a thread; the sum over groups follows at the end."""
        return jnp.sum(values.reshape(tiling.depth, tiling.width // 4, 4), axis=2)

    def add_tile(i: Any, sums: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        product, squares, magnitudes = sums
        tails = pl.ds(i * tiling.depth, tiling.depth)
        u = i * tiling.depth + jnp.arange(tiling.depth)
        h = arcs[tails, heads]
        w = h * orientation(order[tails], p_v[None, :], u, v, scalars[0], scalars[1])
        for allowed in support:
            w = w * allowed[tails, heads].astype(jnp.float32)
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


def move_arcs(
    place: jax.Array,
    scalars: jax.Array,
    columns: jax.Array,
    residuals: jax.Array,
    arcs: jax.Array,
    mean: jax.Array,
    square: jax.Array,
    order: jax.Array,
    support: jax.Array | None,
    tiling: Tiling,
    interpret: bool = False,
) -> tuple[jax.Array, ...]:
    """Update H and Adam's moments by one step, in place.

    The `columns` are the rows given to `predict`, transposed; the residuals, (d, b), are (x̂ − x)ᵀ,
    each entry multiplied by its weight. The result is H, its moments, and an array (parts, d),
    whose sum over parts is, up to `loss_scale` / t, the gradient of the loss with respect to p.
    """
    d = order.shape[0]
    down, across = d // tiling.tall, d // tiling.wide
    span = max(1, min(tiling.span, down * across // tiling.busy))
    groups = pl.cdiv(down, span)
    given = () if support is None else (support,)
    return pl.pallas_call(
        partial(_move_kernel, tiling=tiling, span=span),
        grid=(across, groups),
        out_shape=(
            *(array_like(arcs.shape) for _ in range(3)),
            array_like((groups + across, d)),
        ),
        input_output_aliases={4: 0, 5: 1, 6: 2},
        compiler_params=triton.CompilerParams(num_warps=tiling.move_warps, num_stages=1),
        interpret=interpret,
        name="cosmo_move_arcs",
    )(place, scalars, columns, residuals, arcs, mean, square, order, *given)


def _move_kernel(
    place: Any,
    scalars: Any,
    columns: Any,
    residuals: Any,
    arcs: Any,
    mean: Any,
    square: Any,
    order: Any,
    *support_and_outputs: Any,
    tiling: Tiling,
    span: int,
) -> None:
    *support, arcs_out, mean_out, square_out, order_parts = support_and_outputs
    j, group, groups = pl.program_id(0), pl.program_id(1), pl.num_programs(1)
    heads = pl.ds(j * tiling.wide, tiling.wide)
    v = j * tiling.wide + jnp.arange(tiling.wide)
    now = TileScalars(*(scalars[k] for k in range(len(TileScalars._fields))))
    batch = place[0]
    slabs = residuals.shape[1] // tiling.rows
    first_residuals = residuals[heads, pl.ds(0, tiling.rows)]

    def move_tile(i: Any, column_sums: Any) -> Any:
        tails = pl.ds(i * tiling.tall, tiling.tall)
        u = i * tiling.tall + jnp.arange(tiling.tall)
        h = arcs[tails, heads]
        m = mean[tails, heads]
        s2 = square[tails, heads]

        def add_slab(k: Any, total: Any) -> Any:
            some = pl.ds(k * tiling.rows, tiling.rows)
            return total + jnp.dot(residuals[heads, some], columns[batch, tails, some].T)

        fit = jnp.dot(first_residuals, columns[batch, tails, pl.ds(0, tiling.rows)].T)
        if slabs > 1:
            fit = jax.lax.fori_loop(1, slabs, add_slab, fit)

        # By default, Triton converts h, m and s2 to the layout of the product and back, instead of
        # converting the product. Transposing the product makes all layouts equally good; Triton
        # then takes the layout of the last load, so p_v is loaded for each row after it. This was
        # measured to save a tenth of the time.
        p_v = order[jnp.broadcast_to(v[None, :], (tiling.tall, tiling.wide))]
        s = orientation(order[tails], p_v, u, v, now.sharpness, now.shift)
        oriented = fit.T * s
        for allowed in support:
            oriented = oriented * allowed[tails, heads].astype(jnp.float32)
        through = oriented * h
        q = through - through * s
        g = oriented * now.loss_scale + (now.ridge * h + signed(now.lambda1, h))
        m = m + now.fresh1 * (g - m)
        s2 = s2 + now.fresh2 * (g * g - s2)
        arcs_out[tails, heads] = h - m * reciprocal(root(s2) * now.root_scale + now.floor)
        mean_out[tails, heads] = m
        square_out[tails, heads] = s2
        order_parts[groups + j, tails] = -jnp.sum(q, axis=1)
        return column_sums + q

    first = group * span
    last = jnp.minimum(first + span, order.shape[0] // tiling.tall)
    nothing = jnp.zeros((tiling.tall, tiling.wide), jnp.float32)
    column_sums = jax.lax.fori_loop(first, last, move_tile, nothing)
    order_parts[group, heads] = jnp.sum(column_sums, axis=0)
