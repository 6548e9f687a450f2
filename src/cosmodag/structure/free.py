"""Free weights: W is what is learnt, and acyclicity is for the solver to bring about."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cosmodag.structure.base import Settings

__all__ = ["Free"]


@dataclass(frozen=True)
class Free:
    """The structure of NOTEARS and DAGMA: every arc has a weight of its own, and there is no order.

    Attributes
    ----------
    masked
        Whether no variable may point to itself. Left free, the diagonal reproduces its own column
        at no loss (W = I), and only the constraint speaks against that.
    """

    masked: bool = True

    def start(self, key: jax.Array, d: int, settings: Settings) -> jax.Array:
        """Give an order of no parameters."""
        return jnp.zeros((0,))

    def orient(self, arcs: jax.Array, order: jax.Array, settings: Settings) -> jax.Array:
        """W, the diagonal zero if it is masked."""
        if not self.masked:
            return arcs
        mask = 1 - jnp.eye(arcs.shape[0], dtype=arcs.dtype)
        return arcs * mask.reshape(mask.shape + (1,) * (arcs.ndim - 2))

    def gain(self, d: int, order: NDArray[np.floating]) -> NDArray[np.float64]:
        """G in W = arcs ∘ G, in NumPy."""
        return 1 - np.eye(d) if self.masked else np.ones((d, d))

    def complete(self, arcs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Arcs from those where G is not zero: the others are zero."""
        return arcs
