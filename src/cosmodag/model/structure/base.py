"""What every structure offers."""

from collections.abc import Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

__all__ = ["Parameters", "Settings", "Structure", "keep_gaps", "names_of", "spread"]

Parameters = dict[str, Any]
"""What is learnt: `arcs` (H: d × d, then any hidden units), `order` (p), `functions` (the rest).

The first two are the structure's, the third is the mechanism's.
"""

Settings = Mapping[str, Any]
"""Hyper-parameters of one problem by name, scalars that may change without recompiling."""


class Structure(Protocol):
    """A way to write W, and its order, with free parameters.

    A structure owns these parameters: it starts them, orients them, keeps them where the order is
    bound to be, and reads the order out.
    """

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads."""
        ...

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Draw `arcs` and `order`; the mechanism suggests strengths of a size that suits it."""
        ...

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """W from the parameters; `support` is 0 at arcs that may not exist, or the number 1.

        Axes of W beyond the first two are hidden units.
        """
        ...

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Move `order` to where every variable comes after those it is bound to come after.

        `gaps` (d, d) counts the steps of the longest chain from u to v, −∞ where v is not bound.
        """
        ...

    def order_of(self, parameters: Parameters) -> NDArray[np.intp] | None:
        """Causal order, causes first; None where it has to be read from the weights."""
        ...


def names_of(declaration: type) -> frozenset[str]:
    """Names of the settings that a `TypedDict` declares."""
    return frozenset(declaration.__annotations__)


def spread(mask: jax.Array, like: jax.Array) -> jax.Array:
    """Give a d × d mask the further axes of an array of arcs, so that they can be multiplied."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - 2))


def keep_gaps(order: jax.Array, gaps: Any) -> jax.Array:
    """Nearest-by-halves point at which p_v − p_u ≥ gap_uv for all u and v.

    Raising what is too low, max_u (p_u + gap_uv), gives one such point, lowering what is too high
    another; the set of such points is convex, so that the middle of the two belongs to it. Gaps
    have to be those of longest paths, which makes one pass enough.

    Examples
    --------
    >>> gaps = jnp.array([[-jnp.inf, 1.0], [-jnp.inf, -jnp.inf]])
    >>> keep_gaps(jnp.array([3.0, 2.0]), gaps).tolist()
    [2.0, 3.0]
    """
    raised = jnp.maximum(order, jnp.max(order[:, None] + gaps, axis=0))
    lowered = jnp.minimum(order, jnp.min(order[None, :] - gaps, axis=1))
    # Not the plain mean: an order that needs no change has to stay as it is, to the last bit.
    return order + 0.5 * ((raised - order) + (lowered - order))
