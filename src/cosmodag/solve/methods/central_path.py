"""DAGMA's solver: a central path, along which the weight of the score against a barrier falls."""

from dataclasses import dataclass

import numpy as np

from cosmodag.solve.methods.solver import Progress, Solver
from cosmodag.solve.minimisers.minimiser import Minimiser
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.trees import where_lanes
from cosmodag.solve.watch import Watch


@dataclass(frozen=True)
class Stage:
    """One point of the path: μ, s, and the maximum number of rounds or iterations."""

    score_weight: float
    radius: float
    rounds: int


@dataclass(frozen=True)
class CentralPath(Solver):
    """Minimise loss + λ₁‖W‖₁ subject to W being a DAG (Bello, Aragam and Ravikumar, 2022).

    Each stage minimises μ (loss + λ₁‖W‖₁) + h_s(W), h_s(W) = −log det(sI − W∘W) + d log s, with a
    smaller μ than the previous stage and starting from its solution. h_s is a barrier, defined
    where sI − W∘W is an M-matrix. A stage that leaves this domain, or whose objective becomes
    non-finite, is repeated with half the learning rate and s increased by 0.1. After too many
    attempts, a problem ends: as diverged if its objective is still not finite, otherwise as not
    converged, with the solution of the last accepted stage.
    """

    recipe: Recipe
    minimisers: tuple[Minimiser, ...]
    stages: tuple[Stage, ...]
    attempts: int = 20  # per stage

    @property
    def needs(self) -> frozenset[str]:
        """Settings of the recipe and its minimiser, except those that the stages set."""
        return (self.settings_read | {"learning_rate"}) - {"score_weight", "radius", "rounds"}

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape, which may be at different stages."""
        progress = Progress(batch)
        weights, radii, rounds = (
            np.array([getattr(stage, name) for stage in (*self.stages, self.stages[-1])])
            for name in ("score_weight", "radius", "rounds")
        )
        stage = np.zeros(batch.size, np.int64)
        attempt = np.zeros(batch.size, np.int64)
        while progress.is_running:
            now = batch.with_settings(
                score_weight=weights[stage],
                radius=radii[stage] + 0.1 * attempt,
                rounds=rounds[stage],
                learning_rate=batch.settings["learning_rate"] * 0.5**attempt,
            )
            found, not_finite = progress.minimise(self.minimiser_of(self.recipe), now, watch)
            accepted = progress.active & ~found.refused & ~not_finite
            progress.record(
                loss=found.loss,
                accepted=accepted,
                **{name: now.settings[name] for name in ("score_weight", "radius")},
            )
            progress.parameters = where_lanes(accepted, found.parameters, progress.parameters)
            attempt = np.where(accepted, 0, attempt + 1)
            stage += accepted
            progress.converged |= accepted & (stage == len(self.stages)) & found.converged
            is_hopeless = progress.active & (attempt >= self.attempts)
            progress.drop(is_hopeless & not_finite)
            progress.active &= ~is_hopeless & (stage < len(self.stages))
        return progress.solutions(self.recipe)
