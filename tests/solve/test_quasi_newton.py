"""L-BFGS-B on the covariance, compared with other solvers and with the objective in JAX."""

import os
import signal
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from constrained_problems import batch_of, free_recipe, minimise, zeros_for
from features import EVERY_FEATURE, given_features
from sklearn.linear_model import Lasso, LinearRegression

from cosmodag.graph.closed_forms import log_determinant_value_and_gradient
from cosmodag.graph.constraint import EXPONENTIAL, Constraint
from cosmodag.model.mechanism import MLP, Linear
from cosmodag.model.objective import Barrier, Penalised, half_squared_error, mean_squared_error
from cosmodag.model.structure import Free, Potential, Priority
from cosmodag.solve.methods.lagrangian import Lagrangian
from cosmodag.solve.minimisers import each_lane
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton, smooth_part
from cosmodag.solve.recipe import Recipe, full_loss
from cosmodag.solve.watch import Watch

LASSO = free_recipe(Penalised(half_squared_error))
NOTEARS = free_recipe(Penalised(half_squared_error, EXPONENTIAL))
POTENTIAL = Recipe(Potential(), Linear(), Penalised(half_squared_error))


def test_without_a_constraint_every_column_is_a_lasso():
    batch = batch_of(LASSO, [{"lambda1": 0.1, "rounds": 1e4}])
    found = minimise(QuasiNewton(tolerance=1e-13), batch)
    data = batch.given["data"][0]
    for v in range(6):
        others = np.delete(data, v, axis=1)
        lasso = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12, max_iter=10**5)
        expected = np.insert(lasso.fit(others, data[:, v]).coef_, v, 0)
        # It stops when no slope exceeds 1e-5; the smallest curvature is a few tenths.
        np.testing.assert_allclose(found.parameters["arcs"][0][:, v], expected, atol=1e-4)


def test_with_frozen_potentials_every_column_is_a_regression_on_what_is_below():
    batch = batch_of(POTENTIAL, [{"lambda1": 0.0, "rounds": 1e4}])
    phi = np.array([[3.0, 0.0, 1.0, 2.0, 5.0, 4.0]])
    start = {"arcs": np.zeros((1, 6, 6)), "order": phi, "functions": {}}
    found = minimise(QuasiNewton(tolerance=1e-14), batch, start)
    with jax.enable_x64(True):
        lane = {"arcs": found.parameters["arcs"][0], "order": jnp.asarray(phi[0]), "functions": {}}
        weights = np.asarray(POTENTIAL.strengths(lane, {}))
    data = batch.given["data"][0]
    for v in range(6):
        below = np.flatnonzero(phi[0] < phi[0, v])
        if len(below):
            line = LinearRegression(fit_intercept=False).fit(data[:, below], data[:, v])
            np.testing.assert_allclose(weights[below, v], line.coef_, atol=1e-4)
    assert np.all(weights[phi[0][:, None] >= phi[0]] == 0)


def loss_and_slope(batch, weights):
    """The recipe's own objective and its gradient at free weights, in double precision."""
    recipe = batch.recipe
    with jax.enable_x64(True):
        given = {name: jnp.asarray(batch.of_lane(name, 0)) for name in batch.given}
        counted = given.get("counted", jnp.ones((batch.rows, 1)))
        prices = 1 - given.get("required", jnp.zeros((6, 6)))

        def loss(arcs):
            parameters = {"arcs": arcs, "order": jnp.zeros(0), "functions": {}}
            return recipe.loss(
                parameters,
                given["data"],
                counted,
                batch.settings_of(0),
                given.get("support", 1.0),
                prices,
            )

        value, slope = jax.jit(jax.value_and_grad(loss))(jnp.asarray(weights))
        return float(value), np.asarray(slope)


@pytest.mark.parametrize("features", EVERY_FEATURE, ids="+".join)
@pytest.mark.parametrize(
    "recipe", [NOTEARS, free_recipe(Barrier(half_squared_error))], ids=["notears", "dagma"]
)
def test_closed_gradients_are_those_of_the_objective_in_jax(recipe, features):
    settings = {"lambda1": 0.3, "multiplier": 0.7, "penalty": 2.0, "score_weight": 0.4}
    given = given_features(features)
    batch = batch_of(recipe, [settings], **given)
    prices = 0.3 * (1 - given.get("required", np.zeros((6, 6))))
    allowed = given.get("support", np.ones((6, 6))) * (1 - np.eye(6))
    weights = np.random.default_rng(0).uniform(-0.4, 0.4, (6, 6)) * allowed
    covariances = each_lane.covariances_of(batch, 0)
    if recipe == NOTEARS:
        value, slope = smooth_part(covariances, EXPONENTIAL, settings)(weights)
    else:
        score, slope = each_lane.half_squared_error_of_moments(covariances, weights)
        h, up = log_determinant_value_and_gradient(weights)
        value, slope, prices = 0.4 * score + h, 0.4 * slope + up, 0.4 * prices
    value, slope = value + np.sum(prices * np.abs(weights)), slope + prices * np.sign(weights)
    expected, expected_slope = loss_and_slope(batch, weights)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(slope[allowed > 0], expected_slope[allowed > 0], rtol=1e-9)


@pytest.mark.parametrize("features", EVERY_FEATURE, ids="+".join)
@pytest.mark.parametrize(
    "structure", [Free(), Potential(from_zero=True)], ids=["free", "potential"]
)
def test_the_minimum_is_one_of_the_objective(structure, features):
    """No point nearby has a lower value of the recipe's objective, and forbidden arcs are zero."""
    recipe = Recipe(structure, Linear(), Penalised(half_squared_error))
    given = given_features(features)
    batch = batch_of(recipe, [{"lambda1": 0.1, "rounds": 1e4}], **given)
    start = zeros_for(batch)
    if structure != Free():
        start["order"] = np.random.default_rng(1).permutation(6)[None].astype(float)
    found = minimise(QuasiNewton(tolerance=1e-14), batch, start)
    assert found.converged.all()
    counted = batch.of_lane("counted", 0)
    prices = 1 - given.get("required", np.zeros((6, 6)))
    with jax.enable_x64(True):
        lane = {name: jnp.asarray(found.parameters[name][0]) for name in ("arcs", "order")}

        def loss(arcs):
            return full_loss(
                recipe,
                {**lane, "arcs": arcs, "functions": {}},
                batch.of_lane("data", 0),
                {"lambda1": 0.1},
                counted,
                given.get("support", 1.0),
                prices,
            )

        least = float(loss(lane["arcs"]))
        assert least == pytest.approx(found.loss[0], rel=1e-12)
        random = np.random.default_rng(2)
        moves = 1e-3 * random.normal(size=(200, 6, 6))
        moves[100:] *= random.random((100, 6, 6)) < 0.05
        assert np.asarray(jax.vmap(loss)(lane["arcs"] + moves)).min() >= least - 1e-9
    forbidden = given.get("support", np.ones((6, 6))) == 0
    if structure == Free():
        assert np.all(found.parameters["arcs"][0][forbidden] == 0)
    assert np.count_nonzero(found.parameters["arcs"]) > 5


def test_a_variable_is_not_learnt_from_entries_that_do_not_count():
    given = given_features(("counted",))
    batch = batch_of(LASSO, [{"rounds": 1e4}], **given)
    found = minimise(QuasiNewton(tolerance=1e-14), batch)
    unseen = given["counted"][:, 2] == 0
    others = np.delete(batch.given["data"][0], 2, axis=1)[~unseen]
    n = given["counted"].sum() / 6
    lasso = Lasso(alpha=0.02 * n / len(others), fit_intercept=False, tol=1e-12, max_iter=10**5)
    expected = lasso.fit(others, batch.given["data"][0][~unseen, 2]).coef_
    np.testing.assert_allclose(np.delete(found.parameters["arcs"][0][:, 2], 2), expected, atol=1e-4)


def test_one_covariance_for_each_set_of_rows():
    batch = batch_of(LASSO, [{}], **given_features(("counted",)))
    covariances = each_lane.covariances_of(batch, 0)
    assert covariances.matrices.shape == (3, 6, 6)
    assert sorted(covariances.members.tolist()) == list(range(6))
    assert each_lane.covariances_of(batch_of(LASSO, [{}]), 0).matrices.shape == (1, 6, 6)


class Other(Free):
    """A structure defined outside the package."""


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (NOTEARS, True),
        (LASSO, True),
        (POTENTIAL, True),
        (free_recipe(Penalised(mean_squared_error, EXPONENTIAL)), False),
        (free_recipe(Penalised(half_squared_error, EXPONENTIAL), masked=False), False),
        (Recipe(Other(), Linear(), NOTEARS.objective), False),
        (Recipe(Priority(), Linear(), NOTEARS.objective), False),
        (Recipe(Free(), MLP(), NOTEARS.objective), False),
        (free_recipe(Barrier(half_squared_error)), False),
        (replace(NOTEARS, batch_size=64), False),
    ],
)
def test_it_takes_exactly_what_it_implements_and_training_takes_the_rest(recipe, expected):
    chosen = Lagrangian(recipe, (QuasiNewton(), Stochastic())).minimiser_of(recipe)
    assert chosen == (QuasiNewton() if expected else Stochastic())


def test_a_subclassed_structure_is_trained_at_once():
    recipe = Recipe(Other(), Linear(), Penalised(half_squared_error), batch_size=64)
    batch = batch_of(recipe, [{"rounds": 3.0}])
    minimiser = Lagrangian(recipe, (QuasiNewton(), Stochastic())).minimiser_of(recipe)
    found = minimise(minimiser, batch)
    assert found.iterations == 3
    assert np.all(np.isfinite(found.loss))


def test_too_few_iterations_are_not_convergence():
    found = minimise(QuasiNewton(tolerance=1e-14), batch_of(LASSO, [{"rounds": 2.0}]))
    assert not found.converged.any()


def test_lanes_that_are_finished_are_left_alone():
    batch = batch_of(LASSO, [{}, {}])
    found = minimise(QuasiNewton(), batch, active=[False, True])
    assert np.all(found.parameters["arcs"][0] == 0)
    assert np.any(found.parameters["arcs"][1] != 0)


def test_an_interrupt_ends_it_at_the_next_iteration_and_keeps_the_result():
    def interrupt(weights):
        evaluations.append(1)
        if len(evaluations) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.0, np.zeros_like(weights)

    evaluations: list[int] = []
    constraint = Constraint(EXPONENTIAL.of, lambda: interrupt)
    batch = batch_of(free_recipe(Penalised(half_squared_error, constraint)), [{}])
    every = np.ones(batch.size, bool)
    with pytest.raises(KeyboardInterrupt), Watch(1, "test") as watch:
        found = QuasiNewton().minimise(batch, zeros_for(batch), every, 0, watch)
    assert found.stopped == "interrupt"
    assert len(evaluations) < 10
    assert np.any(found.parameters["arcs"] != 0)
    assert np.isfinite(found.loss).all()
