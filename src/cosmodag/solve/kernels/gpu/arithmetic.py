"""Arithmetic inside kernels, in fewer instructions than the plain forms take on a GPU."""

from typing import Any

import jax
import jax.numpy as jnp

__all__ = [
    "array_like",
    "orientation",
    "packed",
    "pull",
    "reciprocal",
    "root",
    "round_at_random",
    "signed",
]

# Scales any h that is not denormal beyond every λ.
_HUGE = 1e30


def orientation(p_u: Any, p_v: Any, u: Any, v: Any, sharpness: Any, shift: Any) -> Any:
    """S for one tile, Definition 1, the diagonal zero.

    Parameters
    ----------
    p_u, p_v : (a,) array, and array that broadcasts to (a, b)
        Priorities of the tile's tails and heads.
    u, v : (a,) and (b,) arrays of int
        Indices of these variables.
    sharpness : scalar
        log₂(e) / t, for powers of two in place of e.
    shift : scalar
        ε.
    """
    s = reciprocal(1.0 + jnp.exp2(((p_u + shift)[:, None] - p_v) * sharpness))
    return jnp.where(u[:, None] == v[None, :], 0.0, s)


def packed(scalars: tuple[Any, ...]) -> jax.Array:
    """Stack scalars, or arrays of one shape, along the last axis of one float32 array."""
    return jnp.stack([jnp.asarray(scalar, jnp.float32) for scalar in scalars], axis=-1)


def array_like(shape: tuple[int, ...], dtype: Any = jnp.float32) -> Any:
    """Declare an array that a kernel writes."""
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def pull(strength: Any, norm: Any) -> Any:
    """λ / ‖·‖, the factor in the gradient of a norm; zero if the norm is zero."""
    return jnp.where(norm > 0, strength / jnp.where(norm > 0, norm, 1.0), 0.0)


def reciprocal(x: Any) -> Any:
    """1 / x for x > 0, to about an ulp, and 0 beyond 1e19: two instructions in place of ten."""
    return jax.lax.rsqrt(x * x)


def root(x: Any) -> Any:
    """√x for x ≥ 0, to about an ulp."""
    return x * jax.lax.rsqrt(jnp.maximum(x, 1e-37))


def signed(strength: Any, h: Any) -> Any:
    """λ · sign(h), zero at zero."""
    return jnp.clip(h * _HUGE, -strength, strength)


def round_at_random(m: Any, s2: Any, step: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Round both to bfloat16 by unbiased stochastic rounding."""
    word = u[:, None].astype(jnp.uint32) * jnp.uint32(0x85EBCA6B) + v[None, :].astype(jnp.uint32)
    word = word + step.astype(jnp.uint32) * jnp.uint32(0x9E3779B9)
    word = (word ^ (word >> 16)) * jnp.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * jnp.uint32(0x846CA68B)

    def cut(value: Any, noise: Any) -> Any:
        bits = jax.lax.bitcast_convert_type(value, jnp.uint32)
        bits = (bits + noise) & jnp.uint32(0xFFFF0000)
        return jax.lax.bitcast_convert_type(bits, jnp.float32)

    return cut(m, word >> 16), cut(s2, (word ^ (word >> 16)) & jnp.uint32(0xFFFF))
