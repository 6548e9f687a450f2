"""The loop does what METHODS says, in any backend, in any number of pieces."""

import itertools

import jax
import numpy as np
import pytest
from solver_problems import SETTINGS, make_batch, make_table

from cosmodag.mechanism import Linear
from cosmodag.solver.kernels.backends import BACKENDS
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Problem
from cosmodag.solver.training.schedules import anneal_temperature
from cosmodag.solver.training.shuffle import row_order

cpu_backends = pytest.mark.parametrize(
    "backend", [b for b in BACKENDS if b.name in ("numba", "xla")], ids=lambda b: b.name
)


def run(backend, batch, *marks):
    state = batch.start()
    for first, last in itertools.pairwise(marks):
        state = backend.advance(batch, state, first, last)
    return jax.tree.map(np.array, state)


def plain_adam(problem: Problem, start: dict, epochs: int, batch_size: int) -> dict:
    """The problem solved step by step with NumPy in float64, written from the paper's formulas."""
    s, x_all = problem.settings, problem.data.astype(np.float64)
    n = len(x_all)
    values = [np.array(start["arcs"], np.float64), np.array(start["order"], np.float64)]
    means, squares = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    step = 0
    for epoch in range(epochs):
        wave = 0.5 * (1 + np.cos(np.pi * epoch / s["epochs"]))
        t = s["temperature_end"] + wave * (s["temperature_start"] - s["temperature_end"])
        order = np.array(row_order(problem.seed, epoch, n))
        for begin in range(0, n, batch_size):
            x = x_all[order[begin : begin + batch_size]]
            arcs, p = values
            orientation = 1 / (1 + np.exp(-(p[None, :] - p[:, None] - s["shift"]) / t))
            np.fill_diagonal(orientation, 0)
            residual = x @ (arcs * orientation) - x
            g = 2 / residual.size * x.T @ residual
            q = g * arcs * orientation * (1 - orientation) / t
            gradients = [
                g * orientation
                + s["lambda1"] * np.sign(arcs)
                + s["lambda2"] * arcs / np.linalg.norm(arcs),
                q.sum(0) - q.sum(1) + s["lambda_p"] * p / np.linalg.norm(p),
            ]
            step += 1
            for i, rate in enumerate((s["learning_rate"], s["priority_learning_rate"])):
                means[i] = 0.9 * means[i] + 0.1 * gradients[i]
                squares[i] = 0.999 * squares[i] + 0.001 * gradients[i] ** 2
                corrected = squares[i] / (1 - 0.999**step)
                values[i] = values[i] - rate * means[i] / (1 - 0.9**step) / (
                    np.sqrt(corrected) + 1e-8
                )
    return {"arcs": values[0], "order": values[1]}


@cpu_backends
def test_steps_are_those_of_the_paper(backend):
    # 34 epochs of 3 steps are 102 steps: float32 drifts from float64 by about 1e-6 in that many.
    problem = Problem(make_table(), SETTINGS, seed=7)
    batch = make_batch([problem])
    start = jax.tree.map(lambda stacked: stacked[0], batch.start().parameters)
    expected = plain_adam(problem, start, 34, 64)
    state = run(backend, batch, 0, 34)
    assert state.step[0] == 102
    np.testing.assert_allclose(state.parameters["arcs"][0], expected["arcs"], atol=2e-5)
    np.testing.assert_allclose(state.parameters["order"][0], expected["order"], atol=2e-5)


def test_float64_agrees_with_plain_numpy_to_rounding():
    with jax.enable_x64(True):
        problem = Problem(make_table(dtype=np.float64), SETTINGS, seed=7)
        batch = make_batch([problem])
        start = jax.tree.map(lambda stacked: stacked[0], batch.start().parameters)
        expected = plain_adam(problem, start, 34, 64)
        xla = next(b for b in BACKENDS if b.applies(batch))
        assert xla.name == "xla"
        state = run(xla, batch, 0, 34)
        assert state.parameters["arcs"].dtype == np.float64
        # Rounding of 1e-16 grows over 102 steps by Adam's division through small moments.
        np.testing.assert_allclose(state.parameters["arcs"][0], expected["arcs"], atol=1e-10)
        np.testing.assert_allclose(state.parameters["order"][0], expected["order"], atol=1e-10)


def test_backends_agree(batch):
    states = [run(b, batch, 0, 34) for b in BACKENDS if b.name in ("numba", "xla")]
    for group in ("arcs", "order"):
        # The bar for 100 steps in float32 is 1e-4.
        np.testing.assert_allclose(
            states[0].parameters[group], states[1].parameters[group], atol=1e-4
        )
    np.testing.assert_allclose(states[0].loss, states[1].loss, rtol=1e-3)


@cpu_backends
def test_chunks_do_not_matter(backend, batch):
    straight, chunked = run(backend, batch, 0, 40), run(backend, batch, 0, 1, 17, 40)
    assert jax.tree.all(jax.tree.map(np.array_equal, straight, chunked))


@cpu_backends
def test_a_batch_is_as_good_as_single_problems(backend, table):
    problems = [Problem(table, {**SETTINGS, "lambda1": 10.0**-k}, k) for k in range(2, 5)]
    together = run(backend, make_batch(problems), 0, 34)
    for lane, problem in enumerate(problems):
        alone = run(backend, make_batch([problem]), 0, 34)
        np.testing.assert_allclose(
            together.parameters["arcs"][lane], alone.parameters["arcs"][0], atol=1e-4
        )


@cpu_backends
def test_the_order_of_problems_does_not_matter(backend, table):
    problems = [Problem(table, SETTINGS, seed) for seed in range(3)]
    forward = run(backend, make_batch(problems), 0, 34)
    backward = run(backend, make_batch(problems[::-1]), 0, 34)
    np.testing.assert_allclose(
        forward.parameters["arcs"], backward.parameters["arcs"][::-1], atol=1e-4
    )


@cpu_backends
def test_a_diverging_problem_leaves_its_neighbours_bit_identical(backend, table):
    broken = np.full_like(table, np.float32(1e30))
    healthy = [Problem(table, SETTINGS, seed) for seed in range(3)]
    reference = run(backend, make_batch(healthy), 0, 10)
    state = run(backend, make_batch([healthy[0], Problem(broken, SETTINGS, 1), healthy[2]]), 0, 10)
    assert state.diverged_at.tolist() == [-1, 0, -1]
    for lane in (0, 2):
        assert np.array_equal(state.parameters["arcs"][lane], reference.parameters["arcs"][lane])


def test_gradient_of_the_loss_against_finite_differences():
    with jax.enable_x64(True):
        recipe = Anneal(Linear()).recipe
        random = np.random.default_rng(0)
        d = 5
        x = random.normal(size=(9, d))
        parameters = {"arcs": random.normal(size=(d, d)), "order": random.normal(size=d) * 0.1}
        settings = {**SETTINGS, "temperature": 0.2}
        rows = np.r_[np.ones(8), 0.0]

        def loss(arcs, order):
            values = {"arcs": arcs, "order": order, "functions": {}}
            return recipe.loss(values, x, rows, settings)

        gradient = jax.grad(loss, argnums=(0, 1))(parameters["arcs"], parameters["order"])
        for value, slope in zip(parameters.values(), gradient, strict=True):
            for place in np.ndindex(value.shape):
                ends = []
                for step in (1e-6, -1e-6):
                    value[place] += step
                    ends.append(float(loss(**parameters)))
                    value[place] -= step
                # Central differences in float64: truncation 1e-12, rounding 1e-16 / 1e-6.
                assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(float(slope[place]), abs=1e-7)
        # The row of weight zero is no part of the mean.
        assert float(loss(**parameters)) == pytest.approx(
            float(recipe.loss({**parameters, "functions": {}}, x[:8], rows[:8], settings)),
            rel=1e-12,
        )


def test_the_temperature_starts_and_ends_where_it_should():
    settings = {"temperature_start": 0.45, "temperature_end": 1e-3, "epochs": 2000}
    assert float(anneal_temperature(0, settings)["temperature"]) == pytest.approx(0.45)
    assert float(anneal_temperature(2000, settings)["temperature"]) == pytest.approx(1e-3)
