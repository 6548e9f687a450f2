"""Small problems and helpers for the tests of the solvers."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np

from cosmodag.model.mechanism import Linear, Mechanism
from cosmodag.model.objective import AnnealedObjective, Loss, mean_squared_error
from cosmodag.model.structure import Priority
from cosmodag.solve.kernels import backends_for
from cosmodag.solve.plan import choose_backend
from cosmodag.solve.problems import Backend, Batch, Problem
from cosmodag.solve.recipe import CosineAnnealing, Recipe
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.training.batch_rows import rows_at
from cosmodag.solve.training.loop import REFERENCE

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


def cosmo_recipe(
    mechanism: Mechanism | None = None, batch_size: int | None = 64, loss: Loss = mean_squared_error
) -> Recipe:
    objective = AnnealedObjective(loss)
    return Recipe(Priority(), mechanism or Linear(), objective, CosineAnnealing(), batch_size)


RECIPE = cosmo_recipe()


def make_table(n: int = 150, d: int = 10, seed: int = 0, dtype: type = np.float32) -> np.ndarray:
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(0.5, 2, (d, d)) * (random.random((d, d)) < 0.4), 1)
    data = random.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    return np.ascontiguousarray(data - data.mean(0), dtype)


def make_batch(problems: Sequence[Problem], recipe: Recipe | None = None) -> Batch:
    """A batch on a CPU, with the backend that a plan would choose."""
    recipe = recipe or cosmo_recipe()
    task = problems[0].task(recipe, len(problems), "cpu")
    return Batch.of(recipe, problems, jax.devices("cpu")[0], {recipe: choose_backend(task)})


def reference_batch(problems: Sequence[Problem]) -> Batch:
    """A batch of linear COSMO problems on a CPU, with the reference loop as backend."""
    return Batch.of(RECIPE, problems, jax.devices("cpu")[0], {RECIPE: REFERENCE})


@dataclass(frozen=True)
class OtherPriority(Priority):
    """A structure outside the package, with the initial parameters of `Priority`."""


Named = dict[str, np.ndarray]


def plain_adam(
    problem: Problem, start: Named, gradients: Callable[..., Named], rounds: int, size: int = 64
) -> Named:
    """Train on a problem with NumPy in float64, from the paper's formulas.

    `gradients` computes the gradients of the loss from rows, the parameters, S and t; the gradients
    of the penalties are added here.
    """
    s, data = problem.settings, problem.data.astype(np.float64)
    values = {name: np.array(value, np.float64) for name, value in start.items()}
    means, squares = ({name: 0 * value for name, value in values.items()} for _ in range(2))
    step = 0
    for epoch in range(rounds):
        wave = 0.5 * (1 + np.cos(np.pi * epoch / s["rounds"]))
        t = s["temperature_end"] + wave * (s["temperature_start"] - s["temperature_end"])
        order = np.array(rows_at(problem.seed, epoch, np.arange(len(data)), len(data)))
        for begin in range(0, len(data), size):
            arcs, p = values["arcs"], values["order"]
            orientation = 1 / (1 + np.exp(-(p[None, :] - p[:, None] - s["shift"]) / t))
            np.fill_diagonal(orientation, 0)
            found = gradients(data[order[begin : begin + size]], values, orientation, t)
            found["arcs"] = found["arcs"] + s["lambda1"] * np.sign(arcs)
            found["arcs"] += s["lambda2"] * arcs / np.linalg.norm(arcs)
            found["order"] = found["order"] + s["lambda_p"] * p / np.linalg.norm(p)
            step += 1
            for name, g in found.items():
                rate = s["priority_learning_rate" if name == "order" else "learning_rate"]
                means[name] = 0.9 * means[name] + 0.1 * g
                squares[name] = 0.999 * squares[name] + 0.001 * g**2
                root = np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-8
                values[name] = values[name] - rate * means[name] / (1 - 0.9**step) / root
    return values


def backend_named(name: str) -> Backend:
    return next(b for b in (*backends_for("cpu"), *backends_for("gpu")) if b.name == name)


def run_rounds(
    backend: Backend, batch: Batch, *marks: int, state: AdamState | None = None
) -> AdamState:
    """State of a batch after training in pieces that end at the given rounds."""
    state = backend.start(batch) if state is None else state
    for first, last in itertools.pairwise(marks):
        state = backend.advance(batch, state, first, last)
    return jax.tree.map(np.array, state)


def assert_close_after_100_steps(ours: AdamState, theirs: AdamState) -> None:
    """Assert that parameters agree up to float32 rounding over about a hundred steps.

    If λ₁ keeps an entry at zero, rounding decides its sign, and a change of sign moves it by up to
    one learning rate. This happens to few entries and changes W little.
    """
    for one, other in zip(
        jax.tree.leaves(ours.parameters), jax.tree.leaves(theirs.parameters), strict=True
    ):
        if one.size:
            apart = np.abs(np.asarray(one) - np.asarray(other))
            assert apart.max() < SETTINGS["learning_rate"]
            assert np.mean(apart > 1e-4) < 0.01
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-4)
