"""The interface of mechanisms, and the simplest one: linear relations, x̂ = x W."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from cosmodag.later import jax
from cosmodag.model.draws import uniform

__all__ = ["Linear", "Mechanism"]


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


@dataclass(frozen=True)
class Linear(Mechanism):
    """Each variable is a weighted sum of its parents; W is the only parameter."""

    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(−√(3/d), √(3/d)): entries of variance 1/d."""
        return uniform(key, (d, d), math.sqrt(3.0 / d)), {}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ = x W."""
        return x @ weights
