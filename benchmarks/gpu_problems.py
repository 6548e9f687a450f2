"""Settings, data, batches and the area under the curve, shared by the sections of `gpu.py`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag import default_settings, simulate
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import AnnealedObjective
from cosmodag.model.structure import Priority
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.plan import choose_backend
from cosmodag.solve.problems import Backend, Batch, Problem
from cosmodag.solve.recipe import CosineAnnealing, Recipe

ROWS, BATCH, ROUNDS = 1000, 64, 2000
STEPS = -(-ROWS // BATCH)  # steps of a round, which is one pass over the rows
RECIPE = Recipe(Priority(), Linear(), AnnealedObjective(), CosineAnnealing(), BATCH)
SOLVER = OneProblem(RECIPE)

Row = list[object]

# A common learning rate, as in the paper, and the settings of a prototype for large graphs.
_PROTOTYPE = {
    1_000: {"learning_rate": 2e-3, "lambda1": 6e-5},
    5_000: {"learning_rate": 1e-3, "lambda1": 1e-5},
    10_000: {"learning_rate": 1e-3, "lambda1": 5e-6},
}


def settings(d: int, rounds: float = ROUNDS, **changes: float) -> dict[str, float]:
    """Return the default hyper-parameters for d variables, with some changes."""
    return {**default_settings(d), "rounds": rounds, "beta1": 0.9, "beta2": 0.999, **changes}


def prototype(d: int) -> dict[str, float]:
    """Return the prototype's hyper-parameters for d variables, as changes of the defaults."""
    own = _PROTOTYPE[d]
    return {
        **own,
        "priority_learning_rate": own["learning_rate"],
        "lambda2": 2.5e-3,
        "lambda_p": 1.5e-3,
        "shift": 6e-3,
        "temperature_start": 0.45,
        "temperature_end": 8.5e-4,
    }


def batch_of(problem: Problem, backend: Backend | None = None, platform: str = "gpu") -> Batch:
    """Make a batch of one problem, for the given backend or for the one that the plan chooses."""
    backend = backend or choose_backend(problem.task(RECIPE, 1, platform))
    return Batch.of(RECIPE, [problem], jax.devices(platform)[0], {RECIPE: backend})


def noise(d: int, rows: int = ROWS) -> np.ndarray:
    """Draw data that only serve for timing."""
    return np.random.default_rng(0).standard_normal((rows, d), np.float32)


def known(d: int, rows: int, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Draw optional inputs of a problem: a support of half the arcs, weights of most entries."""
    random = np.random.default_rng(1)
    drawn = {
        "support": lambda: random.integers(0, 2, (d, d), np.int8).astype(bool),
        "counted": lambda: random.random((rows, d)) < 0.9,
    }
    return {name: drawn[name]() for name in names}


def table_of(name: str, seed: int, dtype: type = np.float32) -> tuple[np.ndarray, Any]:
    """Simulate a table, centred, and the graph it comes from."""
    data = simulate.load(name, seed=seed)
    return (data.X - data.X.mean(0)).astype(dtype), data.graph


def area(weights: jax.Array, truth: Any) -> float:
    """Exact area under the ROC curve of |W| over all entries, sorted on the device of W."""
    tails, heads = truth.nonzero()
    scores = jnp.abs(weights)
    order = jnp.sort(scores.reshape(-1))
    hits = scores[tails, heads]
    below = np.asarray(jnp.searchsorted(order, hits, side="left"), np.float64)
    up_to = np.asarray(jnp.searchsorted(order, hits, side="right"), np.float64)
    positives = len(tails)
    wins = np.sum((below + up_to) / 2) - positives**2 / 2
    return float(wins / positives / (order.size - positives))


def strengths(parameters: Any, settings: dict[str, float]) -> jax.Array:
    """W at the end of the schedule."""
    return RECIPE.strengths(parameters, RECIPE.schedule(settings["rounds"], settings))
