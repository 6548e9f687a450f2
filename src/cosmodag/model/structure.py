"""Structures: how parameters become oriented weights.

A structure turns the strengths of all arcs, H, and parameters of their order into the oriented
weights W that a mechanism uses. It is written for one problem; `cosmodag.solve.plan` adds the
batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import order_of
from cosmodag.later import jax, jnp
from cosmodag.model.draws import normal
from cosmodag.model.orientation import host_orientation_rows, smooth_orientation_rows

__all__ = ["Free", "Parameters", "Potential", "Priority", "Settings", "Structure"]

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


@dataclass(frozen=True)
class Priority:
    """COSMO's structure (Definition 1 and Theorem 1).

    One number p_v per variable defines the order; an arc u → v is allowed to the degree that p_v
    exceeds p_u by more than the shift ε, and the transition sharpens as the temperature t falls.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"shift", "temperature"})
    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, suggested: Any, settings: Settings) -> Parameters:
        """Take H as suggested; draw p ~ N(0, ε²/2), differences densest at the threshold ε."""
        order = settings["shift"] / math.sqrt(2.0) * normal(key, suggested.shape[:1])
        return {"arcs": suggested, "order": order}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> Any:
        """W = H ∘ S_{t,ε}(p), the diagonal zero; from NumPy arrays without JAX."""
        return self.orient_rows(parameters["arcs"], parameters["order"], 0, settings, support)

    def orient_rows(
        self, rows: Any, order: Any, first: Any, settings: Settings, support: Any
    ) -> Any:
        """Rows of W from the same rows of H, the first of them row `first`."""
        of_rows: Any = smooth_orientation_rows
        if isinstance(rows, np.ndarray):
            of_rows = host_orientation_rows
        orientation = of_rows(
            order, settings["temperature"], settings["shift"], first, rows.shape[0]
        )
        return rows * spread(orientation * support, rows)

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Keep priorities one shift apart per step of a chain of the known partial order.

        S of a known arc is then at least one half. Training may move them further apart; three
        shifts moved heads of known arcs behind their children (ER4, d = 30, 20 known arcs: AUC
        .965, with one shift .984, with no knowledge .981).
        """
        return {**parameters, "order": keep_gaps(parameters["order"], gaps * settings["shift"])}

    def order_of(self, parameters: Parameters) -> NDArray[np.intp]:
        """Rising priorities."""
        return order_of(np.asarray(parameters["order"], np.float64))


@dataclass(frozen=True)
class Free:
    """The structure of NOTEARS and DAGMA: one weight per arc, and no order."""

    # Whether the diagonal is fixed at zero. If it is free, W = I has zero loss, and only the
    # constraint prevents this solution.
    masked: bool = True
    # Whether weights start at zero, or at the mechanism's suggestion.
    from_zero: bool = True
    needs: ClassVar[frozenset[str]] = frozenset()

    def start(self, key: jax.Array, suggested: jax.Array, settings: Settings) -> Parameters:
        """Return initial weights, and an empty order."""
        arcs = jnp.zeros_like(suggested) if self.from_zero else suggested
        return {"arcs": arcs, "order": jnp.zeros((0,))}

    def orient(self, parameters: Parameters, settings: Settings, support: Any) -> jax.Array:
        """W, the diagonal zero if it is masked."""
        arcs: jax.Array = parameters["arcs"]
        mask = jnp.ones(arcs.shape[:2], arcs.dtype) * support
        if self.masked:
            mask = mask * (1 - jnp.eye(arcs.shape[0], dtype=arcs.dtype))
        return arcs * spread(mask, arcs)

    def restrain(self, parameters: Parameters, settings: Settings, gaps: Any) -> Parameters:
        """Return the weights unchanged: arcs against the order are not in the support."""
        return parameters

    def order_of(self, parameters: Parameters) -> None:
        """Return None: the order follows from the weights."""


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
