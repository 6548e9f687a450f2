"""Storage and tiling of one very large H, and the scalars that the kernels read.

H and Adam's moments are stored with rows and columns of zeros up to a multiple of `UNIT`, which
stay zero: every tile is then complete, and every row is aligned in memory.
"""

from typing import Any, NamedTuple

__all__ = ["UNIT", "TileScalars", "Tiling", "padded"]

UNIT = 64
"""The stored size of H is a multiple of this; every size of a tiling divides it."""


class Tiling(NamedTuple):
    """Tile sizes; they change the speed, and results only by rounding."""

    # Of the product: tiles of W are depth × width, and the sum over variables is split into parts
    # that run in parallel.
    depth: int = 32
    width: int = 64
    splits: int = 10
    warps: int = 4
    stages: int = 3
    # Of the update: tiles are tall × wide.
    tall: int = 16
    wide: int = 64
    move_warps: int = 4
    # Vertically adjacent tiles that one program of the update visits in turn, reusing their common
    # data; fewer if this would leave fewer than `busy` programs.
    span: int = 16
    busy: int = 1000
    rows: int = 64  # rows of data multiplied at a time


class TileScalars(NamedTuple):
    """Scalars of one step, in the order in which the kernels read them.

    With a = learning rate / (1 − β₁ᵏ), H moves by mean / (√square · root_scale + floor).
    """

    sharpness: Any  # log₂(e) / t, for powers of two in place of e
    shift: Any  # ε
    loss_scale: Any  # 2 / Σ c, from the mean in the loss; Σ c = B d if every entry counts once
    lambda1: Any
    ridge: Any  # λ₂ / ‖H‖_F
    fresh1: Any  # 1 − β₁, the share of a new gradient in the moment
    fresh2: Any  # 1 − β₂
    root_scale: Any  # 1 / (a √(1 − β₂ᵏ))
    floor: Any  # Adam's 10⁻⁸ / a


def padded(d: int) -> int:
    """Size at which H is stored for d variables.

    Examples
    --------
    >>> padded(10_000)
    10048
    """
    return -(-d // UNIT) * UNIT
