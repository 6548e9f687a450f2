"""Guards: regions that must contain W at the end of every epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cosmodag.later import jax, jnp
from cosmodag.model.structure import Settings

__all__ = ["NARROW", "Domain", "Inside"]

NARROW = 0.95
"""Limit for "s at most 0.9", between two tenths to be safe from rounding."""


@dataclass(frozen=True)
class Inside:
    """Guard of DAGMA's networks: a stage that leaves the domain of the barrier restarts.

    The domain is where sI − A is an M-matrix, A_uv = Σ_i W_uvi².
    """

    slack: float = 1e-5
    needs: ClassVar[frozenset[str]] = frozenset({"radius"})

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − A)⁻¹ is negative, given √A, the d × d strengths of arcs."""
        from cosmodag.graph.acyclicity import in_domain

        return in_domain(strengths, settings["radius"], self.slack)

    def patience(self, settings: Settings) -> jax.Array:
        """Return how many epochs may be undone; after that the parameters stay fixed."""
        return jnp.ones_like(settings["radius"])

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the result of a run that began with epoch `first` must be discarded."""
        return undone > 0


@dataclass(frozen=True)
class Domain(Inside):
    """Guard of the stochastic central path: an epoch that ends outside the domain is undone.

    A stage restarts if this happens in its first epoch, or at all if s ≤ 0.9; otherwise it ends
    after as many undone epochs as halvings that bring the learning rate below 10⁻⁶. (The COSMO
    paper's code halves a copy of the rate that the optimiser does not use, so only this count has
    an effect.)
    """

    needs: ClassVar[frozenset[str]] = frozenset({"radius", "learning_rate"})

    def patience(self, settings: Settings) -> jax.Array:
        """Return how many epochs may be undone."""
        halvings = jnp.ceil(jnp.log2(settings["learning_rate"] / 1e-6))
        return jnp.where(settings["radius"] < NARROW, 1, halvings)

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the stage must restart."""
        return (undone > 0) & ((first_undone == first) | (settings["radius"] < NARROW))
