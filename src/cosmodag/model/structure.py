"""Structures: how parameters become oriented weights.

A structure turns the strengths H of all arcs, and parameters of the order of the variables, into
the oriented weights W that a mechanism uses. It is written for one problem; `cosmodag.solve.plan`
adds the batch axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import order_of
from cosmodag.model.draws import normal
from cosmodag.model.orientation import host_orientation_rows, smooth_orientation_rows
from cosmodag.runtime.later import jax, jnp

__all__ = ["Free", "Parameters", "Potential", "Priority", "Settings", "Structure"]

Parameters = dict[str, Any]
"""Parameters: `arcs` (H: d × d, then any hidden units), `order` (p), `functions` (all others).

The structure owns the first two, the mechanism the third.
"""

Settings = Mapping[str, Any]
"""Hyper-parameters of one problem by name: scalars that may change without recompilation."""


class Structure(Protocol):
    """A parametrisation of W and of the causal order.

    A structure initialises its parameters, computes W from them, enforces a known partial order,
    and reads the causal order out. A subclass defines `start` and `orient`. By default, a known
    order changes no parameters, because the support excludes arcs against it, and the variables are
    sorted by increasing `order`.
    """

    needs: ClassVar[frozenset[str]] = frozenset()  # names of the settings that it reads

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Draw `arcs` and `order`; `suggested` are initial strengths from the mechanism."""

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """Compute W; `support` is a matrix of ones, with zeros at forbidden arcs, or the number 1.

        Axes of W beyond the first two are hidden units.
        """

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Move `order` so that it satisfies a known partial order.

        `gaps`, (d, d), holds at [u, v] the length of the longest chain from u to v in the known
        order, or −∞ if there is none.
        """
        return parameters

    def order_of(self, parameters: Parameters) -> NDArray[np.intp] | None:
        """Return the causal order, causes first; None if only the weights determine it."""
        return order_of(np.asarray(parameters["order"], np.float64))


def with_unit_axes(mask: Any, like: Any) -> Any:
    """Append axes of length one to a d × d array so that it broadcasts with `like`."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - 2))


def keep_gaps(order: jax.Array, gaps: Any) -> jax.Array:
    """Move p to a nearby point with p_v − p_u ≥ gap_uv for all u and v.

    Raising the entries that are too low, to max_u (p_u + gap_uv), gives one such point, and
    lowering those that are too high gives another. The set of such points is convex, so it contains
    the midpoint, which is returned. One pass is enough because gaps are lengths of longest paths.

    >>> gaps = jnp.array([[-jnp.inf, 1.0], [-jnp.inf, -jnp.inf]])
    >>> keep_gaps(jnp.array([3.0, 2.0]), gaps).tolist()
    [2.0, 3.0]
    """
    raised = jnp.maximum(order, jnp.max(order[:, None] + gaps, axis=0))
    lowered = jnp.minimum(order, jnp.min(order[None, :] - gaps, axis=1))
    # The plain mean of both could round: an order that needs no change must stay bit-identical.
    return order + 0.5 * ((raised - order) + (lowered - order))


@dataclass(frozen=True)
class Priority(Structure):
    """COSMO's structure (Definition 1 and Theorem 1).

    One number p_v per variable defines the order. The weight of an arc u → v is multiplied by a
    logistic function of p_v − p_u − ε, which becomes a step as the temperature t falls.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"shift", "temperature"})
    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, suggested: Any, settings: Settings) -> Parameters:
        """Take H as suggested, and draw p ~ N(0, ε²/2).

        Of all variances, ε²/2 gives p_v − p_u the highest density at the threshold ε.
        """
        order = settings["shift"] / math.sqrt(2.0) * normal(key, suggested.shape[:1])
        return {"arcs": suggested, "order": order}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> Any:
        """W = H ∘ S_{t,ε}(p), with zero diagonal; for NumPy arrays, computed without JAX."""
        return self.orient_rows(parameters["arcs"], parameters["order"], 0, settings, support)

    def orient_rows(
        self, rows: Any, order: Any, first: Any, settings: Settings, support: Any
    ) -> Any:
        """Compute rows of W from the same rows of H, the first of which is row `first`."""
        on_host = isinstance(rows, np.ndarray)
        orient: Any = host_orientation_rows if on_host else smooth_orientation_rows
        orientation = orient(
            order, settings["temperature"], settings["shift"], first, rows.shape[0]
        )
        return rows * with_unit_axes(orientation * support, rows)

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Keep priorities at least one shift apart per step of a chain of the known order.

        S is then at least one half on known arcs, and training may move them further apart. With
        three shifts per step, heads of known arcs ended up behind their own children (ER4, d = 30,
        20 known arcs: AUC .965; with one shift .984; without the knowledge .981).
        """
        return {**parameters, "order": keep_gaps(parameters["order"], gaps * settings["shift"])}


@dataclass(frozen=True)
class Free(Structure):
    """The structure of NOTEARS and DAGMA: one weight per arc, and no order."""

    # Whether the diagonal is fixed at zero. If it is not, W = I has zero loss, and only the
    # constraint rules this solution out.
    masked: bool = True
    from_zero: bool = True  # whether W starts at zero, or at the mechanism's suggestion

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Return initial weights, and an empty order."""
        arcs = jnp.zeros_like(suggested) if self.from_zero else suggested
        return {"arcs": arcs, "order": jnp.zeros((0,))}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """Set forbidden arcs to zero, and the diagonal if it is masked."""
        arcs: jax.Array = parameters["arcs"]
        mask = jnp.ones(arcs.shape[:2], arcs.dtype) * support
        if self.masked:
            mask = mask * (1 - jnp.eye(arcs.shape[0], dtype=arcs.dtype))
        return arcs * with_unit_axes(mask, arcs)

    def order_of(self, parameters: Parameters) -> None:
        """Return None: the weights determine the order."""


@dataclass(frozen=True)
class Potential(Structure):
    """NOCURL's structure: the gradient flow of a potential on the variables, which has no curl.

    W_uv = K_uv · max(φ_v − φ_u, 0) is non-zero only if the potential rises from u to v, so W is a
    DAG at every step. K is skew-symmetric, K_vu = −K_uv; the parameters are its entries below the
    diagonal.
    """

    from_zero: bool = False  # whether K starts at zero, or is drawn from N(0, 1)

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Draw φ ~ N(0, 1), and K unless it starts at zero."""
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
        """Keep potentials at least one apart per step of a chain of the known order."""
        return {**parameters, "order": keep_gaps(parameters["order"], gaps)}
