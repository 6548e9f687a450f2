"""Small problems for the solvers."""

import jax
import numpy as np

from cosmodag.mechanism import Linear
from cosmodag.objective import AnnealedObjective
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.reference import REFERENCE
from cosmodag.solver.training.schedules import CosineAnnealing
from cosmodag.structure import Priority

RECIPE = Recipe(Priority(), Linear(), AnnealedObjective(), CosineAnnealing(), 64)

SETTINGS = {
    "learning_rate": 8e-3,
    "priority_learning_rate": 2e-3,
    "lambda1": 1e-3,
    "lambda2": 2e-2,
    "lambda_p": 2e-4,
    "shift": 1e-2,
    "temperature_start": 0.45,
    "temperature_end": 1e-3,
    "rounds": 40.0,
    "beta1": 0.9,
    "beta2": 0.999,
}


def make_table(n: int = 150, d: int = 10, seed: int = 0, dtype: type = np.float32) -> np.ndarray:
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(0.5, 2, (d, d)) * (random.random((d, d)) < 0.4), 1)
    data = random.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    return np.ascontiguousarray(data - data.mean(0), dtype)


def make_batch(problems: list[Problem]) -> Batch:
    return Batch.of(RECIPE, problems, jax.devices("cpu")[0], {RECIPE: REFERENCE})
