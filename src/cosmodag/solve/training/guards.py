"""Guards: regions that W must not be found outside of at the end of an epoch."""

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from cosmodag.graph.acyclicity import in_domain
from cosmodag.model.structure import Settings

__all__ = ["NARROW", "Domain", "Guard", "Inside"]

NARROW = 0.95
"""Radii s are tenths, so that this is where "at most 0.9" ends, whatever the rounding."""


class Guard(Protocol):
    """A region that W must not be found outside of at the end of an epoch."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads."""
        ...

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether the strengths of arcs, d × d, are inside."""
        ...

    def patience(self, settings: Settings) -> jax.Array:
        """How many epochs may be undone; from then on nothing moves any more."""
        ...

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether, after a run that began with epoch `first`, its result is not to be used."""
        ...


@dataclass(frozen=True)
class Domain:
    """Guard of the stochastic central path: sI − W∘W is an M-matrix at the end of every epoch.

    An epoch that ends outside is undone. A stage is begun again if that happens in its first epoch,
    or at all where s ≤ 0.9; elsewhere it ends after as many times as the learning rate can be
    halved before it is below 10⁻⁶ (the COSMO paper's code halves a copy that the optimiser never
    sees, so that this count is all that is left of it).
    """

    slack: float = 1e-5

    @property
    def needs(self) -> frozenset[str]:
        """The radius s, and the learning rate."""
        return frozenset({"radius", "learning_rate"})

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − W∘W)⁻¹ is negative."""
        inside: jax.Array = in_domain(strengths, settings["radius"], self.slack)
        return inside

    def patience(self, settings: Settings) -> jax.Array:
        """How many epochs may be undone."""
        halvings = jnp.ceil(jnp.log2(settings["learning_rate"] / 1e-6))
        return jnp.where(settings["radius"] < NARROW, 1, halvings)

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the stage has to be begun again."""
        return (undone > 0) & ((first_undone == first) | (settings["radius"] < NARROW))


@dataclass(frozen=True)
class Inside:
    """Guard of DAGMA's networks: a stage that leaves the domain of the barrier is begun again.

    The domain is where sI − A is an M-matrix, A_uv = Σ_i W_uvi².
    """

    slack: float = 1e-5

    @property
    def needs(self) -> frozenset[str]:
        """The radius s."""
        return frozenset({"radius"})

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − A)⁻¹ is negative."""
        inside: jax.Array = in_domain(strengths, settings["radius"], self.slack)
        return inside

    def patience(self, settings: Settings) -> jax.Array:
        """Nothing moves after the first step that is undone."""
        return jnp.ones_like(settings["radius"])

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether any step was undone."""
        return undone > 0
