"""The central path and DAGMA's own descent."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from constrained_problems import (
    SETTINGS,
    Scripted,
    batch_of,
    free_recipe,
    minimise,
    solve,
    zeros_for,
)
from features import EVERY_FEATURE, given_features
from hypothesis import given as drawn
from hypothesis import strategies as st

from cosmodag.graph.acyclicity import in_domain
from cosmodag.graph.closed_forms import log_determinant_value_and_gradient
from cosmodag.model.objective import Barrier, half_squared_error, mean_squared_error
from cosmodag.solve.methods.central_path import CentralPath, Stage
from cosmodag.solve.minimisers import barrier_linear, each_lane
from cosmodag.solve.minimisers.barrier_linear import (
    LinearDescent,
    StageSettings,
    descend,
    invert_m_matrix,
)
from cosmodag.solve.minimisers.each_lane import Arcs
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.recipe import Domain
from cosmodag.solve.training.adam import adam_step, fresh_state
from cosmodag.solve.watch import Watch

DAGMA = free_recipe(Barrier(half_squared_error))

STAGES = (Stage(1.0, 1.0, 300), Stage(0.1, 0.9, 300), Stage(0.01, 0.8, 600))


def test_stages_follow_one_another():
    minimiser = Scripted([[0.3], [0.2], [0.1]])
    solver = CentralPath(DAGMA, (minimiser,), STAGES)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    asked = minimiser.asked
    assert [settings["score_weight"][0] for settings in asked] == [1, 0.1, 0.01]
    assert [settings["radius"][0] for settings in asked] == [1, 0.9, 0.8]
    assert [settings["rounds"][0] for settings in asked] == [300, 300, 600]
    assert solution.parameters["arcs"][0, 1] == 0.1
    assert solution.converged


def test_attempts_are_bounded():
    minimiser = Scripted([[0.3, 0.3, 0.3], [None, np.nan, 0.2], [None, np.nan, 0.1]])
    solver = CentralPath(DAGMA, (minimiser,), STAGES, attempts=4)
    refused, diverged, other = solve(solver, batch_of(DAGMA, [{}, {}, {}]))
    assert len(minimiser.asked) == 5
    assert refused.diverged_at is None
    assert diverged.diverged_at == 50
    assert other.diverged_at is None
    assert [s.converged for s in (refused, diverged, other)] == [False, False, True]
    assert refused.parameters["arcs"][0, 1] == diverged.parameters["arcs"][0, 1] == 0.3


def test_data_too_large_for_numbers_is_divergence():
    recipe = free_recipe(Barrier(mean_squared_error), masked=False, guard=Domain())
    solver = CentralPath(recipe, (Stochastic(),), (Stage(1.0, 1.0, 3),), attempts=3)
    batch = batch_of(recipe, [{"beta1": 0.9}], d=3)
    batch.given["data"] *= 1e22
    [solution] = solve(solver, batch)
    assert solution.diverged_at is not None
    assert np.isfinite(solution.parameters["arcs"]).all()


def test_a_refused_stage_restarts_with_a_wider_domain_and_smaller_steps():
    minimiser = Scripted([[0.3, 0.3], [None, 0.2], [None, 0.1], [0.2, 9.0], [0.1, 9.0]])
    solver = CentralPath(DAGMA, (minimiser,), STAGES)
    first, second = solve(solver, batch_of(solver.recipe, [{}, {}]))
    rates = [
        settings["learning_rate"][0] / SETTINGS["learning_rate"] for settings in minimiser.asked
    ]
    radii = [settings["radius"][0] for settings in minimiser.asked]
    assert rates == [1, 1, 0.5, 0.25, 1]
    np.testing.assert_allclose(radii, [1, 0.9, 1.0, 1.1, 0.8])
    assert [start[0] for start in minimiser.started] == [0, 0.3, 0.3, 0.3, 0.2]
    assert first.parameters["arcs"][0, 1] == 0.1
    assert second.parameters["arcs"][0, 1] == 0.1
    assert [record["accepted"] for record in first.history] == [1, 0, 0, 1, 1]


@drawn(
    d=st.integers(2, 40),
    size=st.floats(0.1, 2.0),
    density=st.floats(0.1, 1.0),
    s=st.floats(0.5, 1.5),
    seed=st.integers(0, 10**6),
)
def test_elimination_recognises_m_matrices_and_inverts_them(d, size, density, s, seed):
    random = np.random.default_rng(seed)
    # The spectral radii of W∘W lie on both sides of s, for one block of rows and for several.
    weights = random.normal(size=(d, d)) * (random.random((d, d)) < density)
    weights *= 1e22 / np.sqrt(d * density)
    inverse = np.empty_like(weights)
    is_inside = invert_m_matrix(weights, s, inverse)
    radius = np.abs(np.linalg.eigvals(weights * weights)).max()
    # sI − A is a nonsingular M-matrix exactly if the spectral radius of A is below s. If their
    # difference is smaller than this, rounding decides.
    if abs(radius - s) > 1e-9:
        assert is_inside == (radius < s)
    if is_inside and radius < s - 1e-6:
        exact = np.linalg.inv(s * np.eye(d) - weights * weights)
        # The condition number is below 1e8, so at most eight digits are lost.
        np.testing.assert_allclose(inverse, exact, rtol=1e-6, atol=1e-7 * np.abs(exact).max())
        assert np.all(inverse >= 0)


def test_not_a_number_is_outside():
    assert not invert_m_matrix(np.full((2, 2), np.nan), 1.0, np.empty((2, 2)))


def plain_dagma(covariance, stage, price, iterations):
    """DAGMA's iterations as in its authors' code, with the diagonal masked."""
    d = len(covariance)
    weights, mean, square = np.zeros((3, d, d))
    for step in range(1, iterations + 1):
        inverse = np.linalg.inv(stage.radius * np.eye(d) - weights * weights)
        gradient = -stage.score_weight * covariance @ (np.eye(d) - weights)
        gradient += price * np.sign(weights)
        gradient += 2 * weights * inverse.T
        mean = stage.beta1 * mean + (1 - stage.beta1) * gradient
        square = stage.beta2 * square + (1 - stage.beta2) * gradient**2
        root = np.sqrt(square / (1 - stage.beta2**step)) + 1e-8
        weights = weights - stage.learning_rate * (mean / (1 - stage.beta1**step)) / root
        weights *= 1 - np.eye(d)
    return weights


def one_problem(price=0.03):
    """Covariances and arcs of six variables."""
    covariances = each_lane.covariances_of(batch_of(DAGMA, [{}]), 0)
    return covariances, Arcs(1 - np.eye(6), np.full((6, 6), price))


def test_the_compiled_descent_is_the_plain_one():
    covariances, arcs = one_problem()
    stage = StageSettings(1.0, 1.0, 1e-3, 0.99, 0.999)
    weights, mean, square, move = np.zeros((4, 6, 6))
    ended = descend(covariances, arcs, weights, mean, square, move, stage, 1e-3, 0, 120)
    assert ended == (120, 1e-3, 0)
    # Rounding errors grow over 120 steps.
    expected = plain_dagma(covariances.matrices[0], stage, 0.03, 120)
    np.testing.assert_allclose(weights, expected, atol=1e-10)


@pytest.mark.parametrize("features", EVERY_FEATURE, ids="+".join)
def test_the_compiled_descent_follows_the_recipe(features):
    """Fifty steps of Adam along the gradient of the recipe's own objective."""
    given = given_features(features)
    batch = batch_of(DAGMA, [{"rounds": 50.0, "learning_rate": 1e-2}], **given)
    found = minimise(LinearDescent(), batch)
    with jax.enable_x64(True):
        arrays = {name: jnp.asarray(batch.of_lane(name, 0)) for name in batch.given}
        counted = arrays.get("counted", jnp.ones((batch.rows, 1)))
        rest = (
            arrays.get("support", jnp.ones((6, 6))),
            1 - arrays.get("required", jnp.zeros((6, 6))),
        )
        settings = batch.settings_of(0)

        def loss(parameters):
            return DAGMA.loss(parameters, arrays["data"], counted, settings, *rest)

        start = {"arcs": jnp.zeros((6, 6)), "order": jnp.zeros(0), "functions": {}}

        @jax.jit
        def step(state):
            return adam_step(state, jax.grad(loss)(state.parameters), settings)

        state = fresh_state(start)
        for _ in range(50):
            state = step(state)
        expected = float(jax.jit(loss)(state.parameters))
        weights = np.asarray(DAGMA.structure.orient(state.parameters, settings, rest[0]))
    # Rounding errors grow over 50 steps.
    np.testing.assert_allclose(found.parameters["arcs"][0], weights, atol=1e-10)
    assert np.all(found.parameters["arcs"][0][np.asarray(rest[0]) == 0] == 0)
    assert found.loss[0] == pytest.approx(expected, rel=1e-10)
    assert not found.converged[0]


def test_a_descent_in_pieces_is_bit_identical():
    problem = one_problem()
    stage = StageSettings(1.0, 1.0, 1e-3, 0.99, 0.999)
    whole, pieces = np.zeros((4, 6, 6)), np.zeros((4, 6, 6))
    descend(*problem, *whole, stage, 1e-3, 0, 100)
    for done in range(0, 100, 25):
        descend(*problem, *pieces, stage, 1e-3, done, done + 25)
    assert np.array_equal(whole, pieces)


def test_a_step_that_leaves_a_wide_domain_is_halved():
    covariances, arcs = one_problem(price=0.0)
    stage = StageSettings(1e3, 1.0, 0.3, 0.99, 0.999)
    weights, mean, square, move = np.zeros((4, 6, 6))
    done, rate, status = descend(covariances, arcs, weights, mean, square, move, stage, 0.3, 0, 200)
    assert status == 0
    assert rate < 0.3
    assert done == 200


def test_a_step_that_leaves_a_narrow_domain_ends_the_stage():
    batch = batch_of(
        DAGMA, [{"score_weight": 1e3, "radius": 0.8, "learning_rate": 0.3}, {"radius": 0.8}]
    )
    found = minimise(LinearDescent(), batch)
    assert found.refused.tolist() == [True, False]
    assert found.iterations == 500
    assert not found.converged.any()


def test_descent_ends_when_the_objective_rests():
    batch = batch_of(DAGMA, [{"rounds": 1e5, "learning_rate": 1e-2}])
    found = minimise(LinearDescent(tolerance=1e-4), batch)
    assert found.iterations < 1e5
    assert found.converged.all()


def test_a_stop_between_two_iterations_leaves_the_objective_of_the_weights():
    class LateStop(Watch):
        """A watch whose time limit expires after two checks."""

        reads = 0

        @property
        def stop(self) -> str | None:
            self.reads += 1
            return "time" if self.reads > 2 else None

    batch = batch_of(DAGMA, [{}])
    start = {name: value[0] for name, value in zeros_for(batch).items() if name != "functions"}
    found = LinearDescent().solve_one(batch, 0, start, LateStop(1, "test", show=False))
    stage = StageSettings(1.0, 1.0, 1e-3, 0.99, 0.999)
    arcs = each_lane.lane_arcs(batch, 0, 1 - np.eye(6), 0.02)
    weights = found.parameters["arcs"]
    covariances = each_lane.covariances_of(batch, 0)
    assert found.loss == barrier_linear._objective(covariances, arcs, weights, stage)


def test_constant_data_have_no_arcs():
    solver = CentralPath(DAGMA, (LinearDescent(),), STAGES)
    batch = batch_of(DAGMA, [{}])
    batch.given["data"] *= 0
    [solution] = solve(solver, batch)
    assert np.all(solution.parameters["arcs"] == 0)
    assert solution.diverged_at is None


def test_the_original_path_ends_at_a_dag():
    stages = tuple(Stage(0.1**k, 1 - 0.1 * k, 3000) for k in range(4))
    solver = CentralPath(DAGMA, (LinearDescent(), Stochastic()), stages)
    [solution] = solve(solver, batch_of(solver.recipe, [{"learning_rate": 3e-3}]))
    weights = solution.parameters["arcs"]
    assert log_determinant_value_and_gradient(weights)[0] < 1e-4
    assert np.abs(weights).max() > 0.5
    assert np.all(np.diagonal(weights) == 0)
    assert solver.trained_recipes == ()


def test_the_stochastic_path_stays_in_its_domain():
    recipe = free_recipe(Barrier(mean_squared_error), masked=False, guard=Domain())
    solver = CentralPath(recipe, (Stochastic(),), (Stage(1.0, 1.0, 30), Stage(0.1, 0.8, 30)))
    wild = {"learning_rate": 1.0, "beta1": 0.9}
    calm = {"learning_rate": 3e-3, "beta1": 0.9}
    first, second = solve(solver, batch_of(recipe, [wild, calm]))
    assert sum(record["accepted"] == 0 for record in first.history) > 0
    assert all(record["accepted"] == 1 for record in second.history)
    for solution in (first, second):
        weights = np.asarray(solution.parameters["arcs"], np.float64)
        assert in_domain(weights, solution.history[-1]["radius"], 1e-5)
        assert np.abs(weights).max() > 0.05


def test_every_problem_is_trained_for_its_own_number_of_rounds():
    """Even beside longer ones, and beside problems that are finished."""

    def train(*lengths, active=None):
        settings = [{"rounds": rounds, "learning_rate": 1e-2} for rounds in lengths]
        return minimise(Stochastic(), batch_of(free_recipe(), settings), active=active)

    assert train(3.0, 5.0, active=[False, False]).iterations == 5  # whatever the result
    together = train(20.0, 7.0, 40.0, active=[True, True, False])
    assert together.iterations == 20
    for lane, rounds in enumerate([20.0, 7.0]):
        expected = train(rounds, rounds, rounds)
        assert np.array_equal(together.parameters["arcs"][lane], expected.parameters["arcs"][lane])
        assert together.loss[lane] == expected.loss[lane]
