"""What every mechanism offers."""

from typing import Any, Protocol

import jax

__all__ = ["Mechanism"]


class Mechanism(Protocol):
    """A family of functions x ↦ x̂ whose dependence on arcs is in W alone."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Draw H, the strengths of arcs, and the remaining parameters of the functions."""
        ...

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ for a batch of rows x, given the oriented weights W and the remaining parameters."""
        ...

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Strength of every arc: d × d, whatever the shape of W."""
        ...
