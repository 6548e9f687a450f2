"""How one very large H is stored and cut into tiles, and the scalars that the kernels read.

H and Adam's moments are stored with rows and columns of zeros up to a multiple of `UNIT`, which
stay zero: every tile is then whole, and every row begins where the memory likes it to.
"""

from typing import Any, NamedTuple

__all__ = ["UNIT", "TileScalars", "Tiling", "padded"]

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


class TileScalars(NamedTuple):
    """Scalars of one step, in the order in which the kernels read them.

    Attributes
    ----------
    sharpness
        log₂(e) / t, for powers of two in place of e.
    shift
        ε.
    loss_scale
        2 / Σ c, from the mean in the loss; B d where every entry counts once.
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


def padded(d: int) -> int:
    """Size at which H is stored for d variables.

    Examples
    --------
    >>> padded(10_000)
    10048
    """
    return -(-d // UNIT) * UNIT
