"""The interface of structures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.later import jax, jnp

__all__ = ["Parameters", "Settings", "Structure", "keep_gaps", "spread"]

Parameters = dict[str, Any]
"""Parameters: `arcs` (H: d × d, then any hidden units), `order` (p), `functions` (the rest).

The first two belong to the structure, the third to the mechanism.
"""

Settings = Mapping[str, Any]
"""Hyper-parameters of one problem by name, scalars that may change without recompiling."""


class Structure(Protocol):
    """A parametrisation of W and its order.

    A structure owns these parameters: it initialises them, computes W from them, enforces a known
    partial order, and reads the order out.
    """

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads."""

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Draw `arcs` and `order`; `suggested` are the mechanism's initial strengths."""

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """W from the parameters; `support` is 0 at arcs that may not exist, or the number 1.

        Axes of W beyond the first two are hidden units.
        """

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Move `order` so that it satisfies a known partial order.

        `gaps` (d, d) is the length of the longest chain from u to v, −∞ if there is none.
        """

    def order_of(self, parameters: Parameters) -> NDArray[np.intp] | None:
        """Causal order, causes first; None if it must be read from the weights."""


def spread(mask: Any, like: Any) -> Any:
    """Add axes to a d × d array so that it broadcasts with an array of arcs."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - 2))


def keep_gaps(order: jax.Array, gaps: Any) -> jax.Array:
    """Project p to a point close to it with p_v − p_u ≥ gap_uv for all u and v.

    Raising entries that are too low, max_u (p_u + gap_uv), gives one such point, and lowering
    entries that are too high another; the set of such points is convex, so it contains their
    midpoint. With gaps of longest paths, one pass is enough.

    Examples
    --------
    >>> gaps = jnp.array([[-jnp.inf, 1.0], [-jnp.inf, -jnp.inf]])
    >>> keep_gaps(jnp.array([3.0, 2.0]), gaps).tolist()
    [2.0, 3.0]
    """
    raised = jnp.maximum(order, jnp.max(order[:, None] + gaps, axis=0))
    lowered = jnp.minimum(order, jnp.min(order[None, :] - gaps, axis=1))
    # Not the plain mean: an order that needs no change must stay bit-identical.
    return order + 0.5 * ((raised - order) + (lowered - order))
