"""The interface of mechanisms."""

from __future__ import annotations

from typing import Any, Protocol

from cosmodag.later import jax

__all__ = ["Mechanism"]


class Mechanism(Protocol):
    """A family of functions x ↦ x̂ that depend on arcs only through W.

    A subclass defines `start` and `predict`; and `strength` if an arc has several weights, or
    `first_layer` if the functions do not use W itself.
    """

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Suggest initial strengths of arcs, and draw the parameters of the functions.

        The structure owns the strengths and may initialise them otherwise.
        """

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ for a batch of rows x, given the oriented weights W and the remaining parameters."""

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Weights of arcs as the functions use them: (d, d), or (d, d, h) for h hidden units."""
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Strength of every arc: d × d for any shape of W."""
        return weights
