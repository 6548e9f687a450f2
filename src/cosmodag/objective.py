"""Objectives: how well x̂ fits x, and what simplicity is worth.

An objective is a function of one problem's parameters and one batch of rows. Rows that only fill up
the last batch of an epoch have weight zero in `rows`, so that the mean is over real ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp

from cosmodag.acyclicity import log_determinant_of
from cosmodag.structure.base import Parameters, Settings

__all__ = [
    "Acyclicity",
    "Barrier",
    "Loss",
    "Objective",
    "Penalised",
    "arc_squares",
    "cosmo_objective",
    "euclidean_norm",
    "half_squared_error",
    "mean_squared_error",
    "one_norm",
]

Loss = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
"""How badly x̂ fits x, from (x, x̂, the weights of rows)."""

Acyclicity = Callable[[jax.Array], jax.Array]
"""h(A) of a non-negative matrix A: zero where it is a DAG, positive elsewhere."""


class Objective(Protocol):
    """What is minimised, as a function of one batch."""

    def __call__(
        self,
        parameters: Parameters,
        weights: jax.Array,
        x: jax.Array,
        predicted: jax.Array,
        rows: jax.Array,
        settings: Settings,
    ) -> jax.Array:
        """Value of the objective on a batch, with the oriented weights W and x̂ already formed."""
        ...


def mean_squared_error(x: jax.Array, predicted: jax.Array, rows: jax.Array) -> jax.Array:
    """L(W) = Σ rows · (x̂ − x)² / (B·d): the mean over rows *and* variables."""
    squares = jnp.sum((predicted - x) ** 2, axis=1)
    return jnp.sum(squares * rows) / (jnp.sum(rows) * x.shape[1])


def half_squared_error(x: jax.Array, predicted: jax.Array, rows: jax.Array) -> jax.Array:
    """ℓ(W) = Σ rows · (x̂ − x)² / (2B): summed over variables, d/2 times `mean_squared_error`."""
    return (0.5 * x.shape[1]) * mean_squared_error(x, predicted, rows)


def one_norm(values: jax.Array) -> jax.Array:
    """‖·‖₁: the sum of magnitudes over all entries."""
    # Not jnp.abs: its gradient at zero is one, where the subgradient of least length is zero.
    return jnp.sum(values * jax.lax.stop_gradient(jnp.sign(values)))


def euclidean_norm(values: jax.Array) -> jax.Array:
    """‖·‖_F or ‖·‖₂, not squared; its gradient at zero is zero instead of undefined."""
    squares = jnp.sum(values**2)
    positive = squares > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squares, 1.0)), 0.0)


def cosmo_objective(
    parameters: Parameters,
    weights: jax.Array,
    x: jax.Array,
    predicted: jax.Array,
    rows: jax.Array,
    settings: Settings,
) -> jax.Array:
    """COSMO's objective: L(W) + λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ (Section 4.2).

    The penalties are on H, not on W = H ∘ S, so that an arc which the order holds back is not paid
    for less; neither norm is squared.
    """
    value: jax.Array = (
        mean_squared_error(x, predicted, rows)
        + settings["lambda1"] * one_norm(parameters["arcs"])
        + settings["lambda2"] * euclidean_norm(parameters["arcs"])
        + settings["lambda_p"] * euclidean_norm(parameters["order"])
    )
    return value


def arc_squares(weights: jax.Array) -> jax.Array:
    """A_uv = Σ_i W_uvi², d × d: zero exactly where there is no arc, however many hidden units."""
    return jnp.sum(weights**2, axis=tuple(range(2, weights.ndim)))


@dataclass(frozen=True)
class Penalised:
    """The augmented Lagrangian of NOTEARS: loss + λ₁‖W‖₁ + α h(A) + ½ρ h(A)², A = W ∘ W.

    With ρ = 0 it is NOCURL's penalised problem, and without h what is left when W is acyclic by
    construction. α and ρ are the settings ``multiplier`` and ``penalty``.

    Attributes
    ----------
    loss
        How badly x̂ fits x.
    acyclicity
        h, or None for none.
    """

    loss: Loss
    acyclicity: Acyclicity | None = None

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
        value: jax.Array = self.loss(x, predicted, rows) + settings["lambda1"] * one_norm(weights)
        if self.acyclicity is None:
            return value
        h = self.acyclicity(arc_squares(weights))
        value += settings["multiplier"] * h + 0.5 * settings["penalty"] * h**2
        return value


@dataclass(frozen=True)
class Barrier:
    """The central path of DAGMA: μ (loss + λ₁‖W‖₁) − log det(sI − A) + d log s, A = W ∘ W.

    μ and s are the settings ``score_weight`` and ``radius``.

    Attributes
    ----------
    loss
        How badly x̂ fits x.
    """

    loss: Loss

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
        score = self.loss(x, predicted, rows) + settings["lambda1"] * one_norm(weights)
        barrier = log_determinant_of(arc_squares(weights), settings["radius"])
        value: jax.Array = settings["score_weight"] * score + barrier
        return value
