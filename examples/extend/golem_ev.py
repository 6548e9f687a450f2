"""A new method: GOLEM-EV, from parts that are there and one objective.

GOLEM (Ng, Ghassami and Zhang, 2020) maximises the likelihood of linear equations with Gaussian
noise, for graphs that may still have cycles, and penalises cycles. With one noise variance for all,

    min over W of  (d/2) log ‖X − XW‖² − log |det(I − W)| + λ₁ ‖W‖₁ + λ₂ h(W),

where h(W) = tr exp(W∘W) − d. The objective is what is new. The structure (a free W), the mechanism
(x̂ = xW) and the solver (one problem, by Adam) are parts of the package; batches, time limits, the
read-out of a DAG, saving, reports and the bootstrap come with them.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import cosmodag
from cosmodag import metrics, simulate, stability
from cosmodag.graph.constraint import EXPONENTIAL
from cosmodag.learners.trained.base import TrainedLearner
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Predicted, log_squared_error, one_norm
from cosmodag.model.structure import Free
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.recipe import Recipe


@dataclass(frozen=True)
class GolemObjective:
    """(d/2) log ‖X − XW‖² − log |det(I − W)| + λ₁ ‖W‖₁ + λ₂ h(W)."""

    needs = frozenset({"lambda1", "lambda2"})

    def __call__(
        self, parameters: Any, weights: jax.Array, rows: Predicted, settings: Any
    ) -> jax.Array:
        """Value on one batch of rows."""
        log_determinant = jnp.linalg.slogdet(jnp.eye(len(weights)) - weights)[1]
        penalties = settings["lambda1"] * one_norm(weights * rows.prices)
        penalties += settings["lambda2"] * EXPONENTIAL.of(weights**2)
        return log_squared_error(rows) - log_determinant + penalties


class GolemEV(TrainedLearner):
    """GOLEM with equal noise variances; the numbers are its authors' for λ₁ and λ₂."""

    def __init__(
        self,
        *,
        lambda1: Any = "auto",
        lambda2: Any = "auto",
        learning_rate: Any = "auto",
        steps: int = 10_000,
        threshold: Any = "auto",
        knowledge: Any = None,
        missing: str = "error",
        scale: str = "center",
        max_time: float | None = None,
        random_state: Any = None,
        verbose: bool = True,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.learning_rate = learning_rate
        self.steps = steps
        self.threshold = threshold
        self.knowledge = knowledge
        self.missing = missing
        self.scale = scale
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    def solver_for(self, n: int, d: int) -> OneProblem:
        """One problem over a free W, on all rows at once."""
        return OneProblem(Recipe(Free(), Linear(), GolemObjective()))

    def _rule(self, d: int) -> dict[str, float]:
        return {"lambda1": 2e-2, "lambda2": 5.0, "learning_rate": 3e-3}

    def _constants(self, n: int, d: int) -> dict[str, float]:
        return {"rounds": float(self.steps), "beta1": 0.9, "beta2": 0.999}

    def _length(self, n: int, d: int) -> int:
        return self.steps


def main() -> None:
    """Learn, save, load, report and bootstrap."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer steps and resamples")
    quick = parser.parse_args().quick
    data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    model = GolemEV(steps=150 if quick else 10_000, random_state=0).fit(data.X)
    scores = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)
    print(f"GOLEM-EV: {scores['shd']} wrong arcs of {int(data.graph.sum())}, by {model.backend_}")

    model.save("golem.safetensors")
    again = cosmodag.load("golem.safetensors")
    assert isinstance(again, GolemEV)
    assert np.array_equal(again.predict(data.X), model.predict(data.X))
    model.report("golem.html")
    sure = stability.bootstrap(model, data.X, n=3 if quick else 50, random_state=0)
    steady = int((sure.arc_probabilities[data.graph != 0] > 0.9).sum())
    size = Path("golem.html").stat().st_size
    print(
        f"saved, loaded, a report of {size:,} bytes; {steady} true arcs in over 90 % of resamples"
    )


if __name__ == "__main__":
    main()
