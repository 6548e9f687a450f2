"""Training of networks on the arcs that refinement chose."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.mechanism import Mechanism
from cosmodag.model.objective import AnnealedObjective, Loss
from cosmodag.model.structure import Priority
from cosmodag.solve.many import solve_many
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.problems import Problem
from cosmodag.solve.readout import read_out
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.passes import Passes
from cosmodag.solve.training.schedules import CosineAnnealing
from cosmodag.solve.watch import Watch

__all__ = ["Networks", "refit"]

_STEPS = 3_200
_BATCH = 64
_RATE = 2e-3
# Distance of priorities, temperature and shift at which S is one along the order.
_APART, _SHIFT, _TEMPERATURE = 4.0, 1.0, 0.05


class Networks(NamedTuple):
    """Perceptrons of all variables.

    Attributes
    ----------
    first_weights
        (d, d, h): from each variable to the first hidden layer of each network.
    functions
        All other layers, as `cosmodag.model.mechanism.mlp.forward` takes them.
    """

    first_weights: NDArray[np.float32]
    functions: Any


def refit(
    networks: Networks,
    mechanism: Mechanism,
    loss: Loss,
    data: NDArray[np.float32],
    adjacency: NDArray[np.bool_],
    order: NDArray[np.intp],
    watch: Watch,
    counted: NDArray[Any] | None = None,
) -> Networks:
    """Continue to train networks without penalties, each on its parents in a DAG only.

    It is COSMO's problem with a fixed order, p far apart, and the DAG as support, so that its
    kernels can be used.
    """
    n, d = data.shape
    rounds = Passes.over(n, _BATCH).rounds_of(steps=_STEPS)
    priorities = np.empty(d, np.float32)
    priorities[order] = _APART * np.arange(d)
    start = {
        "arcs": np.asarray(networks.first_weights, np.float32) * adjacency[..., None],
        "order": priorities,
        "functions": networks.functions,
    }
    settings = {
        "learning_rate": _RATE,
        "priority_learning_rate": 0.0,
        "lambda1": 0.0,
        "lambda2": 0.0,
        "lambda_p": 0.0,
        "shift": _SHIFT,
        "temperature_start": _TEMPERATURE,
        "temperature_end": _TEMPERATURE,
        "rounds": float(rounds),
        "beta1": 0.9,
        "beta2": 0.999,
    }
    problem = Problem(data, settings, 0, support=adjacency, counted=counted, start=start)
    recipe = Recipe(Priority(), mechanism, AnnealedObjective(loss), CosineAnnealing(), _BATCH)
    watch.begin(rounds, "refitting")
    (solved,) = solve_many(OneProblem(recipe), [problem], device="cpu", watch=watch)
    if solved.solution.diverged_at is not None:
        return networks
    found = read_out(solved.solution, problem, 0.0, solved.plan.device)
    assert found.first_layer is not None
    return Networks(found.first_layer, solved.solution.parameters["functions"])
