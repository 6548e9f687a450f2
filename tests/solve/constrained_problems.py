"""Helpers of the tests of constrained solvers: small problems, and a scripted minimiser."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from solver_problems import make_table

from cosmodag.graph.constraint import Constraint
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, mean_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.minimisers.minimiser import Minimised
from cosmodag.solve.problems import Batch, Problem, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.loop import REFERENCE
from cosmodag.solve.watch import Watch

SETTINGS = {
    "learning_rate": 1e-3,
    "priority_learning_rate": 1e-3,
    "lambda1": 0.02,
    "multiplier": 0.0,
    "penalty": 1.0,
    "score_weight": 1.0,
    "radius": 1.0,
    "rounds": 500.0,
    "beta1": 0.99,
    "beta2": 0.999,
}

# A constraint whose h is the squared weight of the one arc that a scripted minimiser sets.
FIRST_ARC = Constraint(lambda squares: squares[0, 1], lambda: lambda w: (float(w[0, 1]), w))


def free_recipe(
    objective: Any = None, masked: bool = True, guard: Any = None, batch_size: int | None = None
) -> Recipe:
    """Make a recipe for free linear weights that start at zero."""
    objective = objective or Penalised(mean_squared_error)
    return Recipe(Free(masked), Linear(), objective, batch_size=batch_size, guard=guard)


def batch_of(
    recipe: Recipe,
    settings: Sequence[Mapping[str, float]],
    d: int = 6,
    dtype: type = np.float64,
    also: Sequence[Recipe] = (),
    **given: np.ndarray,
) -> Batch:
    """Make a batch with one problem per dictionary of changes to `SETTINGS`.

    The problems share the arrays in `given` and are trained by the reference loop.
    """
    problems = [
        Problem(make_table(d=d, seed=seed, dtype=dtype), {**SETTINGS, **own}, seed, **given)
        for seed, own in enumerate(settings)
    ]
    backends = dict.fromkeys((recipe, *also), REFERENCE)
    return Batch.of(recipe, problems, jax.devices("cpu")[0], backends)


def zeros_for(batch: Batch) -> dict[str, Any]:
    """Free weights of zero for every problem of a batch."""
    k, d = batch.size, batch.variables
    return {"arcs": np.zeros((k, d, d)), "order": np.zeros((k, 0)), "functions": {}}


def solve(solver: Any, batch: Batch, max_time: float | None = None) -> list[Solution]:
    """Solve the problems of a batch."""
    with Watch(1, "test", max_time) as watch:
        return solver.solve(batch, watch)


def minimise(minimiser: Any, batch: Batch, parameters: Any = None, active: Any = None) -> Minimised:
    """Solve one sub-problem per lane, by default for all lanes of a batch and from zero."""
    parameters = zeros_for(batch) if parameters is None else parameters
    active = np.ones(batch.size, bool) if active is None else np.array(active)
    with Watch(1, "test") as watch:
        return minimiser.minimise(batch, parameters, active, 0, watch)


class Scripted:
    """A minimiser that returns prescribed results and records its arguments.

    The results of each sub-problem are one number per lane, which becomes the [0, 1] entry of W, or
    None for a lane that is refused. The loss is one, or NaN if the result is NaN.
    """

    trains = False
    needs = frozenset({"rounds"})

    def __init__(self, answers: Sequence[Sequence[float | None]], converged: bool = True) -> None:
        self.answers = list(answers)
        self.converged = converged
        self.asked: list[dict[str, Any]] = []
        self.started: list[np.ndarray] = []

    def implements(self, recipe: Recipe) -> bool:
        return True

    def minimise(self, batch, parameters, active, first, watch):
        answers = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append({**batch.settings, "active": active.copy(), "first": first})
        self.started.append(parameters["arcs"][:, 0, 1].copy())
        arcs = np.zeros_like(parameters["arcs"])
        arcs[:, 0, 1] = [0.0 if answer is None else answer for answer in answers]
        refused = np.array([answer is None for answer in answers])
        loss = np.where(np.isnan(arcs[:, 0, 1]), np.nan, 1.0)
        # Lanes with a NaN loss keep finite weights, as before the step that failed.
        arcs = np.nan_to_num(arcs, nan=0.0, posinf=np.inf)
        converged = np.full(len(arcs), self.converged)
        found = {**parameters, "arcs": arcs}
        return Minimised(found, loss, 10, refused, converged, watch.stop)
