"""Kernels for one very large linear problem: a step of COSMO in two passes over H, tile by tile.

A step reads H twice and Adam's two moments once, and writes all three: seven passes over d²
numbers, and no other array of that size exists. The first kernel forms W = H ∘ S inside the product
x̂ = x W; the second forms each tile of the gradient G = xᵀ r and at once moves that tile of H and of
both moments, leaving behind only sums: of Q = G ∘ W ∘ (1 − S) / t over rows and columns, from which
the gradient of p is made, and of h² and |h|, for the norms in the next step's objective.

They are Pallas kernels for Triton; with ``interpret=True`` they run anywhere, slowly.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from cosmodag.solver.adam import EPSILON

__all__ = ["DEFAULT_TILING", "Moved", "Rates", "Tiling", "move_arcs", "predict"]


class Tiling(NamedTuple):
    """How the work is cut up; it changes speed, and results by rounding alone.

    Attributes
    ----------
    depth, width, splits, warps, stages
        Of the product: tiles of W are depth × width, and the sum over variables is cut into
        `splits` parts that run side by side.
    tall, wide, move_warps
        Of the update: tiles are tall × wide.
    rows
        Rows of data multiplied at a time.
    """

    depth: int = 64
    width: int = 64
    splits: int = 8
    warps: int = 4
    stages: int = 3
    tall: int = 64
    wide: int = 64
    move_warps: int = 4
    rows: int = 64
    transposed: int = 1
    guard: int = 1


DEFAULT_TILING = Tiling()

_HUGE = 1e30


class Rates(NamedTuple):
    """Scalars of one step, in the order in which the kernels read them."""

    sharpness: Any
    shift: Any
    loss_scale: Any
    lambda1: Any
    ridge: Any
    fresh1: Any
    fresh2: Any
    root_scale: Any
    floor: Any


class Moved(NamedTuple):
    """What the update returns: H and moments after the step, and what it summed on the way.

    Attributes
    ----------
    arcs, mean, square
        (d, d), in the memory of those given.
    order_parts
        (parts, d); the sum over parts is the gradient of the fit with respect to p.
    norm_parts
        (2, …); the sums are ‖H‖_F² and ‖H‖₁ after the step.
    """

    arcs: jax.Array
    mean: jax.Array
    square: jax.Array
    order_parts: jax.Array
    norm_parts: jax.Array


def predict(
    place: jax.Array,
    rates: jax.Array,
    table: jax.Array,
    arcs: jax.Array,
    order: jax.Array,
    tiling: Tiling,
    interpret: bool = False,
) -> jax.Array:
    """Parts of x̂ = x (H ∘ S) for one batch of rows; their sum over the first axis is x̂.

    Parameters
    ----------
    place : (1,) int32 array
        Which batch.
    rates : (9,) array
        `Rates`.
    table : (batches, b, d) array
        Rows in the order of the epoch, b a multiple of `tiling.rows`.
    arcs, order : (d, d) and (d,) arrays
        H and p.
    tiling : Tiling
    interpret : bool

    Returns
    -------
    (splits, b, d) array
    """
    batch, d = table.shape[1:]
    splits = min(tiling.splits, pl.cdiv(d, tiling.depth))
    return pl.pallas_call(
        partial(_predict_kernel, tiling=tiling, splits=splits),
        grid=(pl.cdiv(d, tiling.width), splits, batch // tiling.rows),
        out_shape=jax.ShapeDtypeStruct((splits, batch, d), jnp.float32),
        compiler_params=triton.CompilerParams(
            num_warps=tiling.warps, num_stages=tiling.stages
        ),
        interpret=interpret,
        name="cosmo_predict",
    )(place, rates, table, arcs, order)


def move_arcs(
    place: jax.Array,
    step: jax.Array,
    rates: jax.Array,
    table: jax.Array,
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
    place, rates, table, order, tiling, interpret
        As for `predict`.
    step : (1,) int32 array
        Which step this is; seeds the rounding.
    residuals : (b, d) array
        x̂ − x.
    arcs : (d, d) float32 array
        H.
    mean, square : (d, d) float32 or bfloat16 arrays
        Adam's moments of its gradient.

    Returns
    -------
    Moved
    """
    d = order.shape[0]
    down, across = pl.cdiv(d, tiling.tall), pl.cdiv(d, tiling.wide)
    moved = pl.pallas_call(
        partial(_move_kernel, tiling=tiling),
        grid=(across, down),
        out_shape=(
            jax.ShapeDtypeStruct(arcs.shape, arcs.dtype),
            jax.ShapeDtypeStruct(mean.shape, mean.dtype),
            jax.ShapeDtypeStruct(square.shape, square.dtype),
            jax.ShapeDtypeStruct((down + across, d), jnp.float32),
            jax.ShapeDtypeStruct((2, down, across), jnp.float32),
        ),
        input_output_aliases={5: 0, 6: 1, 7: 2},
        compiler_params=triton.CompilerParams(num_warps=tiling.move_warps, num_stages=1),
        interpret=interpret,
        name="cosmo_move_arcs",
    )(place, step, rates, table, residuals, arcs, mean, square, order)
    return Moved(*moved)


def _predict_kernel(
    place: Any, rates: Any, table: Any, arcs: Any, order: Any, parts: Any, *, tiling: Tiling, splits: int
) -> None:
    d = order.shape[0]
    split, slab = pl.program_id(1), pl.program_id(2)
    start = pl.program_id(0) * tiling.width
    v = start + jnp.arange(tiling.width)
    columns, rows = pl.ds(start, tiling.width), pl.ds(slab * tiling.rows, tiling.rows)
    p_v = triton.load(order.at[columns], mask=v < d, other=0.0)
    tiles = pl.cdiv(d, tiling.depth)
    each = pl.cdiv(tiles, splits)
    batch = place[0]

    def add_tile(i: Any, total: Any) -> Any:
        start = (split * each + i) * tiling.depth
        u = start + jnp.arange(tiling.depth)
        across = pl.ds(start, tiling.depth)
        p_u = triton.load(order.at[across], mask=u < d, other=0.0)
        x = triton.load(table.at[batch, rows, across], mask=(u < d)[None, :], other=0.0)
        h = triton.load(
            arcs.at[across, columns], mask=(u < d)[:, None] & (v < d)[None, :], other=0.0
        )
        return total + jnp.dot(x, h * _orientation(p_u, p_v, u, v, rates))

    total = jnp.zeros((tiling.rows, tiling.width), jnp.float32)
    total = jax.lax.fori_loop(0, each, add_tile, total)
    mask = jnp.broadcast_to((v < d)[None, :], total.shape)
    triton.store(parts.at[split, rows, columns], total, mask=mask)


def _move_kernel(
    place: Any,
    step: Any,
    rates: Any,
    table: Any,
    residuals: Any,
    arcs: Any,
    mean: Any,
    square: Any,
    order: Any,
    arcs_out: Any,
    mean_out: Any,
    square_out: Any,
    order_parts: Any,
    norm_parts: Any,
    *,
    tiling: Tiling,
) -> None:
    d = order.shape[0]
    j, i = pl.program_id(0), pl.program_id(1)
    down = pl.num_programs(1)
    rows, columns = pl.ds(i * tiling.tall, tiling.tall), pl.ds(j * tiling.wide, tiling.wide)
    u = i * tiling.tall + jnp.arange(tiling.tall)
    v = j * tiling.wide + jnp.arange(tiling.wide)
    inside_u, inside_v = u < d, v < d
    inside = inside_u[:, None] & inside_v[None, :]

    def tile(masked: bool) -> None:
        def only(mask: Any) -> dict[str, Any]:
            return {"mask": mask, "other": 0.0} if masked else {}

        def put(mask: Any) -> dict[str, Any]:
            return {"mask": mask} if masked else {}

        rate = Rates(*(rates[k] for k in range(len(Rates._fields))))

        h = triton.load(arcs.at[rows, columns], **only(inside))
        m = triton.load(mean.at[rows, columns], **only(inside)).astype(jnp.float32)
        s2 = triton.load(square.at[rows, columns], **only(inside)).astype(jnp.float32)
        p_u = triton.load(order.at[rows], **only(inside_u))
        p_v = triton.load(order.at[columns], **only(inside_v))
        batch = place[0]

        def product(k: Any) -> Any:
            some = pl.ds(k * tiling.rows, tiling.rows)
            if tiling.transposed:
                x = triton.load(table.at[batch, rows, some], **only(inside_u[:, None]))
                r = triton.load(residuals.at[columns, some], **only(inside_v[:, None]))
                return jnp.dot(x, r.T)
            x = triton.load(table.at[batch, some, rows], **only(inside_u[None, :]))
            r = triton.load(residuals.at[some, columns], **only(inside_v[None, :]))
            return jnp.dot(x.T, r)

        slabs = table.shape[2 if tiling.transposed else 1] // tiling.rows
        fit = product(0)
        if slabs > 1:
            fit = jax.lax.fori_loop(1, slabs, lambda k, total: total + product(k), fit)

        s = _orientation(p_u, p_v, u, v, rates)
        oriented = fit * s
        through = oriented * h
        q = through - through * s
        # The bounds of λ₁ · sign(h), which is 0 at 0, reached by any h that is not denormal.
        sparse = jnp.clip(h * _HUGE, -rate.lambda1, rate.lambda1)
        g = oriented * rate.loss_scale + (rate.ridge * h + sparse)
        m = m + rate.fresh1 * (g - m)
        s2 = s2 + rate.fresh2 * (g * g - s2)
        h = h - m * _reciprocal(_root(s2) * rate.root_scale + rate.floor)

        triton.store(arcs_out.at[rows, columns], h, **put(inside))
        if mean.dtype != jnp.float32:
            m, s2 = _round_at_random(m, s2, step[0], u, v, d)
        triton.store(mean_out.at[rows, columns], m.astype(mean.dtype), **put(inside))
        triton.store(square_out.at[rows, columns], s2.astype(square.dtype), **put(inside))
        triton.store(order_parts.at[i, columns], jnp.sum(q, axis=0), **put(inside_v))
        triton.store(order_parts.at[down + j, rows], -jnp.sum(q, axis=1), **put(inside_u))
        norm_parts[0, i, j] = jnp.sum(h * h)
        norm_parts[1, i, j] = jnp.sum(jnp.abs(h))

    if d % tiling.tall == 0 and d % tiling.wide == 0:
        tile(False)
    elif not tiling.guard:
        tile(True)
    else:
        interior = ((i + 1) * tiling.tall <= d) & ((j + 1) * tiling.wide <= d)
        pl.when(interior)(lambda: tile(False))
        pl.when(~interior)(lambda: tile(True))


def _orientation(p_u: Any, p_v: Any, u: Any, v: Any, rates: Any) -> Any:
    """S for one tile, Definition 1, the diagonal zero."""
    gap = (p_u + rates[1])[:, None] - p_v[None, :]
    s = _reciprocal(1.0 + jnp.exp2(gap * rates[0]))
    return jnp.where(u[:, None] == v[None, :], 0.0, s)


def _reciprocal(x: Any) -> Any:
    """1 / x for x > 0, to about an ulp, and 0 beyond 1e19: one instruction where a division is ten."""
    return jax.lax.rsqrt(x * x)


def _root(x: Any) -> Any:
    """√x for x ≥ 0, to about an ulp."""
    return x * jax.lax.rsqrt(jnp.maximum(x, 1e-37))


def _round_at_random(m: Any, s2: Any, step: Any, u: Any, v: Any, d: int) -> tuple[Any, Any]:
    """Cut both to the bits of a bfloat16, up or down at random without bias."""
    arc = u[:, None].astype(jnp.uint32) * jnp.uint32(d) + v[None, :].astype(jnp.uint32)
    word = arc + step.astype(jnp.uint32) * jnp.uint32(0x9E3779B9)
    word = (word ^ (word >> 16)) * jnp.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * jnp.uint32(0x846CA68B)

    def cut(value: Any, noise: Any) -> Any:
        bits = jax.lax.bitcast_convert_type(value, jnp.uint32)
        bits = (bits + noise) & jnp.uint32(0xFFFF0000)
        return jax.lax.bitcast_convert_type(bits, jnp.float32)

    return cut(m, word >> 16), cut(s2, word & jnp.uint32(0xFFFF))
