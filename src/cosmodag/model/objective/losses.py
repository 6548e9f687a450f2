"""Losses of x̂ against x. To add one, write it here and give it a name in `LOSSES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cosmodag.later import jax, jnp

__all__ = [
    "LOSSES",
    "SMALLEST_VARIANCE",
    "Loss",
    "Predicted",
    "half_squared_error",
    "log_residual_variances",
    "log_squared_error",
    "mean_of_each",
    "mean_squared_error",
    "mean_squared_residuals",
]

# Smaller than any non-zero number of rows.
_TINY = 1e-30

SMALLEST_VARIANCE = 1e-12
"""Mean squared residual below which the likelihood of a variable does not rise any more."""


class Predicted(NamedTuple):
    """One batch of rows and its predictions.

    `counted`, (B, 1) or (B, d), is the weight of each row, or of each entry, in the loss; zero for
    rows that only pad a batch. `prices` is the factor of λ₁ for each arc: the number 1, or (d, d),
    zero at required arcs.
    """

    x: jax.Array  # (B, d)
    predicted: jax.Array  # x̂
    counted: jax.Array
    prices: Any = 1.0


Loss = Callable[[Predicted], "jax.Array"]
"""A loss of the predictions of a batch."""


def mean_squared_error(rows: Predicted) -> jax.Array:
    """L(W) = Σ c (x̂ − x)² / Σ c, with weights c: the mean over rows *and* variables."""
    total = jnp.sum(rows.counted) * (rows.x.shape[1] / rows.counted.shape[1])
    squares = jnp.sum(rows.counted * (rows.predicted - rows.x) ** 2)
    # All weights are zero in a batch of rows that were all set by intervention.
    return squares / jnp.maximum(total, _TINY)


def half_squared_error(rows: Predicted) -> jax.Array:
    """ℓ(W) = Σ (x̂ − x)² / (2B): summed over variables, d/2 times `mean_squared_error`."""
    return (0.5 * rows.x.shape[1]) * mean_squared_error(rows)


def log_squared_error(rows: Predicted) -> jax.Array:
    """½ d log(Σ (x̂ − x)² / B): the likelihood of Gaussian noise of one unknown variance."""
    d = rows.x.shape[1]
    return 0.5 * d * jnp.log(d * mean_squared_error(rows))


def log_residual_variances(rows: Predicted) -> jax.Array:
    """(1/d) Σ_v log RSS_v, RSS_v the mean squared residual of v: unequal Gaussian noise.

    This is 2/d times the negative log-likelihood of noise with one variance per variable, profiled
    out; multiplying a column by a number adds a constant. Its scale is that of `mean_squared_error`
    at unit noise, so λ's have the same meaning.
    """
    return jnp.mean(jnp.log(mean_squared_residuals(rows)))


def mean_squared_residuals(rows: Predicted) -> jax.Array:
    """(d,): RSS_v, at least `SMALLEST_VARIANCE`."""
    variances = mean_of_each((rows.predicted - rows.x) ** 2, rows.counted)
    return jnp.maximum(variances, SMALLEST_VARIANCE)


def mean_of_each(values: jax.Array, counted: jax.Array) -> jax.Array:
    """(d,): weighted mean over rows of the (B, d) values; zero if no row counts."""
    counted = jnp.broadcast_to(counted, values.shape)
    total = jnp.sum(counted * values, axis=0)
    return total / jnp.maximum(jnp.sum(counted, axis=0), _TINY)


LOSSES: dict[str, Loss] = {
    "squared-error": mean_squared_error,
    "likelihood": log_residual_variances,
}
"""Losses of COSMO by name."""
