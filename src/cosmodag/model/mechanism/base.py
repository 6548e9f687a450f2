"""What every mechanism offers."""

from typing import Any, Protocol

import jax

__all__ = ["Mechanism"]


class Mechanism(Protocol):
    """A family of functions x ↦ x̂ whose dependence on arcs is in W alone."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Suggest strengths of arcs of a fitting size, and draw the parameters of the functions.

        The structure, which owns the strengths, may start them elsewhere.
        """
        ...

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ for a batch of rows x, given the oriented weights W and the remaining parameters."""
        ...

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Weights of arcs as the functions use them: (d, d), or (d, d, h) for h hidden units."""
        ...

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Strength of every arc: d × d, whatever the shape of W."""
        ...
