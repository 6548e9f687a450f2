"""Likelihood of mixed tables: Gaussian for numbers, multinomial for levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosmodag.later import jax, jnp
from cosmodag.model.objective import Predicted, mean_of_each, mean_squared_residuals

__all__ = ["MixedLikelihood"]


@dataclass(frozen=True)
class MixedLikelihood:
    """2/d times the negative log-likelihood per row, one head for each variable.

    A number adds log RSS_v, as in `log_residual_variances`; a category of k levels
    −2 mean log softmax(0, utilities 1, …, k − 1) of its level, so that two levels are a logistic
    regression. Both are on one scale, that of nats per row.
    """

    levels: tuple[int, ...]  # of each variable; 0 for numbers

    def __call__(self, rows: Predicted) -> jax.Array:
        """Value on a batch whose predictions are (B, d, o), as `MixedMLP` makes them."""
        is_levels = np.array(self.levels) > 0
        variances = mean_squared_residuals(rows._replace(predicted=rows.predicted[..., 0]))
        surprises = mean_of_each(self._surprise(rows), rows.counted)
        return jnp.mean(jnp.where(is_levels, 2.0 * surprises, jnp.log(variances)))

    def _surprise(self, rows: Predicted) -> jax.Array:
        """(B, d): minus the log-probability of each level; meaningless for numbers."""
        outputs = rows.predicted.shape[-1]
        exists = np.arange(outputs) < np.array(self.levels)[:, None] - 1
        utilities = jnp.where(exists, rows.predicted, -1e9)
        first = jnp.zeros((*rows.x.shape, 1), utilities.dtype)
        total = jax.nn.logsumexp(jnp.concatenate([first, utilities], axis=-1), axis=-1)
        is_own = rows.x[..., None] == np.arange(1, outputs + 1)
        own = jnp.sum(jnp.where(is_own & exists, rows.predicted, 0.0), axis=-1)
        return total - own
