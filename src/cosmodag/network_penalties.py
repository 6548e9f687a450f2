"""What NOTEARS and DAGMA add to their objectives when variables are networks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from cosmodag.acyclicity import in_domain
from cosmodag.objective import Objective, mean_squared_error
from cosmodag.structure import Parameters, Settings

__all__ = ["Decayed", "Inside", "log_squared_error"]


def log_squared_error(x: jax.Array, predicted: jax.Array, rows: jax.Array) -> jax.Array:
    """½ d log(Σ rows · (x̂ − x)² / B): the likelihood of Gaussian noise of one unknown variance."""
    d = x.shape[1]
    error: jax.Array = 0.5 * d * jnp.log(d * mean_squared_error(x, predicted, rows))
    return error


@dataclass(frozen=True)
class Decayed:
    """An objective plus ½λ₂ times the squares of all weights.

    A constraint on the first layer alone could be slipped under, by small weights there and large
    ones behind them; so the weights of later layers have a price too. It is multiplied by μ where
    there is a setting ``score_weight``.

    Attributes
    ----------
    objective
        What is added to.
    biases
        Whether biases are counted (DAGMA, by Adam's weight decay) or not (NOTEARS).
    """

    objective: Objective
    biases: bool = False

    def __call__(
        self,
        parameters: Parameters,
        weights: jax.Array,
        x: jax.Array,
        predicted: jax.Array,
        rows: jax.Array,
        settings: Settings,
    ) -> jax.Array:
        """Value on one batch."""
        value = self.objective(parameters, weights, x, predicted, rows, settings)
        squares = jnp.sum(weights**2)
        for name, leaf in _named_leaves(parameters["functions"]):
            if self.biases or name != "biases":
                squares += jnp.sum(leaf**2)
        decay = 0.5 * settings["lambda2"] * settings.get("score_weight", 1.0)
        decayed: jax.Array = value + decay * squares
        return decayed


def _named_leaves(tree: Any) -> Iterator[tuple[str, jax.Array]]:
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        yield path[-1].key, leaf


@dataclass(frozen=True)
class Inside:
    """Guard of DAGMA's networks: a stage that leaves the domain of the barrier is begun again.

    The domain is where sI − A is an M-matrix, A_uv = Σ_i W_uvi².
    """

    slack: float = 1e-5

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − A)⁻¹ is negative."""
        inside: jax.Array = in_domain(strengths, settings["radius"], self.slack)
        return inside

    def patience(self, settings: Settings) -> jax.Array:
        """Nothing moves after the first step that is undone."""
        return jnp.ones_like(settings["radius"])

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether any step was undone."""
        return undone > 0
