"""Objectives: a loss of x̂ against x, and penalties, on one batch of rows of one problem.

To add a loss, write it here and give it a name in `LOSSES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from cosmodag.later import jax, jnp
from cosmodag.model.structure import Parameters, Settings, spread

if TYPE_CHECKING:
    from cosmodag.graph.constraint import Constraint

__all__ = [
    "LOSSES",
    "SMALLEST_VARIANCE",
    "AnnealedObjective",
    "Barrier",
    "Decayed",
    "Loss",
    "MixedLikelihood",
    "Objective",
    "Penalised",
    "Predicted",
    "arc_squares",
    "euclidean_norm",
    "half_squared_error",
    "log_residual_variances",
    "log_squared_error",
    "mean_squared_error",
    "mean_squared_residuals",
    "one_norm",
]

# Smaller than any non-zero number of rows.
_TINY = 1e-30

SMALLEST_VARIANCE = 1e-12
"""Mean squared residual at which the likelihood of a variable stops rising."""


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


LOSSES: dict[str, Loss] = {
    "squared-error": mean_squared_error,
    "likelihood": log_residual_variances,
}
"""Losses of COSMO by name; for tables with categories it is `MixedLikelihood`."""


class Objective(Protocol):
    """The function to minimise, on one batch."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads."""

    def __call__(
        self, parameters: Parameters, weights: jax.Array, rows: Predicted, settings: Settings
    ) -> jax.Array:
        """Value on a batch, with the oriented weights W and x̂ already formed."""


def one_norm(values: jax.Array) -> jax.Array:
    """‖·‖₁: the sum of magnitudes over all entries."""
    # Not jnp.abs: its gradient at zero is one, but the smallest subgradient is zero.
    return jnp.sum(values * jax.lax.stop_gradient(jnp.sign(values)))


def euclidean_norm(values: jax.Array) -> jax.Array:
    """‖·‖_F or ‖·‖₂, not squared; its gradient at zero is zero instead of undefined."""
    squares = jnp.sum(values**2)
    positive = squares > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squares, 1.0)), 0.0)


def _priced(arcs: jax.Array, prices: Any) -> jax.Array:
    """Arcs multiplied by their prices, for the λ₁ penalty."""
    per_arc = jnp.asarray(prices, arcs.dtype)
    return arcs * (spread(per_arc, arcs) if per_arc.ndim else 1)


@dataclass(frozen=True)
class AnnealedObjective:
    """COSMO's objective: L(W) + λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ (Section 4.2).

    The penalties apply to H, not to W = H ∘ S, so an arc that the order suppresses has the same
    penalty; neither norm is squared.
    """

    loss: Loss = mean_squared_error
    needs: ClassVar[frozenset[str]] = frozenset({"lambda1", "lambda2", "lambda_p"})

    def __call__(
        self, parameters: Parameters, weights: jax.Array, rows: Predicted, settings: Settings
    ) -> jax.Array:
        """Value on one batch."""
        arcs = parameters["arcs"]
        return (
            self.loss(rows)
            + settings["lambda1"] * one_norm(_priced(arcs, rows.prices))
            + settings["lambda2"] * euclidean_norm(arcs)
            + settings["lambda_p"] * euclidean_norm(parameters["order"])
        )


def arc_squares(weights: jax.Array) -> jax.Array:
    """A_uv = Σ_i W_uvi², d × d: zero exactly where there is no arc, however many hidden units."""
    return jnp.sum(weights**2, axis=tuple(range(2, weights.ndim)))


@dataclass(frozen=True)
class Penalised:
    """The augmented Lagrangian of NOTEARS: loss + λ₁‖W‖₁ + α h(A) + ½ρ h(A)², A = W ∘ W.

    With ρ = 0 it is NOCURL's penalised problem; without h it is for W that is acyclic by
    construction. α and ρ are the settings ``multiplier`` and ``penalty``.
    """

    loss: Loss
    constraint: Constraint | None = None  # h

    @property
    def needs(self) -> frozenset[str]:
        """λ₁, and the multipliers of the constraint if there is one."""
        of_constraint = set() if self.constraint is None else {"multiplier", "penalty"}
        return frozenset({"lambda1", *of_constraint})

    def __call__(
        self, parameters: Parameters, weights: jax.Array, rows: Predicted, settings: Settings
    ) -> jax.Array:
        """Value on one batch."""
        priced = one_norm(_priced(weights, rows.prices))
        value: jax.Array = self.loss(rows) + settings["lambda1"] * priced
        if self.constraint is not None:
            h = self.constraint.of(arc_squares(weights))
            value += settings["multiplier"] * h + 0.5 * settings["penalty"] * h**2
        return value


@dataclass(frozen=True)
class Barrier:
    """The central path of DAGMA: μ (loss + λ₁‖W‖₁) − log det(sI − A) + d log s, A = W ∘ W.

    μ and s are the settings ``score_weight`` and ``radius``.
    """

    loss: Loss
    needs: ClassVar[frozenset[str]] = frozenset({"lambda1", "score_weight", "radius"})

    def __call__(
        self, parameters: Parameters, weights: jax.Array, rows: Predicted, settings: Settings
    ) -> jax.Array:
        """Value on one batch."""
        from cosmodag.graph.acyclicity import log_determinant_of

        score = self.loss(rows) + settings["lambda1"] * one_norm(_priced(weights, rows.prices))
        barrier = log_determinant_of(arc_squares(weights), settings["radius"])
        return settings["score_weight"] * score + barrier


@dataclass(frozen=True)
class Decayed:
    """An objective plus ½λ₂ times the squares of all weights.

    A constraint on the first layer alone could be evaded by small weights there and large ones in
    later layers, so the weights of later layers are penalised too. The penalty is multiplied by μ
    if there is a setting ``score_weight``.
    """

    objective: Objective
    biases: bool = False  # whether biases are counted (DAGMA, by Adam's weight decay; not NOTEARS)

    @property
    def needs(self) -> frozenset[str]:
        """λ₂ and the settings of the objective."""
        return self.objective.needs | {"lambda2"}

    def __call__(
        self, parameters: Parameters, weights: jax.Array, rows: Predicted, settings: Settings
    ) -> jax.Array:
        """Value on one batch."""
        value = self.objective(parameters, weights, rows, settings)
        squares = jnp.sum(weights**2)
        for path, leaf in jax.tree_util.tree_leaves_with_path(parameters["functions"]):
            if self.biases or path[-1].key != "biases":
                squares += jnp.sum(leaf**2)
        decay = 0.5 * settings["lambda2"] * settings.get("score_weight", 1.0)
        return value + decay * squares
