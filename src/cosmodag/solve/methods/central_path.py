"""DAGMA's solver: a central path along which the weight of the score against a barrier falls."""

from dataclasses import dataclass

import numpy as np

from cosmodag.solve.methods.solver import Progress, Solver, replace_where
from cosmodag.solve.minimisers.base import Minimiser
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch


@dataclass(frozen=True)
class Stage:
    """One point of the path: μ, s, and the largest number of rounds or iterations."""

    score_weight: float
    radius: float
    rounds: int


@dataclass(frozen=True)
class CentralPath(Solver):
    """Minimise loss + λ₁‖W‖₁ subject to W being a DAG (Bello, Aragam and Ravikumar, 2022).

    Each stage minimises μ (loss + λ₁‖W‖₁) + h_s(W), h_s(W) = −log det(sI − W∘W) + d log s, from
    the end of the previous stage, with a smaller μ. h_s is a barrier, defined where sI − W∘W is an
    M-matrix. A stage that leaves this domain, or whose objective is no longer finite, restarts with
    half the learning rate and s increased by 0.1. After too many attempts the problem ends: as
    diverged if it is still not finite, otherwise at the last accepted stage, not converged.
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
        """Solve a batch of problems of one shape, each at its own stage."""
        reached = Progress(batch)
        weights, radii, rounds = (
            np.array([getattr(stage, name) for stage in (*self.stages, self.stages[-1])])
            for name in ("score_weight", "radius", "rounds")
        )
        stage = np.zeros(batch.size, np.int64)
        attempt = np.zeros(batch.size, np.int64)
        while reached.goes_on:
            now = batch.with_settings(
                score_weight=weights[stage],
                radius=radii[stage] + 0.1 * attempt,
                rounds=rounds[stage],
                learning_rate=batch.settings["learning_rate"] * 0.5**attempt,
            )
            found, not_finite = reached.minimise(self.minimiser_of(self.recipe), now, watch)
            accepted = reached.active & ~found.refused & ~not_finite
            reached.record(
                loss=found.loss,
                accepted=accepted,
                **{name: now.settings[name] for name in ("score_weight", "radius")},
            )
            reached.parameters = replace_where(accepted, found.parameters, reached.parameters)
            attempt = np.where(accepted, 0, attempt + 1)
            stage += accepted
            reached.converged |= accepted & (stage == len(self.stages)) & found.converged
            is_hopeless = reached.active & (attempt >= self.attempts)
            reached.drop(is_hopeless & not_finite)
            reached.active &= ~is_hopeless & (stage < len(self.stages))
        return reached.solutions(self.recipe)
