"""DAGMA's solver: a central path, along which the score counts less and less beside a barrier."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cosmodag.acyclicity import in_domain
from cosmodag.solver.methods.rounds import Lanes, select, with_settings
from cosmodag.solver.minimisers.stochastic import Minimiser
from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters, Settings

__all__ = ["CentralPath", "Domain", "Stage"]

# The radii are tenths, so that this is where "at most 0.9" ends, whatever the rounding.
_NARROW = 0.95


@dataclass(frozen=True)
class Stage:
    """One point of the path: μ, s, and how many epochs or iterations are spent on it at most."""

    score_weight: float
    radius: float
    epochs: int


@dataclass(frozen=True)
class CentralPath:
    """Minimise loss + λ₁‖W‖₁ subject to W being a DAG (Bello, Aragam and Ravikumar, 2022).

    Each stage minimises μ (loss + λ₁‖W‖₁) + h_s(W), h_s(W) = −log det(sI − W∘W) + d log s, from
    where the last one ended, with a smaller μ. h_s is a barrier: it is defined where sI − W∘W is an
    M-matrix, and a stage that leaves this domain is begun again, with half the learning rate and
    s greater by 0.1.

    Attributes
    ----------
    recipe
        What is minimised.
    minimiser
        How one stage is solved.
    stages
        The path.
    """

    recipe: Recipe
    minimiser: Minimiser
    stages: tuple[Stage, ...]

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape, each at its own stage."""
        lanes = Lanes.of(batch)
        weights, radii, epochs = (
            np.array([getattr(stage, name) for stage in (*self.stages, self.stages[-1])])
            for name in ("score_weight", "radius", "epochs")
        )
        stage = np.zeros(batch.size, np.int64)
        attempt = np.zeros(batch.size, np.int64)
        while lanes.active.any() and lanes.stopped is None:
            now = with_settings(
                batch,
                score_weight=weights[stage],
                radius=radii[stage] + 0.1 * attempt,
                epochs=epochs[stage],
                learning_rate=batch.settings["learning_rate"] * 0.5**attempt,
            )
            found = self.minimiser.minimise(
                now, lanes.parameters, lanes.active, lanes.epochs, watch
            )
            lanes.epochs += found.epochs
            lanes.stopped = found.stopped
            lanes.drop_diverged(found.parameters)
            accepted = lanes.active & ~found.refused
            lanes.record(
                lanes.active,
                loss=found.loss,
                accepted=accepted,
                **{name: now.settings[name] for name in ("score_weight", "radius")},
            )
            lanes.parameters = select(accepted, found.parameters, lanes.parameters)
            attempt = np.where(accepted, 0, attempt + 1)
            stage += accepted
            lanes.active &= stage < len(self.stages)
        return lanes.solutions()

    def read_out(self, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem."""
        return self.minimiser.read_out(self.recipe, parameters)


@dataclass(frozen=True)
class Domain:
    """Guard of the stochastic central path: sI − W∘W is an M-matrix at the end of every epoch.

    An epoch that ends outside is undone. A stage is begun again if that happens in its first epoch,
    or at all where s ≤ 0.9; elsewhere it ends after as many times as the learning rate can be
    halved before it is below 10⁻⁶ (the COSMO paper's code halves a copy that the optimiser never
    sees, so that this count is all that is left of it).
    """

    slack: float = 1e-5

    def holds(self, strengths: jax.Array, settings: Settings) -> jax.Array:
        """Whether no entry of (sI − W∘W)⁻¹ is negative."""
        inside: jax.Array = in_domain(strengths, settings["radius"], self.slack)
        return inside

    def patience(self, settings: Settings) -> jax.Array:
        """How many epochs may be undone."""
        halvings = jnp.ceil(jnp.log2(settings["learning_rate"] / 1e-6))
        return jnp.where(settings["radius"] < _NARROW, 1, halvings)

    def refuses(self, undone: Any, first_undone: Any, first: int, settings: Settings) -> Any:
        """Whether the stage has to be begun again."""
        return (undone > 0) & ((first_undone == first) | (settings["radius"] < _NARROW))
