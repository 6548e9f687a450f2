"""L-BFGS-B on the covariance: against other people's solvers and against the same in JAX."""

import os
import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from constrained_problems import batch_of, free_recipe
from sklearn.linear_model import Lasso, LinearRegression

from cosmodag.acyclicity.closed_forms import log_determinant_value_and_gradient
from cosmodag.constraint import EXPONENTIAL, Constraint
from cosmodag.objective import Barrier, Penalised, half_squared_error
from cosmodag.solver.minimisers import covariance
from cosmodag.solver.minimisers.quasi_newton import QuasiNewton
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free, Potential


def minimise(minimiser, batch, parameters=None, max_time=None):
    k, d = batch.size, batch.variables
    if parameters is None:
        parameters = {"arcs": np.zeros((k, d, d)), "order": np.zeros((k, 0)), "functions": {}}
    with Watch(1, "test", max_time) as watch:
        return minimiser.minimise(batch, parameters, np.ones(k, bool), 0, watch)


def test_without_a_constraint_every_column_is_a_lasso():
    batch = batch_of(free_recipe(), [{"lambda1": 0.1, "epochs": 1e4}])
    found = minimise(QuasiNewton(Free(), tolerance=1e-13), batch)
    data = batch.tables[0]
    for v in range(6):
        others = np.delete(data, v, axis=1)
        lasso = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12, max_iter=10**5)
        expected = np.insert(lasso.fit(others, data[:, v]).coef_, v, 0)
        # It stops once no slope is above 1e-5; the least curvature is some tenths.
        np.testing.assert_allclose(found.parameters["arcs"][0][:, v], expected, atol=1e-4)


def test_with_frozen_potentials_every_column_is_a_regression_on_what_is_below():
    batch = batch_of(free_recipe(), [{"lambda1": 0.0, "epochs": 1e4}])
    phi = np.array([[3.0, 0.0, 1.0, 2.0, 5.0, 4.0]])
    minimiser = QuasiNewton(Potential(), tolerance=1e-14)
    start = {"arcs": np.zeros((1, 6, 6)), "order": phi, "functions": {}}
    found = minimise(minimiser, batch, start)
    lane = {"arcs": found.parameters["arcs"][0], "order": phi[0]}
    weights = minimiser.read_out(batch.recipe, lane)
    data = batch.tables[0]
    for v in range(6):
        below = np.flatnonzero(phi[0] < phi[0, v])
        if len(below):
            line = LinearRegression(fit_intercept=False).fit(data[:, below], data[:, v])
            np.testing.assert_allclose(weights[below, v], line.coef_, atol=1e-4)
    assert np.all(weights[phi[0][:, None] >= phi[0]] == 0)
    np.testing.assert_allclose(Potential().orient(lane["arcs"], phi[0], {}), weights, rtol=1e-5)


@pytest.mark.parametrize("objective", ["penalised", "barrier"])
def test_closed_gradients_are_those_of_the_objective_in_jax(objective):
    acyclic = Penalised(half_squared_error, EXPONENTIAL.of)
    recipe = free_recipe(acyclic if objective == "penalised" else Barrier(half_squared_error))
    settings = {"lambda1": 0.3, "multiplier": 0.7, "penalty": 2.0, "score_weight": 0.4}
    batch = batch_of(recipe, [settings])
    weights = np.random.default_rng(0).uniform(-0.4, 0.4, (6, 6)) * (1 - np.eye(6))
    score, slope = covariance.half_squared_error(covariance.covariance_of(batch, 0), weights)
    score, slope = score + 0.3 * np.abs(weights).sum(), slope + 0.3 * np.sign(weights)
    if objective == "penalised":
        h, up = EXPONENTIAL.evaluator()(weights)
        value, gradient = score + 0.7 * h + h * h, slope + (0.7 + 2 * h) * up
    else:
        h, up = log_determinant_value_and_gradient(weights)
        value, gradient = 0.4 * score + h, 0.4 * slope + up
    with jax.enable_x64(True):
        data = jnp.asarray(batch.tables[0])
        numbers = {name: jnp.asarray(values[0]) for name, values in batch.settings.items()}

        def loss(arcs):
            parameters = {"arcs": arcs, "order": jnp.zeros(0), "functions": {}}
            return recipe.loss(parameters, data, jnp.ones(len(data)), numbers)

        expected, expected_slope = jax.value_and_grad(loss)(jnp.asarray(weights))
    assert value == pytest.approx(float(expected), rel=1e-12)
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(gradient[off], np.asarray(expected_slope)[off], rtol=1e-9)


def test_lanes_that_are_finished_are_left_alone():
    batch = batch_of(free_recipe(), [{}, {}])
    parameters = {"arcs": np.zeros((2, 6, 6)), "order": np.zeros((2, 0)), "functions": {}}
    with Watch(1, "test") as watch:
        found = QuasiNewton(Free()).minimise(batch, parameters, np.array([False, True]), 0, watch)
    assert np.all(found.parameters["arcs"][0] == 0)
    assert np.any(found.parameters["arcs"][1] != 0)


def test_an_interrupt_ends_it_at_the_next_iteration_with_what_there_is():
    def interrupt(weights):
        evaluations.append(1)
        if len(evaluations) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.0, np.zeros_like(weights)

    evaluations: list[int] = []
    batch = batch_of(free_recipe(), [{}])
    found = minimise(QuasiNewton(Free(), Constraint(None, lambda: interrupt)), batch)
    assert found.stopped == "interrupt"
    assert len(evaluations) < 10
    assert np.any(found.parameters["arcs"] != 0)
    assert np.isfinite(found.loss).all()
