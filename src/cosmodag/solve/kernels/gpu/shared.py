"""What the GPU kernels share: their recipe, the storage of H, scalars and arithmetic.

A very large H and Adam's moments are padded with rows and columns of zeros to a multiple of `UNIT`.
The padding stays zero; with it, every tile is complete and every row is aligned in memory. The
arithmetic functions take fewer instructions on a GPU than the plain forms.
"""

from importlib import import_module
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import AnnealedObjective, mean_squared_error
from cosmodag.model.structure import Priority
from cosmodag.solve.problems import Task
from cosmodag.solve.recipe import CosineAnnealing, Recipe

LINEAR_COSMO = Recipe(
    Priority(), Linear(), AnnealedObjective(mean_squared_error), CosineAnnealing()
)
"""The recipe of linear COSMO; its batch size is not compared."""


def is_linear_cosmo(task: Task) -> bool:
    """Whether a task is linear COSMO in single precision on a GPU."""
    return task.platform == "gpu" and task.dtype == np.float32 and task.recipe.is_like(LINEAR_COSMO)


def missing_pallas(task: Task) -> str | None:
    """Return why the kernels cannot be compiled, or None.

    JAX 0.11 announces the removal of Pallas for Triton.
    """
    try:
        import_module("jax.experimental.pallas.triton")
    except ImportError:
        return "this version of JAX has no Pallas for Triton"
    return None


UNIT = 64
"""The padded size of H is a multiple of this, and every tile size divides it."""


class Tiling(NamedTuple):
    """Sizes of the tiles; they affect the speed, and the results only by rounding."""

    # Of the product: tiles of W are depth × width, and the sum over variables is split into
    # `splits` parts that are computed in parallel.
    depth: int = 32
    width: int = 64
    splits: int = 10
    warps: int = 4
    stages: int = 3
    # Of the update: tiles are tall × wide.
    tall: int = 16
    wide: int = 64
    move_warps: int = 4
    # Number of vertically adjacent tiles that one program of the update visits in turn, so that it
    # loads their common data once; fewer if there would otherwise be fewer than `busy` programs.
    span: int = 16
    busy: int = 1000
    rows: int = 64  # rows of data multiplied at a time


class TileScalars(NamedTuple):
    """Scalars of one step, in the order in which the kernels read them.

    With a = learning rate / (1 − β₁ᵏ), H moves by mean / (√square · root_scale + floor).
    """

    sharpness: Any  # log₂(e) / t, because powers are taken of two, not of e
    shift: Any  # ε
    loss_scale: Any  # 2 / Σ c in the gradient of the loss; Σ c = B d if every entry counts once
    lambda1: Any
    ridge: Any  # λ₂ / ‖H‖_F
    fresh1: Any  # 1 − β₁, the weight of a new gradient in the moment
    fresh2: Any  # 1 − β₂
    root_scale: Any  # 1 / (a √(1 − β₂ᵏ))
    floor: Any  # Adam's 10⁻⁸ / a


def padded(d: int) -> int:
    """Return the padded size of H for d variables.

    >>> padded(10_000)
    10048
    """
    return -(-d // UNIT) * UNIT


# Scales any h that is not denormal beyond every λ.
_HUGE = 1e30


def orientation(p_u: Any, p_v: Any, u: Any, v: Any, sharpness: Any, shift: Any) -> Any:
    """S (Definition 1) for one tile, with a zero diagonal.

    p_u, (a,), are the priorities of the tails, and p_v, which broadcasts to (a, b), those of the
    heads; u and v are their indices. The sharpness is log₂(e) / t.
    """
    s = reciprocal(1.0 + jnp.exp2(((p_u + shift)[:, None] - p_v) * sharpness))
    return jnp.where(u[:, None] == v[None, :], 0.0, s)


def packed(scalars: tuple[Any, ...]) -> jax.Array:
    """Stack scalars, or arrays of one shape, along the last axis of one float32 array."""
    return jnp.stack([jnp.asarray(scalar, jnp.float32) for scalar in scalars], axis=-1)


def array_like(shape: tuple[int, ...]) -> Any:
    """Declare a float32 array that a kernel writes."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)  # type: ignore[no-untyped-call]


def pull(strength: Any, norm: Any) -> Any:
    """λ / ‖x‖, the factor of x in the gradient of λ ‖x‖; zero if the norm is zero."""
    return jnp.where(norm > 0, strength / jnp.where(norm > 0, norm, 1.0), 0.0)


def reciprocal(x: Any) -> Any:
    """1 / x for x > 0, to about an ulp, and 0 beyond 1e19, in two instructions instead of ten."""
    return jax.lax.rsqrt(x * x)


def root(x: Any) -> Any:
    """√x for x ≥ 0, to about an ulp."""
    return x * jax.lax.rsqrt(jnp.maximum(x, 1e-37))


def signed(strength: Any, h: Any) -> Any:
    """λ · sign(h), zero at zero."""
    return jnp.clip(h * _HUGE, -strength, strength)
