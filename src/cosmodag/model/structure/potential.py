"""Potentials: W = K ∘ ReLU(φ_v − φ_u), acyclic for any K and φ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import order_of
from cosmodag.later import jax, jnp
from cosmodag.model.structure.base import Parameters, Settings, keep_gaps

__all__ = ["Potential"]


@dataclass(frozen=True)
class Potential:
    """NOCURL's structure: the gradient flow of a potential on the variables, which has no curl.

    An arc u → v has weight only if the potential rises, φ_v > φ_u, so W is a DAG at every step. K
    is skew-symmetric: one number for each pair of variables, which changes sign with the order of
    the pair. Only the entries of K below the diagonal are parameters.
    """

    from_zero: bool = False  # whether K starts at zero, or from N(0, 1)
    needs: ClassVar[frozenset[str]] = frozenset()

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Draw K, and φ ~ N(0, 1)."""
        order_key, arcs_key = jax.random.split(key)
        arcs = jnp.zeros_like(suggested)
        if not self.from_zero:
            arcs = jax.random.normal(arcs_key, suggested.shape, suggested.dtype)
        return {"arcs": arcs, "order": jax.random.normal(order_key, suggested.shape[:1])}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """W_uv = K_uv · max(φ_v − φ_u, 0)."""
        lower = jnp.tril(parameters["arcs"], -1)
        order = parameters["order"]
        return (lower - lower.T) * jax.nn.relu(order - order[:, None]) * support

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Keep potentials at least one apart per step of a chain of the known partial order."""
        return {**parameters, "order": keep_gaps(parameters["order"], gaps)}

    def order_of(self, parameters: Parameters) -> NDArray[np.intp]:
        """Rising potentials."""
        return order_of(np.asarray(parameters["order"], np.float64))
