"""A mechanism with fitted parameters: predictions through a graph, and arrays to save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.later import jax, jnp
from cosmodag.model.mechanism.base import Mechanism
from cosmodag.model.structure import spread

__all__ = ["FittedMechanism"]

_WEIGHTS = "mechanism.weights"
_FUNCTIONS = "mechanism.functions"


@dataclass(frozen=True, eq=False)
class FittedMechanism:
    """A mechanism, its oriented weights W and the remaining parameters of its functions."""

    mechanism: Mechanism
    weights: NDArray[Any]  # as for `Mechanism.predict`: (d, d), or (d, d, h) for h hidden units
    functions: Any  # a tree of arrays, as `Mechanism.start` draws it

    def predict(self, data: NDArray[Any], arcs: NDArray[np.bool_]) -> NDArray[np.float64]:
        """x̂ of every variable from its parents in a graph; W is set to zero outside its arcs."""
        weights = jnp.asarray(np.where(spread(arcs, self.weights), self.weights, 0))
        x = jnp.asarray(data, weights.dtype)
        return np.asarray(self.mechanism.predict(x, weights, self.functions), np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        leaves = jax.tree.leaves(self.functions)
        named = {f"{_FUNCTIONS}.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        return {_WEIGHTS: np.asarray(self.weights), **named}

    @classmethod
    def from_arrays(
        cls, mechanism: Mechanism, arrays: dict[str, NDArray[Any]], d: int
    ) -> FittedMechanism:
        """Rebuild a mechanism from :meth:`arrays`; the mechanism defines the tree and its shapes.

        Raises
        ------
        ValueError
            If an array is missing or has another shape than that of `Mechanism.start`.
        """
        start = jax.eval_shape(lambda: mechanism.start(jax.random.key(0), d))
        places, tree = jax.tree.flatten(start[1])
        names = [_WEIGHTS, *(f"{_FUNCTIONS}.{place}" for place in range(len(places)))]
        for name, expected in zip(names, [start[0], *places], strict=True):
            if name not in arrays or arrays[name].shape != expected.shape:
                raise ValueError(f"{name!r} is missing, or is not of shape {expected.shape}")
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name!r} is not finite")
        leaves = [arrays[name] for name in names[1:]]
        return cls(mechanism, arrays[_WEIGHTS], jax.tree.unflatten(tree, leaves))
