"""Masked inputs: one perceptron per variable, with one gate per input."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cosmodag.later import jax, jnp
from cosmodag.model.mechanism.mlp import MLP, start_functions

__all__ = ["MaskedMLP"]


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
