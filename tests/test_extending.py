"""A learner and a mechanism added from outside, in a few lines and without touching the package."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cosmodag import simulate
from cosmodag.graph.dags import is_dag
from cosmodag.learners.trained.base import TrainedLearner
from cosmodag.model.objective import AnnealedObjective
from cosmodag.model.structure import Priority
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.schedules import CosineAnnealing


@dataclass(frozen=True)
class Cubic:
    """x̂ = (x + a x³) W, one a for each cause."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        return 0.1 * jax.random.normal(key, (d, d)), {"bend": jnp.zeros(d)}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        return (x + functions["bend"] * x**3) @ weights

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        return weights


class CubicCosmo(TrainedLearner):
    """COSMO over cubic relations."""

    def __init__(self, *, lambda1="auto", threshold="auto", scale="center", max_time=None, seed=0):
        self.lambda1 = lambda1
        self.threshold = threshold
        self.scale = scale
        self.max_time = max_time
        self.seed = seed
        self.random_state = seed

    def solver_for(self, n, d):
        return OneProblem(Recipe(Priority(), Cubic(), AnnealedObjective(), CosineAnnealing(), 64))

    def _rule(self, d):
        return {"lambda1": 1e-3}

    def _constants(self, n, d):
        rates = {"learning_rate": 1e-2, "priority_learning_rate": 3e-3, "beta1": 0.9, "beta2": 0.99}
        path = {"temperature_start": 0.4, "temperature_end": 1e-3, "shift": 5e-3, "rounds": 120.0}
        return {**rates, **path, "lambda2": 0.0, "lambda_p": 0.0}

    def _length(self, n, d):
        return 120


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_learner_and_a_mechanism_from_outside_work_at_once():
    data = simulate.load("n300_d5_ER1_gauss", seed=1)
    model = CubicCosmo().fit(data.X)
    assert model.backend_ == "reference"
    assert is_dag(model.adjacency_)
    missed = (data.graph != 0) & (model.raw_weights_ == 0)
    assert not missed.any()
    found = np.abs(model.raw_weights_[data.graph != 0])
    assert np.median(found) > 0.3
