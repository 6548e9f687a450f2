"""A recipe: the parts of a learner, put together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from cosmodag.mechanism import Mechanism
from cosmodag.objective import Objective
from cosmodag.structure import Parameters, Settings, Structure

__all__ = ["Guard", "Recipe", "Schedule", "Strengths", "from_normal", "from_zero"]

Schedule = Callable[[Any, Settings], Settings]
"""The settings in force during an epoch, from its number (from 0) and the problem's settings."""

Strengths = Callable[[jax.Array, jax.Array], jax.Array]
"""The strengths of arcs to start from, from a key and the ones the mechanism drew."""


def from_zero(key: jax.Array, drawn: jax.Array) -> jax.Array:
    """Start without arcs."""
    return jnp.zeros_like(drawn)


def from_normal(key: jax.Array, drawn: jax.Array) -> jax.Array:
    """Start from N(0, 1)."""
    return jax.random.normal(key, drawn.shape, drawn.dtype)


class Guard(Protocol):
    """A region that W must not be found outside of at the end of an epoch."""

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
class Recipe:
    """What a learner minimises over one batch of rows: structure × mechanism × objective.

    Hashable and free of arrays, so that it can be part of the identity of a compiled program;
    everything that differs between problems is in their settings.

    Attributes
    ----------
    structure, mechanism, objective
        The parts.
    schedule
        How settings change with the epoch.
    batch_size
        Rows a step; the last batch of an epoch may be smaller.
    strengths
        Where the strengths of arcs start; None for where the mechanism starts them.
    guard
        What is checked at the end of every epoch; the epoch is undone where it fails.
    """

    structure: Structure
    mechanism: Mechanism
    objective: Objective
    schedule: Schedule
    batch_size: int
    strengths: Strengths | None = None
    guard: Guard | None = None

    def start(self, seed: Any, d: int, settings: Settings) -> Parameters:
        """Draw the parameters of one problem of d variables."""
        order_key, mechanism_key = jax.random.split(jax.random.key(seed))
        arcs, functions = self.mechanism.start(mechanism_key, d)
        if self.strengths is not None:
            arcs = self.strengths(mechanism_key, arcs)
        order = self.structure.start(order_key, d, settings)
        return {"arcs": arcs, "order": order, "functions": functions}

    def loss(
        self, parameters: Parameters, x: jax.Array, rows: jax.Array, settings: Settings
    ) -> jax.Array:
        """Objective on one batch; `rows` weighs its rows."""
        weights = self.structure.orient(parameters["arcs"], parameters["order"], settings)
        predicted = self.mechanism.predict(x, weights, parameters["functions"])
        return self.objective(parameters, weights, x, predicted, rows, settings)

    def read_out(self, parameters: Parameters, settings: Settings) -> jax.Array:
        """Strength of every arc, d × d, under the given settings."""
        weights = self.structure.orient(parameters["arcs"], parameters["order"], settings)
        return self.mechanism.strength(weights, parameters["functions"])

    def full_loss(self, parameters: Parameters, data: Any, settings: Settings) -> jax.Array:
        """Objective on all rows at once, at the settings with which the problem ends."""
        final = self.schedule(settings["epochs"], settings)
        return self.loss(parameters, data, jnp.ones(data.shape[0], data.dtype), final)
