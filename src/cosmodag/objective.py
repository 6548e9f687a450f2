"""Objectives: how well x̂ fits x, and what simplicity is worth.

An objective is a function of one problem's parameters and one batch of rows. Rows that only fill up
the last batch of an epoch have weight zero in `rows`, so that the mean is over real ones.
"""

from typing import Protocol

import jax
import jax.numpy as jnp

from cosmodag.structure.base import Parameters, Settings

__all__ = ["Objective", "cosmo_objective", "euclidean_norm", "mean_squared_error", "one_norm"]


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


def one_norm(values: jax.Array) -> jax.Array:
    """‖·‖₁: the sum of magnitudes over all entries."""
    return jnp.sum(jnp.abs(values))


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
    return (
        mean_squared_error(x, predicted, rows)
        + settings["lambda1"] * one_norm(parameters["arcs"])
        + settings["lambda2"] * euclidean_norm(parameters["arcs"])
        + settings["lambda_p"] * euclidean_norm(parameters["order"])
    )
