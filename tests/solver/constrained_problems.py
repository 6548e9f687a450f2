"""What the tests of constrained solvers share: small problems, and a minimiser that is told."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from solver_problems import make_table

from cosmodag.mechanism import Linear
from cosmodag.objective import Penalised, mean_squared_error
from cosmodag.solver.minimisers.stochastic import Minimised
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.recipe import Recipe, from_zero
from cosmodag.solver.training.schedules import constant
from cosmodag.structure import Free

SETTINGS = {
    "learning_rate": 1e-3,
    "priority_learning_rate": 1e-3,
    "lambda1": 0.02,
    "multiplier": 0.0,
    "penalty": 1.0,
    "score_weight": 1.0,
    "radius": 1.0,
    "epochs": 500.0,
    "beta1": 0.99,
    "beta2": 0.999,
}


def free_recipe(objective: Any = None, masked: bool = True, guard: Any = None) -> Recipe:
    """Free weights from zero."""
    if objective is None:
        objective = Penalised(mean_squared_error)
    return Recipe(Free(masked), Linear(), objective, constant, 64, from_zero, guard)


def batch_of(recipe: Recipe, settings: Sequence[dict[str, float]], d: int = 6) -> Batch:
    """One problem, in float64, for each dictionary of settings that differ from the usual ones."""
    tables = [make_table(d=d, seed=seed, dtype=np.float64) for seed in range(len(settings))]
    problems = [
        Problem(table, {**SETTINGS, **own}, seed)
        for seed, (table, own) in enumerate(zip(tables, settings, strict=True))
    ]
    return Batch.of(recipe, problems, jax.devices("cpu")[0])


class Scripted:
    """Returns what it was told, round by round, and remembers what it was asked.

    A round is one number a lane, which becomes the [0, 1] entry of W; or, for a lane that is to be
    refused, None.
    """

    def __init__(self, rounds: Sequence[Sequence[float | None]]) -> None:
        self.rounds = list(rounds)
        self.asked: list[dict[str, np.ndarray]] = []
        self.started: list[np.ndarray] = []

    def minimise(self, batch, parameters, active, first, watch):
        answers = self.rounds[len(self.asked)]
        self.asked.append({**batch.settings, "active": active.copy(), "first": first})
        self.started.append(parameters["arcs"][:, 0, 1].copy())
        arcs = np.zeros_like(parameters["arcs"])
        arcs[:, 0, 1] = [0.0 if answer is None else answer for answer in answers]
        refused = np.array([answer is None for answer in answers])
        return Minimised({**parameters, "arcs": arcs}, np.ones(len(arcs)), 10, refused, watch.stop)

    def read_out(self, recipe, parameters):
        return parameters["arcs"]
