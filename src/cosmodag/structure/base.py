"""What every structure offers."""

from collections.abc import Mapping
from typing import Any, Protocol

import jax

__all__ = ["Parameters", "Settings", "Structure"]

Parameters = dict[str, Any]
"""What is learnt: `arcs` (H: d × d, then any hidden units), `order` (p), `functions` (the rest)."""

Settings = Mapping[str, Any]
"""Hyper-parameters of one problem by name, scalars that may change without recompiling."""


class Structure(Protocol):
    """A way to write W, and its order, with free parameters."""

    def start(self, key: jax.Array, d: int, settings: Settings) -> jax.Array:
        """Draw the parameters of the order of d variables."""
        ...

    def orient(self, arcs: jax.Array, order: jax.Array, settings: Settings) -> jax.Array:
        """W from H and the order; axes of H beyond the first two are hidden units."""
        ...
