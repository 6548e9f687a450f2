"""The reference loop and the linear kernel take the paper's steps, however they are divided."""

from functools import partial

import jax
import numpy as np
import pytest
from solver_problems import (
    SETTINGS,
    assert_close_after_100_steps,
    backend_named,
    cosmo_recipe,
    make_batch,
    make_table,
    plain_adam,
    run_rounds,
)

from cosmodag.solve.problems import Problem
from cosmodag.solve.training.loop import REFERENCE

both_backends = pytest.mark.parametrize(
    "backend", [backend_named("numba-linear"), REFERENCE], ids=lambda b: b.name
)


def linear_gradients(x, values, orientation, t):
    """Gradients of the mean squared error of x (H ∘ S)."""
    arcs = values["arcs"]
    residual = x @ (arcs * orientation) - x
    g = 2 / residual.size * x.T @ residual
    q = g * arcs * orientation * (1 - orientation) / t
    return {"arcs": g * orientation, "order": q.sum(0) - q.sum(1)}


def started(batch):
    """Initial H and p of the only problem of a batch."""
    return {name: batch.start().parameters[name][0] for name in ("arcs", "order")}


@both_backends
def test_steps_are_those_of_the_paper(backend):
    # 34 rounds of 3 steps are 102 steps, over which float32 drifts from float64 by about 1e-6.
    problem = Problem(make_table(), SETTINGS, seed=7)
    batch = make_batch([problem])
    expected = plain_adam(problem, started(batch), linear_gradients, 34)
    state = run_rounds(backend, batch, 0, 34)
    assert state.step[0] == 102
    np.testing.assert_allclose(state.parameters["arcs"][0], expected["arcs"], atol=2e-5)
    np.testing.assert_allclose(state.parameters["order"][0], expected["order"], atol=2e-5)


def test_float64_agrees_with_plain_numpy_to_rounding():
    with jax.enable_x64(True):
        problem = Problem(make_table(dtype=np.float64), SETTINGS, seed=7)
        batch = make_batch([problem])
        expected = plain_adam(problem, started(batch), linear_gradients, 34)
        assert batch.backend is REFERENCE
        state = run_rounds(REFERENCE, batch, 0, 34)
        assert state.parameters["arcs"].dtype == np.float64
        # Rounding errors of 1e-16 grow over 102 steps, because Adam divides by small moments.
        np.testing.assert_allclose(state.parameters["arcs"][0], expected["arcs"], atol=1e-10)
        np.testing.assert_allclose(state.parameters["order"][0], expected["order"], atol=1e-10)


def test_pieces_do_not_matter(batch):
    straight, pieces = (run_rounds(REFERENCE, batch, *marks) for marks in ((0, 40), (0, 1, 17, 40)))
    assert jax.tree.all(jax.tree.map(np.array_equal, straight, pieces))


@both_backends
def test_a_batch_gives_the_results_of_single_problems_in_any_order(backend, table):
    problems = [Problem(table, {**SETTINGS, "lambda1": 10.0**-k}, k) for k in range(2, 5)]
    together = run_rounds(backend, make_batch(problems), 0, 34)
    backward = run_rounds(backend, make_batch(problems[::-1]), 0, 34)
    for lane, problem in enumerate(problems):
        alone = run_rounds(backend, make_batch([problem]), 0, 34)
        for found in (together, jax.tree.map(lambda values: values[::-1], backward)):
            one = jax.tree.map(lambda values, lane=lane: values[lane : lane + 1], found)
            assert_close_after_100_steps(one, alone)


def test_a_diverging_problem_leaves_its_neighbours_bit_identical(table):
    broken = np.full_like(table, np.float32(1e30))
    healthy = [Problem(table, SETTINGS, seed) for seed in range(3)]
    reference = run_rounds(REFERENCE, make_batch(healthy), 0, 10)
    mixed = make_batch([healthy[0], Problem(broken, SETTINGS, 1), healthy[2]])
    state = run_rounds(REFERENCE, mixed, 0, 10)
    assert state.diverged_at.tolist() == [-1, 0, -1]
    for lane in (0, 2):
        assert np.array_equal(state.parameters["arcs"][lane], reference.parameters["arcs"][lane])


def test_optional_inputs_of_ones_change_nothing(table):
    d = table.shape[1]
    ones = {"support": np.ones((d, d)), "required": np.zeros((d, d)), "counted": np.ones((150, d))}
    plain = run_rounds(REFERENCE, make_batch([Problem(table, SETTINGS, 0)]), 0, 34)
    given = run_rounds(REFERENCE, make_batch([Problem(table, SETTINGS, 0, **ones)]), 0, 34)
    assert_close_after_100_steps(given, plain)


def test_required_arcs_are_not_shrunk(table):
    # The data are zero and λ₂ is zero, so that only λ₁ moves H.
    settings = {**SETTINGS, "lambda2": 0.0}
    required = np.zeros((10, 10), bool)
    required[2, 5] = required[7, 1] = True
    batch = make_batch([Problem(np.zeros_like(table), settings, 0, required=required)])
    assert batch.backend is REFERENCE
    before = np.asarray(batch.start().parameters["arcs"][0])
    after = run_rounds(REFERENCE, batch, 0, 5).parameters["arcs"][0]
    assert np.array_equal(after[required], before[required])
    large = ~required & (np.abs(before) > 0.2)
    assert np.all(np.abs(after[large]) < np.abs(before[large]))


def test_bound_orders_hold_after_every_round(table):
    # The gaps contradict the order in which the table was generated.
    gaps = np.full((10, 10), -np.inf)
    gaps[9, 4], gaps[4, 0], gaps[9, 0] = 1, 1, 2
    batch = make_batch([Problem(table, SETTINGS, 0, gaps=gaps)])
    state = batch.start()
    for first in range(10):
        state = REFERENCE.advance(batch, state, first, first + 1)
        p = np.asarray(state.parameters["order"][0])
        assert np.all((p[None, :] - p[:, None] - gaps * SETTINGS["shift"]) > -1e-6)


def test_gradient_of_the_loss_against_finite_differences():
    with jax.enable_x64(True):
        recipe = cosmo_recipe()
        random = np.random.default_rng(0)
        d = 5
        x = random.normal(size=(9, d))
        parameters = {"arcs": random.normal(size=(d, d)), "order": random.normal(size=d) * 0.1}
        settings = {**SETTINGS, "temperature": 0.2}
        counted = np.r_[random.random(8), 0.0][:, None] * (random.random((9, d)) < 0.7)
        support = np.asarray(random.random((d, d)) < 0.7, float)

        @partial(jax.jit, static_argnames="rows")
        def loss(arcs, order, rows=9):
            values = {"arcs": arcs, "order": order, "functions": {}}
            return recipe.loss(values, x[:rows], counted[:rows], settings, support)

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
        # The row of weight zero is not part of the mean.
        assert float(loss(**parameters)) == pytest.approx(
            float(loss(**parameters, rows=8)), rel=1e-12
        )
