"""Free weights: W is what is learnt, and acyclicity is for the solver to bring about."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure.base import Parameters, Settings, spread

__all__ = ["Free"]


@dataclass(frozen=True)
class Free:
    """The structure of NOTEARS and DAGMA: every arc has a weight of its own, and there is no order.

    Attributes
    ----------
    masked
        Whether no variable may point to itself. Left free, the diagonal reproduces its own column
        at no loss (W = I), and only the constraint speaks against that.
    from_zero
        Whether weights start at zero, or where the mechanism suggests.
    """

    masked: bool = True
    from_zero: bool = True

    @property
    def needs(self) -> frozenset[str]:
        """No settings."""
        return frozenset()

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Give weights, and an order of no parameters."""
        arcs = jnp.zeros_like(suggested) if self.from_zero else suggested
        return {"arcs": arcs, "order": jnp.zeros((0,))}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """W, the diagonal zero if it is masked."""
        arcs: jax.Array = parameters["arcs"]
        mask = jnp.ones(arcs.shape[:2], arcs.dtype) * support
        if self.masked:
            mask = mask * (1 - jnp.eye(arcs.shape[0], dtype=arcs.dtype))
        return arcs * spread(mask, arcs)

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Leave the weights alone: arcs against the order are not in the support."""
        return parameters

    def order_of(self, parameters: Parameters) -> None:
        """Leave the order to the weights."""

    def gain(self, d: int, order: NDArray[np.floating]) -> NDArray[np.float64]:
        """G in W = arcs ∘ G, in NumPy."""
        return 1 - np.eye(d) if self.masked else np.ones((d, d))

    def from_gained(self, arcs: NDArray[np.float64]) -> NDArray[np.float64]:
        """All arcs from those where G is not zero: the others are zero."""
        return arcs
