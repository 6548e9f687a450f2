"""A new learner: GOLEM-EV, made of existing parts and one new objective.

GOLEM (Ng, Ghassami and Zhang, 2020) maximises the likelihood of linear equations with Gaussian
noise over graphs that may have cycles, and penalises cycles. With one common noise variance,

    min over W of  (d/2) log ‖X − XW‖² − log |det(I − W)| + λ₁ ‖W‖₁ + λ₂ h(W),

where h(W) = tr exp(W∘W) − d. Only the objective is new. The structure (a free W), the mechanism
(x̂ = xW), the solver (one problem, by Adam) and the refinement of the order are parts of the
package. Batches, time limits, the read-out of a DAG, saving, reports and the bootstrap need no
further code.
"""

import argparse
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from cosmodag import metrics, simulate
from cosmodag.graph.constraint import EXPONENTIAL
from cosmodag.learners.declarations import Setting, parameter
from cosmodag.learners.refined import RefinedLearner
from cosmodag.learners.trained.trained_learner import TrainedLearner
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
        """Compute the objective on one batch of rows."""
        log_determinant = jnp.linalg.slogdet(jnp.eye(len(weights)) - weights)[1]
        penalties = settings["lambda1"] * one_norm(weights * rows.prices)
        penalties += settings["lambda2"] * EXPONENTIAL.of(weights**2)
        return log_squared_error(rows) - log_determinant + penalties


@dataclass(kw_only=True, eq=False, repr=False)
class GolemEV(RefinedLearner, TrainedLearner):
    """GOLEM with equal noise variances; the default λ₁ and λ₂ are those of its authors."""

    lambda1: Setting = parameter("auto", "Coefficient λ₁ of ‖W‖₁.", at_least=0.0)
    lambda2: Setting = parameter("auto", "Coefficient λ₂ of h(W).", at_least=0.0)
    learning_rate: Setting = parameter("auto", "Adam's learning rate.", above=0.0)
    steps: int = parameter(10_000, "Number of steps.")

    automatic: ClassVar = {"lambda1": 2e-2, "lambda2": 5.0, "learning_rate": 3e-3}

    def solver_for(self, n: int, d: int) -> OneProblem:
        """Return the solver: one problem over a free W, on all rows at once."""
        return OneProblem(Recipe(Free(), Linear(), GolemObjective()))

    def _length(self, n: int, d: int) -> int:
        return self.steps


def main() -> None:
    """Fit without refinement, as the authors do, and with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    steps = 150 if parser.parse_args().quick else 10_000
    data = simulate.load("n1000_d10_ER2_gauss", seed=0)
    for refine in (None, "order"):
        model = GolemEV(steps=steps, refine=refine, random_state=0).fit(data.X)
        wrong = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["shd"]
        true = int(data.graph.sum())
        print(f"refine={refine}: {wrong} wrong arcs ({true} true ones), backend {model.backend_}")
    # cosmodag.load reads the model in any program that has imported this module.
    model.save("golem.safetensors")
    model.report("golem.html")


if __name__ == "__main__":
    main()
