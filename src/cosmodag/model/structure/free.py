"""Free weights: W is the parameter, and the solver enforces acyclicity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cosmodag.later import jax, jnp
from cosmodag.model.structure.base import Parameters, Settings, spread

__all__ = ["Free"]


@dataclass(frozen=True)
class Free:
    """The structure of NOTEARS and DAGMA: one weight per arc, and no order."""

    # Whether the diagonal is fixed at zero. If it is free, W = I has zero loss, and only the
    # constraint prevents this solution.
    masked: bool = True
    # Whether weights start at zero, or at the mechanism's suggestion.
    from_zero: bool = True
    needs: ClassVar[frozenset[str]] = frozenset()

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Return initial weights, and an empty order."""
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
        """Return the weights unchanged: arcs against the order are not in the support."""
        return parameters

    def order_of(self, parameters: Parameters) -> None:
        """Return None: the order follows from the weights."""
