"""A recipe: the combined parts of a learner, which define completely what is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cosmodag.errors import DataError
from cosmodag.model.draws import split
from cosmodag.model.mechanism import Mechanism
from cosmodag.model.objective import Objective, Predicted
from cosmodag.model.structure import Parameters, Settings, Structure
from cosmodag.runtime.later import jax, jitted, jnp

__all__ = ["Recipe", "full_loss"]


@dataclass(frozen=True)
class Schedule:
    """The settings as a function of the round: constant here, and changed by subclasses."""

    needs: ClassVar[frozenset[str]] = frozenset()  # names of the settings that it reads
    sets: ClassVar[frozenset[str]] = frozenset()  # names of the settings that it computes

    def __call__(self, round: Any, settings: Settings) -> Settings:
        """Return the settings for a round, numbered from 0."""
        return settings


@dataclass(frozen=True)
class CosineAnnealing(Schedule):
    """Cosine annealing of the temperature (Section 4.2).

    Before round m of N it is t_end + ½ (t_start − t_end)(1 + cos(π m / N)): t_start in the first
    round, t_end after the last one.

    >>> anneal = CosineAnnealing()
    >>> settings = {"temperature_start": 0.45, "temperature_end": 0.05, "rounds": 100}
    >>> [round(float(anneal(m, settings)["temperature"]), 3) for m in (0, 50, 100)]
    [0.45, 0.25, 0.05]
    """

    needs: ClassVar[frozenset[str]] = frozenset({"temperature_start", "temperature_end", "rounds"})
    sets: ClassVar[frozenset[str]] = frozenset({"temperature"})

    def __call__(self, round: Any, settings: Settings) -> Settings:
        """Return the settings for a round."""
        start, end = settings["temperature_start"], settings["temperature_end"]
        # NumPy for the rounds of histories and read-outs: compiling a program would take longer.
        if isinstance(round, np.ndarray):
            wave: Any = 1 + np.cos(math.pi * round / settings["rounds"])
        elif isinstance(round, int | float):
            wave = 1 + math.cos(math.pi * round / settings["rounds"])
        else:
            progress = jnp.asarray(round, jnp.result_type(float)) / settings["rounds"]
            wave = 1 + jnp.cos(math.pi * progress)
        temperature = end + 0.5 * (start - end) * wave
        return {**settings, "temperature": temperature}


SMALL_RADIUS = 0.95
"""Bound for the published condition s ≤ 0.9: between two tenths, where rounding does not matter."""


@dataclass(frozen=True)
class Inside:
    """Guard of DAGMA's networks: a stage that leaves the domain of the barrier is repeated.

    The domain is the set of W for which sI − A is an M-matrix, A_uv = Σ_i W_uvi².
    """

    slack: float = 1e-5
    needs: ClassVar[frozenset[str]] = frozenset({"radius"})

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − A)⁻¹ is negative, given √A, the d × d strengths of arcs."""
        from cosmodag.graph.acyclicity import in_domain

        return in_domain(strengths, settings["radius"], self.slack)

    def patience(self, settings: Settings) -> jax.Array:
        """Return how many epochs may be undone; after that, the parameters stay fixed."""
        return jnp.ones_like(settings["radius"])

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the result of a run that began with epoch `first` must be discarded."""
        return undone > 0


@dataclass(frozen=True)
class Domain(Inside):
    """Guard of the stochastic central path: an epoch that ends outside the domain is undone.

    A stage is repeated if its first epoch is undone or, if s ≤ 0.9, any epoch. Otherwise the number
    of epochs that may be undone is the number of halvings that bring the learning rate below 10⁻⁶.
    (The code of the COSMO paper halves a copy of the rate that the optimiser does not use, so that
    only this number has an effect.)
    """

    needs: ClassVar[frozenset[str]] = frozenset({"radius", "learning_rate"})

    def patience(self, settings: Settings) -> jax.Array:
        """Return how many epochs may be undone."""
        halvings = jnp.ceil(jnp.log2(settings["learning_rate"] / 1e-6))
        return jnp.where(settings["radius"] < SMALL_RADIUS, 1, halvings)

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the stage must be repeated."""
        return (undone > 0) & ((first_undone == first) | (settings["radius"] < SMALL_RADIUS))


@dataclass(frozen=True)
class Recipe:
    """What a learner minimises over one batch of rows: structure × mechanism × objective.

    It is hashable and contains no arrays, so it can be part of the key of a compiled program;
    everything that differs between problems is in the problems. Two recipes are equal if and only
    if their parts are equal, and kernels compare recipes in this way.
    """

    structure: Structure
    mechanism: Mechanism
    objective: Objective
    schedule: Schedule = Schedule()
    # Rows per step; None for all rows. The last batch of a pass may be smaller.
    batch_size: int | None = None
    # Condition checked at the end of every round; a round that violates it is undone.
    guard: Inside | None = None

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that a problem must have for this recipe."""
        read = self.structure.needs | self.objective.needs
        if self.guard is not None:
            read |= self.guard.needs
        return (read - self.schedule.sets) | self.schedule.needs

    def is_like(self, other: Recipe) -> bool:
        """Whether two recipes have equal parts, except for the number of rows per step."""
        return replace(self, batch_size=None) == replace(other, batch_size=None)

    def start(self, seed: Any, d: int, settings: Settings) -> Parameters:
        """Draw the parameters of one problem of d variables."""
        return self.start_from(jax.random.key(seed), d, settings)

    def start_from(self, key: Any, d: int, settings: Settings) -> Parameters:
        """Draw the parameters with a key of JAX or a `HostKey`."""
        structure_key, mechanism_key = split(key)
        suggested, functions = self.mechanism.start(mechanism_key, d)
        owned = self.structure.start(structure_key, suggested, settings)
        return {**owned, "functions": functions}

    def parameter_shapes(self, d: int, settings: Settings) -> Parameters:
        """Shapes of the parameters of d variables; nothing is computed.

        Parts whose arrays do not fit together are refused, since a prediction of shape (n, 1) would
        broadcast with the table in silence.
        """
        rows = d + 1  # so that a transposed prediction has another shape
        x: Any = jax.ShapeDtypeStruct((rows, d), np.float32)  # type: ignore[no-untyped-call]

        def results(x: jax.Array) -> tuple[Any, ...]:
            parameters = self.start(0, d, settings)
            now, functions = self.schedule(0, settings), parameters["functions"]
            weights = self.structure.orient(parameters, now, 1.0)
            predicted = self.mechanism.predict(x, weights, functions)
            strengths = self.mechanism.strength(weights, functions)
            return parameters, weights, predicted, strengths

        try:
            parameters, weights, predicted, strengths = jax.eval_shape(results, x)
        except KeyError as error:
            raise DataError(
                f"A part of the recipe reads the setting {error}, which is not among its needs."
            ) from None
        for part, method, shape, expected in (
            (self.structure, "orient", weights.shape[:2], (d, d)),
            (self.mechanism, "predict", predicted.shape[:2], (rows, d)),
            (self.mechanism, "strength", strengths.shape, (d, d)),
        ):
            if shape != expected:
                raise DataError(
                    f"{type(part).__name__}.{method} must return the shape {expected} for {rows} "
                    f"rows of {d} variables, but returns {shape}."
                )
        return parameters

    def loss(
        self,
        parameters: Parameters,
        x: jax.Array,
        counted: jax.Array,
        settings: Settings,
        support: Any = 1.0,
        prices: Any = 1.0,
    ) -> jax.Array:
        """Objective on one batch of rows.

        See `Predicted` for `counted` and `prices`, and `Structure.orient` for `support`.
        """
        weights = self.structure.orient(parameters, settings, support)
        predicted = self.mechanism.predict(x, weights, parameters["functions"])
        rows = Predicted(x, predicted, counted, prices)
        return self.objective(parameters, weights, rows, settings)

    def strengths(
        self, parameters: Parameters, settings: Settings, support: Any = 1.0
    ) -> jax.Array:
        """Strength of every arc, d × d, at the given settings."""
        weights = self.structure.orient(parameters, settings, support)
        return self.mechanism.strength(weights, parameters["functions"])


# Compiled as one program; otherwise each operation would be compiled for every new shape.
@jitted(static_argnums=0)
def full_loss(
    recipe: Recipe,
    parameters: Parameters,
    data: Any,
    settings: Settings,
    counted: Any = None,
    support: Any = 1.0,
    prices: Any = 1.0,
) -> jax.Array:
    """Objective on all rows at once, at the final settings of the problem."""
    final = recipe.schedule(settings.get("rounds", 1), settings)
    if counted is None:
        counted = jnp.ones((data.shape[0], 1), data.dtype)
    return recipe.loss(parameters, data, counted, final, support, prices)
