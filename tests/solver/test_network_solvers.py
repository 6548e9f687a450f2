"""Sub-problems of NOTEARS and DAGMA for networks: objectives, the compiled descent, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from solver_problems import make_table

from cosmodag.constraint import EXPONENTIAL
from cosmodag.mechanism import MLP
from cosmodag.network_penalties import Decayed, Inside, log_squared_error
from cosmodag.objective import Barrier, Penalised, half_squared_error
from cosmodag.solver.methods.central_path import CentralPath, Stage
from cosmodag.solver.methods.rounds import Lanes
from cosmodag.solver.minimisers.barrier_networks import NetworkDescent
from cosmodag.solver.minimisers.full_batch import NetworkNewton
from cosmodag.solver.minimisers.stochastic import Stochastic
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.schedules import constant
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free

SETTINGS = {
    "lambda1": 0.02,
    "lambda2": 0.3,
    "epochs": 100.0,
    "learning_rate": 1e-3,
    "priority_learning_rate": 1e-3,
    "beta1": 0.99,
    "beta2": 0.999,
}
FOR_DAGMA = {**SETTINGS, "score_weight": 0.1, "radius": 1.0}
FOR_NOTEARS = {**SETTINGS, "multiplier": 0.5, "penalty": 2.0}
DAGMA = Decayed(Barrier(log_squared_error), biases=True)
NOTEARS = Decayed(Penalised(half_squared_error, EXPONENTIAL.of))


def recipe_of(objective, guard=None):
    return Recipe(Free(), MLP((4,)), objective, constant, 10**9, None, guard)


def batch_of(recipe, table, settings):
    problem = Problem(table, settings, 1)
    return Batch.of(recipe, [problem], jax.devices("cpu")[0])


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
            recipe.start(0, 4, settings),
        )
        x, rows = random.normal(size=(7, 4)), np.r_[np.ones(6), 0.0]
        check_grads(
            lambda values: recipe.loss(values, x, rows, settings),
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
    weights = recipe.structure.orient(parameters["arcs"], parameters["order"], SETTINGS)
    functions = parameters["functions"]
    x = jnp.zeros((3, 4))
    arguments = (parameters, weights, x, x, jnp.ones(3), FOR_NOTEARS)
    squares = jnp.sum(weights**2) + jnp.sum(functions["output"]["weights"] ** 2)
    without = Penalised(half_squared_error, EXPONENTIAL.of)(*arguments)
    assert NOTEARS(*arguments) - without == pytest.approx(0.15 * float(squares), rel=1e-4)
    squares += jnp.sum(functions["biases"] ** 2) + jnp.sum(functions["output"]["biases"] ** 2)
    counted = Decayed(Penalised(half_squared_error, EXPONENTIAL.of), biases=True)
    assert counted(*arguments) - without == pytest.approx(0.15 * float(squares), rel=1e-4)


def test_the_score_of_dagma_is_a_likelihood():
    """½ d log σ̂² of residuals of deviation σ, whatever the rows that only fill up."""
    x = np.zeros((1000, 5))
    predicted = np.random.default_rng(0).normal(size=x.shape) * 2
    rows = np.r_[np.ones(900), np.zeros(100)]
    expected = 2.5 * np.log((predicted[:900] ** 2).sum() / 900)
    assert float(log_squared_error(x, predicted, rows)) == pytest.approx(expected, rel=1e-5)


def test_the_compiled_descent_takes_the_steps_of_the_loop(table):
    batch = batch_of(recipe_of(DAGMA, Inside()), table, FOR_DAGMA)
    start = Lanes.of(batch).parameters
    start["arcs"] = start["arcs"] * 0.3
    with Watch(200, "test") as watch:
        ours, theirs = (
            minimiser.minimise(batch, start, np.array([True]), 0, watch)
            for minimiser in (NetworkDescent(), Stochastic())
        )
    assert ours.epochs == theirs.epochs == 100
    assert not ours.refused[0]
    assert not theirs.refused[0]
    mask = 1 - np.eye(6)[None, :, :, None]
    ours.parameters["arcs"], theirs.parameters["arcs"] = (
        found.parameters["arcs"] * mask for found in (ours, theirs)
    )
    # 100 steps in float32; both objectives are those before the last step.
    for a, b in zip(
        jax.tree.leaves(ours.parameters), jax.tree.leaves(theirs.parameters), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-4)
    assert ours.loss[0] == pytest.approx(theirs.loss[0], rel=1e-4)


@pytest.mark.parametrize(
    "minimiser", [NetworkDescent(), Stochastic()], ids=lambda m: type(m).__name__
)
def test_leaving_the_domain_is_refused_and_overcome(table, minimiser):
    recipe = recipe_of(DAGMA, Inside())
    # A step of 3 leaves the domain, where the spectral radius of A is below one.
    batch = batch_of(recipe, table, {**FOR_DAGMA, "learning_rate": 3.0})
    with Watch(500, "test") as watch:
        found = minimiser.minimise(batch, Lanes.of(batch).parameters, np.array([True]), 0, watch)
        assert found.refused[0]
        path = CentralPath(recipe, minimiser, (Stage(0.1, 1.0, 100), Stage(0.01, 1.0, 100)))
        (solution,) = path.solve(batch, watch)
    accepted = [record["accepted"] for record in solution.history]
    assert accepted[0] == 0.0
    assert sum(accepted) == 2
    assert solution.diverged_at is None
    radius = np.abs(np.linalg.eigvals(path.read_out(solution.parameters) ** 2)).max()
    assert radius < 1.0


def test_newton_reaches_a_stationary_point(table):
    batch = batch_of(
        recipe_of(NOTEARS), table.astype(np.float64), {**FOR_NOTEARS, "epochs": 3000.0}
    )
    with Watch(100, "test") as watch:
        found = NetworkNewton(tolerance=1e-10).minimise(
            batch, Lanes.of(batch).parameters, np.array([True]), 0, watch
        )
    parameters = jax.tree.map(lambda stacked: stacked[0], found.parameters)
    arcs = parameters["arcs"]
    assert arcs.dtype == np.float64
    assert not arcs[np.eye(6, dtype=bool)].any()
    assert (arcs == 0).mean() > 0.3
    with jax.enable_x64(True):
        settings = {**FOR_NOTEARS, "lambda1": 0.0}
        gradient = jax.grad(batch.recipe.loss)(parameters, batch.tables[0], np.ones(100), settings)
    slope = np.asarray(gradient["arcs"])[~np.eye(6, dtype=bool)]
    # The one-norm allows slopes of λ₁ where a weight is zero, and asks for them elsewhere.
    at_zero = arcs[~np.eye(6, dtype=bool)] == 0
    assert np.abs(slope[at_zero]).max() < 0.02 + 1e-3
    np.testing.assert_allclose(np.abs(slope[~at_zero]), 0.02, atol=1e-3)


@pytest.mark.parametrize(
    ("minimiser", "recipe", "settings"),
    [
        (NetworkNewton(), recipe_of(NOTEARS), FOR_NOTEARS),
        (NetworkDescent(), recipe_of(DAGMA, Inside()), FOR_DAGMA),
    ],
    ids=["newton", "descent"],
)
def test_lanes_that_are_not_active_are_left_alone(table, minimiser, recipe, settings):
    batch = batch_of(recipe, table, settings)
    start = Lanes.of(batch).parameters
    with Watch(100, "test") as watch:
        found = minimiser.minimise(batch, start, np.array([False]), 0, watch)
    assert found.epochs == 0
    others = ~np.eye(6, dtype=bool)
    assert np.array_equal(found.parameters["arcs"][:, others], start["arcs"][:, others])
