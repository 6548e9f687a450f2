"""Linear relations: x̂ = x W."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cosmodag.model.draws import uniform
from cosmodag.model.mechanism.base import Mechanism

if TYPE_CHECKING:
    import jax

__all__ = ["Linear"]


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
