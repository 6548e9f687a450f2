"""Priorities: W = H ∘ S_{t,ε}(p), acyclic in the limit t → 0 whatever H and p are."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.orientation import smooth_orientation_rows
from cosmodag.structure.base import Settings

__all__ = ["Priority"]


@dataclass(frozen=True)
class Priority:
    """COSMO's structure (Definition 1 and Theorem 1).

    One number p_v a variable orders them all; an arc u → v is let through as far as p_v exceeds
    p_u by more than the shift ε, ever more sharply as the temperature t falls.
    """

    def start(self, key: jax.Array, d: int, settings: Settings) -> jax.Array:
        """Draw p ~ N(0, ε²/2), where differences are densest at the threshold ε."""
        deviation = jnp.asarray(settings["shift"] / jnp.sqrt(2.0))
        return deviation * jax.random.normal(key, (d,))

    def orient(self, arcs: jax.Array, order: jax.Array, settings: Settings) -> jax.Array:
        """W = H ∘ S_{t,ε}(p), the diagonal zero."""
        return self.orient_rows(arcs, order, 0, settings)

    def orient_rows(
        self, rows: jax.Array, order: jax.Array, first: Any, settings: Settings
    ) -> jax.Array:
        """Rows of W from the same rows of H, the first of them row `first`."""
        orientation = smooth_orientation_rows(
            order, settings["temperature"], settings["shift"], first, rows.shape[0]
        )
        return rows * orientation.reshape(orientation.shape + (1,) * (rows.ndim - 2))
