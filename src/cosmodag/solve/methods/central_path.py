"""DAGMA's solver: a central path, along which the score counts less and less beside a barrier."""

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from cosmodag.model.structure import names_of
from cosmodag.solve.methods.progress import Progress, replace_where
from cosmodag.solve.minimisers.base import (
    LimitSettings,
    Minimiser,
    copies_of,
    first_that_implements,
    needs_of,
    trains_any,
)
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = ["CentralPath", "PathSettings", "Stage"]


class PathSettings(TypedDict):
    """Adam's rate, which is halved at every attempt at a stage."""

    learning_rate: float


@dataclass(frozen=True)
class Stage:
    """One point of the path: μ, s, and how many rounds or iterations are spent on it at most."""

    score_weight: float
    radius: float
    rounds: int


@dataclass(frozen=True)
class CentralPath:
    """Minimise loss + λ₁‖W‖₁ subject to W being a DAG (Bello, Aragam and Ravikumar, 2022).

    Each stage minimises μ (loss + λ₁‖W‖₁) + h_s(W), h_s(W) = −log det(sI − W∘W) + d log s, from
    where the last one ended, with a smaller μ. h_s is a barrier: it is defined where sI − W∘W is an
    M-matrix, and a stage that leaves this domain, or whose objective ceases to be finite, is begun
    again, with half the learning rate and s greater by 0.1. After too many attempts the problem
    ends: as diverged, if it is not finite even so, and else at the last stage accepted, without
    having converged.

    Attributes
    ----------
    recipe
        What is minimised.
    minimisers
        How one stage is solved: by the first that implements it.
    stages
        The path.
    attempts
        At one stage at most.
    """

    recipe: Recipe
    minimisers: tuple[Minimiser, ...]
    stages: tuple[Stage, ...]
    attempts: int = 20

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe, if it is trained."""
        return (self.recipe,) if trains_any(self.minimisers, self.recipe) else ()

    @property
    def working_copies(self) -> int:
        """What the minimisers hold."""
        return copies_of(self.minimisers, self.recipe)

    @property
    def needs(self) -> frozenset[str]:
        """What the recipe and its minimisers read, but for what the stages say."""
        read = needs_of(self.minimisers, self.recipe) | names_of(PathSettings)
        return read - {"score_weight", "radius"} - names_of(LimitSettings)

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape, each at its own stage."""
        minimiser = first_that_implements(self.minimisers, self.recipe, batch.features)
        reached = Progress.of(batch)
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
            found = minimiser.minimise(
                now, reached.parameters, reached.active, reached.iterations, watch
            )
            not_finite = reached.count(found)
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
