"""Mechanisms: how each variable is predicted from the others, given oriented weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.later import jax, jnp
from cosmodag.model.draws import split, uniform
from cosmodag.model.networks import (
    ACTIVATIONS,
    ARC_STRENGTHS,
    InputBlocks,
    block_outputs,
    forward,
    start_functions,
)
from cosmodag.model.structure import spread

__all__ = ["MLP", "FittedMechanism", "Linear", "MaskedMLP", "Mechanism", "MixedMLP"]

_WEIGHTS = "mechanism.weights"
_FUNCTIONS = "mechanism.functions"


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


@dataclass(frozen=True)
class MLP(Mechanism):
    """Each variable is a perceptron of its parents; its first layer masks all other inputs.

    With one hidden layer, x̂_v = Σ_i w_vi σ(Σ_u x_u W_uvi + b_vi) + c_v: the non-linear extension
    in the paper's appendix, where W_uv· = H_uv· S_uv masks the weights from u to the hidden units i
    of f_v. If W_uv· = 0, f_v does not depend on x_u.
    """

    hidden: tuple[int, ...] = (10,)  # units in each hidden layer of each network
    activation: str = "sigmoid"  # a name in `ACTIVATIONS`
    arc_strength: str = "norm"  # a name in `ARC_STRENGTHS`
    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(−1/√(dh), 1/√(dh)), and all other layers."""
        arcs_key, functions_key = split(key)
        limit = 1 / math.sqrt(d * self.hidden[0])
        arcs = uniform(arcs_key, (d, d, self.hidden[0]), limit)
        return arcs, start_functions(functions_key, d, self.hidden)

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂_v = f_v(x), the first layer masked by W."""
        layer, activation = self.first_layer(weights, functions), ACTIVATIONS[self.activation][0]
        return forward(x, layer, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """One number per arc, from its weights to all hidden units."""
        layer = self.first_layer(weights, functions)
        return ARC_STRENGTHS[self.arc_strength](layer)


@dataclass(frozen=True)
class MaskedMLP(MLP):
    """Each variable is a perceptron of all others; its inputs are masked, not its weights.

    f_v reads x_u W_uv, where W = G ∘ S holds one gate per arc (the paper's appendix, after Ng et
    al., 2022, and Brouillard et al., 2020). A gate alone is not meaningful, because the weights
    behind it could grow as it shrinks; so the first-layer weights A_uv· of an arc are scaled to
    unit length, x̂_v = Σ_i w_vi σ(Σ_u x_u W_uv A_uvi / ‖A_uv·‖₂ + b_vi) + c_v, and the gate is the
    norm of the arc's weights. A one-norm on gates is then a group lasso, which switches off all
    hidden units of an arc together.

    The strength ``"norm"`` of an arc equals the magnitude of its gate.
    """

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Draw directions, and all other layers; every gate starts at 1/√(3d).

        That is the length of first-layer weights as `MLP` draws them.
        """
        directions_key, functions_key = jax.random.split(key)
        functions = start_functions(functions_key, d, self.hidden)
        directions = jax.random.normal(directions_key, (d, d, self.hidden[0]))
        return jnp.full((d, d), 1 / math.sqrt(3 * d)), {**functions, "directions": directions}

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """First-layer weights from the *unmasked* inputs, (d, d, h): W_uv A_uv· / ‖A_uv·‖₂."""
        directions = functions["directions"]
        squares = jnp.sum(directions**2, axis=-1, keepdims=True)
        return weights[..., None] * directions * jax.lax.rsqrt(squares)


@dataclass(frozen=True)
class MixedMLP(Mechanism):
    """Each variable is a perceptron of its parents: blocks of inputs, and several outputs.

    W_uv· = H_uv· S_uv holds the weights from all inputs of u to the hidden units of f_v, so that an
    arc has one orientation however many levels its ends have. The outputs of f_v are a number, or
    the utilities of all levels but the first; the loss determines which of them count.
    """

    hidden: tuple[int, ...]
    activation: str
    arc_strength: str  # over all inputs of a variable
    levels: tuple[int, ...]  # of each variable; 0 for numbers
    takes_numpy: ClassVar[bool] = True

    @property
    def blocks(self) -> InputBlocks:
        """How variables become inputs."""
        return InputBlocks(self.levels)

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(±1/√(dh)) as for plain networks, zero where blocks are padded."""
        arcs_key, functions_key = split(key)
        width, h = self.blocks.width, self.hidden[0]
        drawn = uniform(arcs_key, (d, d, width * h), 1 / math.sqrt(d * h))
        used = np.repeat(self.blocks.used(), h, axis=1)[:, None]
        functions = start_functions(functions_key, d, self.hidden, outputs=width)
        return drawn * used.astype(np.float32), functions

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """(B, d, o): outputs of all networks, the first layers masked by W."""
        activation = ACTIVATIONS[self.activation][0]
        return block_outputs(self.blocks.of(x), weights, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """One number per arc, from the weights of all inputs to all hidden units."""
        return ARC_STRENGTHS[self.arc_strength](weights)


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
