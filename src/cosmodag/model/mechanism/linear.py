"""Linear relations: x̂ = x W."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["Linear"]


@dataclass(frozen=True)
class Linear:
    """Each variable is a weighted sum of its parents; W is the only parameter."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Suggest H ~ U(−√(3/d), √(3/d)): entries of variance 1/d."""
        limit = jnp.sqrt(3.0 / d)
        return jax.random.uniform(key, (d, d), minval=-limit, maxval=limit), {}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ = x W."""
        return x @ weights

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """W itself."""
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """W itself."""
        return weights
