"""Kernel for one very large linear problem: x̂ = x (H ∘ S), tile by tile.

A step of COSMO reads H twice and Adam's two moments once, and writes all three: seven passes over
d² numbers, and no other array has that size. This kernel, the first of two, forms W = H ∘ S inside
the product x̂ = x W, and also computes the norms of H; `cosmodag.solve.kernels.gpu.move` does the
rest.

It is a Pallas kernel for Triton; with ``interpret=True`` it runs anywhere, slowly.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from cosmodag.solve.kernels.gpu.arithmetic import array_like, orientation
from cosmodag.solve.kernels.gpu.tiling import Tiling

__all__ = ["predict"]


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
    """x̂ = x (H ∘ S) for one batch of rows, and the norms of H.

    Parameters
    ----------
    place : (1,) int32 array
        Index of the batch.
    scalars : (9,) array
        `TileScalars`.
    rows : (batches, b, d) array
        Rows in the order of the round, b a multiple of `tiling.rows`.
    arcs, order : (d, d) and (d,) arrays
        H and p, padded.
    support : (d, d) int8 array, or None
        Zero at arcs that may not exist, padded. Without it, a variant of the kernel reads one
        array less.

    Returns
    -------
    parts : (splits, d, b) array
        Their sum is x̂ᵀ.
    norm_parts : (2, …) array
        The sums are ‖H‖_F² and ‖H‖₁.
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
        """Sum groups of four neighbours within a thread; the remaining sum follows at the end."""
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
