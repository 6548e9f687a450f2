"""A recipe: the combined parts of a learner, which define completely what is minimised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cosmodag.later import jax, jitted, jnp
from cosmodag.model.draws import split
from cosmodag.model.mechanism import Mechanism
from cosmodag.model.objective import Objective, Predicted
from cosmodag.model.structure import Parameters, Settings, Structure
from cosmodag.solve.training.guards import Inside
from cosmodag.solve.training.schedules import Constant, Schedule

__all__ = ["Recipe", "full_loss"]


@dataclass(frozen=True)
class Recipe:
    """What a learner minimises over one batch of rows: structure × mechanism × objective.

    It is hashable and holds no arrays, so it can be part of the key of a compiled program; all that
    differs between problems is in the problems. Two recipes are equal exactly if their parts are;
    kernels compare recipes in this way.
    """

    structure: Structure
    mechanism: Mechanism
    objective: Objective
    schedule: Schedule = Constant()  # noqa: RUF009 (frozen and without fields)
    # Rows per step, None for all of them; the last batch of a pass may be smaller.
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
        """Draw the parameters with a key of JAX's, or one of the host."""
        structure_key, mechanism_key = split(key)
        suggested, functions = self.mechanism.start(mechanism_key, d)
        owned = self.structure.start(structure_key, suggested, settings)
        return {**owned, "functions": functions}

    def loss(
        self,
        parameters: Parameters,
        x: jax.Array,
        counted: jax.Array,
        settings: Settings,
        support: Any = 1.0,
        prices: Any = 1.0,
    ) -> jax.Array:
        """Objective on one batch; for the last three see `Predicted` and `Structure.orient`."""
        weights = self.structure.orient(parameters, settings, support)
        predicted = self.mechanism.predict(x, weights, parameters["functions"])
        rows = Predicted(x, predicted, counted, prices)
        return self.objective(parameters, weights, rows, settings)

    def strengths(
        self, parameters: Parameters, settings: Settings, support: Any = 1.0
    ) -> jax.Array:
        """Strength of every arc, d × d, under the given settings."""
        weights = self.structure.orient(parameters, settings, support)
        return self.mechanism.strength(weights, parameters["functions"])


# One program: separately, each operation would be compiled for every new shape.
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
