"""Sub-problems of NOTEARS and DAGMA for networks: objectives, minimisers, refusals."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from constrained_problems import minimise, solve
from features import FEATURES, given_features
from jax.test_util import check_grads
from solver_problems import make_table

from cosmodag.graph.constraint import EXPONENTIAL
from cosmodag.model.mechanism import MLP, Linear
from cosmodag.model.objective import (
    Barrier,
    Decayed,
    Penalised,
    Predicted,
    half_squared_error,
    log_residual_variances,
    log_squared_error,
)
from cosmodag.model.structure import Free
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.methods.solver import Progress
from cosmodag.solve.minimisers.full_batch import FullBatch
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.recipe import Inside, Recipe, full_loss
from cosmodag.solve.training.loop import REFERENCE

SETTINGS = {
    "lambda1": 0.02,
    "lambda2": 0.3,
    "rounds": 100.0,
    "learning_rate": 1e-3,
    "priority_learning_rate": 1e-3,
    "beta1": 0.99,
    "beta2": 0.999,
}
FOR_DAGMA = {**SETTINGS, "score_weight": 0.1, "radius": 1.0}
FOR_NOTEARS = {**SETTINGS, "multiplier": 0.5, "penalty": 2.0}
DAGMA = Decayed(Barrier(log_squared_error), biases=True)
NOTEARS = Decayed(Penalised(half_squared_error, EXPONENTIAL))


def recipe_of(objective, guard=None):
    return Recipe(Free(from_zero=False), MLP((4,)), objective, guard=guard)


def batch_of(recipe, table, settings, **given):
    problem = Problem(table, settings, 1, **given)
    return Batch.of(recipe, [problem], jax.devices("cpu")[0], {recipe: REFERENCE})


@pytest.fixture
def table():
    return make_table(n=100, d=6)


@pytest.mark.parametrize(
    ("objective", "settings"),
    [(DAGMA, FOR_DAGMA), (NOTEARS, FOR_NOTEARS)],
    ids=["dagma", "notears"],
)
def test_gradients_against_finite_differences(objective, settings):
    with jax.enable_x64(True):
        recipe = recipe_of(objective)
        random = np.random.default_rng(0)
        parameters = jax.tree.map(
            lambda value: (
                np.where(random.random(value.shape) < 0.5, -1, 1)
                * random.uniform(0.02, 0.1, value.shape)
            ),
            jax.eval_shape(lambda: recipe.start(0, 4, settings)),
        )
        x, rows = random.normal(size=(7, 4)), np.r_[np.ones(6), 0.0][:, None]
        check_grads(
            jax.jit(lambda values: recipe.loss(values, x, rows, settings)),
            (parameters,),
            order=1,
            modes=["rev"],
            eps=1e-6,
            atol=1e-6,
            rtol=1e-6,
        )


def test_what_decay_counts():
    recipe = recipe_of(NOTEARS)
    parameters = recipe.start(0, 4, SETTINGS)
    weights = recipe.structure.orient(parameters, SETTINGS, 1.0)
    functions = parameters["functions"]
    x = np.zeros((3, 4), np.float32)
    arguments = (parameters, weights, Predicted(x, x, np.ones((3, 1), np.float32)), FOR_NOTEARS)

    def value(objective):
        return float(jax.jit(objective)(*arguments))

    plain = Penalised(half_squared_error, EXPONENTIAL)
    output = functions["output"]
    squares = np.sum(np.square(weights)) + np.sum(np.square(output["weights"]))
    assert value(NOTEARS) - value(plain) == pytest.approx(0.15 * float(squares), rel=1e-4)
    squares += np.sum(np.square(functions["biases"])) + np.sum(np.square(output["biases"]))
    counted = Decayed(plain, biases=True)
    assert value(counted) - value(plain) == pytest.approx(0.15 * float(squares), rel=1e-4)


def test_the_score_of_dagma_is_a_likelihood():
    """½ d log σ̂² for residuals of standard deviation σ, whatever the values in padding rows."""
    x = np.zeros((1000, 5))
    predicted = np.random.default_rng(0).normal(size=x.shape) * 2
    rows = np.r_[np.ones(900), np.zeros(100)][:, None]
    expected = 2.5 * np.log((predicted[:900] ** 2).sum() / 900)
    assert float(log_squared_error(Predicted(x, predicted, rows))) == pytest.approx(
        expected, rel=1e-5
    )


def test_leaving_the_domain_is_refused_and_overcome(table):
    minimiser = Stochastic()
    recipe = recipe_of(DAGMA, Inside())
    # A step of 3 leaves the domain, where the spectral radius of A is below one.
    batch = batch_of(recipe, table, {**FOR_DAGMA, "learning_rate": 3.0})
    assert minimise(minimiser, batch, Progress(batch).parameters).refused[0]
    path = CentralPath(recipe, (minimiser,), (Stage(0.1, 1.0, 100), Stage(0.01, 1.0, 100)))
    (solution,) = solve(path, batch)
    accepted = [record["accepted"] for record in solution.history]
    assert accepted[0] == 0.0
    assert sum(accepted) == 2
    assert solution.diverged_at is None
    strengths = np.asarray(recipe.strengths(solution.parameters, {}))
    radius = np.abs(np.linalg.eigvals(strengths**2)).max()
    assert radius < 1.0


def slope_of(batch, parameters, given):
    """Gradient with respect to the arcs, without the one-norm, in double precision."""
    with jax.enable_x64(True):
        settings = {**batch.settings_of(0), "lambda1": 0.0}
        counted = given.get("counted", np.ones((batch.rows, 1)))
        arguments = (batch.of_lane("data", 0), counted, settings, given.get("support", 1.0))
        gradient = jax.jit(jax.grad(batch.recipe.loss))(parameters, *arguments)
    return np.asarray(gradient["arcs"])


@pytest.mark.parametrize("features", [(), FEATURES], ids="+".join)
def test_the_full_batch_reaches_a_stationary_point(table, features):
    given = given_features(features, n=100)
    settings = {**FOR_NOTEARS, "rounds": 3000.0}
    batch = batch_of(recipe_of(NOTEARS), table.astype(np.float64), settings, **given)
    found = minimise(FullBatch(tolerance=1e-10), batch, Progress(batch).parameters)
    parameters = jax.tree.map(lambda stacked: stacked[0], found.parameters)
    arcs = parameters["arcs"]
    allowed = (given.get("support", np.ones((6, 6))) * (1 - np.eye(6))) > 0
    price = np.broadcast_to(
        0.02 * (1 - given.get("required", np.zeros((6, 6))))[..., None], arcs.shape
    )
    assert found.converged.all()
    assert arcs.dtype == np.float64
    assert not arcs[~allowed].any()
    assert (arcs == 0).mean() > 0.3
    slope, at_zero = slope_of(batch, parameters, given), arcs == 0
    # At a minimum, slopes are at most λ₁ in size where a weight is zero, and equal to λ₁ elsewhere.
    assert np.all(np.abs(slope[at_zero]) < price[at_zero] + 1e-3)
    np.testing.assert_allclose(np.abs(slope[~at_zero]), price[~at_zero], atol=1e-3)


def test_the_full_batch_takes_any_loss_and_mechanism():
    """Half the log residual variance is a loss that the package does not define."""
    recipe = Recipe(Free(), Linear(), Penalised(log_residual_variances, EXPONENTIAL))
    table = make_table(n=100, d=6, dtype=np.float64)
    batch = batch_of(recipe, table, {**FOR_NOTEARS, "lambda1": 0.01, "rounds": 300.0})
    assert FullBatch().implements(recipe)
    assert not FullBatch().implements(recipe_of(DAGMA, Inside()))
    assert not FullBatch().implements(replace(recipe, batch_size=64))
    found = minimise(FullBatch(), batch, Progress(batch).parameters)
    with jax.enable_x64(True):
        lane = jax.tree.map(lambda stacked: stacked[0], found.parameters)
        value = float(full_loss(recipe, lane, table, batch.settings_of(0)))
    assert found.loss[0] == pytest.approx(value, rel=1e-12)
    assert value < float(np.mean(np.log(table.var(axis=0))))


def test_lanes_that_are_not_active_are_left_alone(table):
    batch = batch_of(recipe_of(NOTEARS), table, FOR_NOTEARS)
    start = Progress(batch).parameters
    found = minimise(FullBatch(), batch, start, active=[False])
    assert found.iterations == 0
    others = ~np.eye(6, dtype=bool)
    assert np.array_equal(found.parameters["arcs"][:, others], start["arcs"][:, others])
