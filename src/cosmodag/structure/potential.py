"""Potentials: W = K ∘ ReLU(φ_v − φ_u), acyclic whatever K and φ are."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cosmodag.structure.base import Settings

__all__ = ["Potential"]


@dataclass(frozen=True)
class Potential:
    """NOCURL's structure: the gradient flow of a potential on the variables, which has no curl.

    An arc u → v carries weight only where the potential rises, φ_v > φ_u, so that W is a DAG at
    every step. K is skew-symmetric: one number for each pair of variables, which changes its sign
    when the pair changes its order. Only the entries of K below the diagonal are parameters.
    """

    def start(self, key: jax.Array, d: int, settings: Settings) -> jax.Array:
        """Draw φ ~ N(0, 1)."""
        return jax.random.normal(key, (d,))

    def orient(self, arcs: jax.Array, order: jax.Array, settings: Settings) -> jax.Array:
        """W_uv = K_uv · max(φ_v − φ_u, 0)."""
        lower = jnp.tril(arcs, -1)
        return (lower - lower.T) * jax.nn.relu(order - order[:, None])

    def gain(self, d: int, order: NDArray[np.floating]) -> NDArray[np.float64]:
        """G in W = K ∘ G, in NumPy: ReLU(φ_v − φ_u)."""
        return np.maximum(order - order[:, None], 0.0).astype(np.float64)

    def complete(self, arcs: NDArray[np.float64]) -> NDArray[np.float64]:
        """K from its entries where G is not zero, one of each pair: K_vu = −K_uv."""
        skew: NDArray[np.float64] = arcs - arcs.T
        return skew
