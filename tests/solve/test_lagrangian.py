"""The augmented Lagrangian: updates of α and ρ, the kept solution, independence of lanes."""

from dataclasses import replace

import numpy as np
import pytest
from constrained_problems import FIRST_ARC, Scripted, batch_of, free_recipe, solve

from cosmodag.errors import SettingsError
from cosmodag.graph.constraint import EXPONENTIAL
from cosmodag.model.objective import Decayed, Penalised, half_squared_error, mean_squared_error
from cosmodag.solve.methods.lagrangian import Lagrangian, constraint_of
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton

SCRIPTED = free_recipe(Penalised(mean_squared_error, FIRST_ARC))


def test_the_multiplier_grows_by_penalty_times_h_and_the_penalty_when_h_is_slow():
    minimiser = Scripted([[1.0], [0.5], [0.2], [0.01], [0.0]])
    solver = Lagrangian(SCRIPTED, (minimiser,))
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert [asked["multiplier"][0] for asked in minimiser.asked] == [0, 1, 1, 3, 3.1]
    assert [asked["penalty"][0] for asked in minimiser.asked] == [1, 1, 10, 10, 10]
    # The second sub-problem was refused, so the third starts where the first ended.
    assert [start[0] for start in minimiser.started] == [0, 1, 1, 0.2, 0.01]
    assert [asked["first"] for asked in minimiser.asked] == [0, 10, 20, 30, 40]
    assert solution.parameters["arcs"][0, 1] == 0
    assert solution.iterations == 50
    assert solution.converged
    assert [record["acyclicity"] for record in solution.history] == [1, 0.5, 0.2, 0.01, 0]
    assert [record["round"] for record in solution.history] == [10, 20, 30, 40, 50]


@pytest.mark.parametrize(("keeps_last", "kept"), [(True, 0.8), (False, 1.0)])
def test_at_the_limit_of_the_penalty_it_ends(keeps_last, kept):
    minimiser = Scripted([[1.0], [0.9], [0.8]])
    solver = Lagrangian(SCRIPTED, (minimiser,), limit=100, keeps_last=keeps_last)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert len(minimiser.asked) == 3
    assert not solution.converged
    assert solution.parameters["arcs"][0, 1] == kept


def test_it_ends_after_so_many_updates():
    minimiser = Scripted([[1.0], [0.1], [0.01]])
    solver = Lagrangian(SCRIPTED, (minimiser,), max_iter=3)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert len(minimiser.asked) == 3
    assert not solution.converged


def test_without_convergence_of_the_last_sub_problem_there_is_none():
    solver = Lagrangian(SCRIPTED, (Scripted([[0.0]], converged=False),))
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert not solution.converged


def test_lanes_end_at_different_sub_problems():
    minimiser = Scripted([[1.0, 0.0], [0.5, 7.0], [0.0, 7.0]])
    solver = Lagrangian(SCRIPTED, (minimiser,))
    first, second = solve(solver, batch_of(solver.recipe, [{}, {"multiplier": 1.0}]))
    assert [asked["active"].tolist() for asked in minimiser.asked] == [
        [True, True],
        [True, False],
        [True, False],
    ]
    assert first.parameters["arcs"][0, 1] == 0
    assert second.parameters["arcs"][0, 1] == 0
    assert (len(first.history), len(second.history)) == (3, 1)
    assert minimiser.asked[0]["multiplier"].tolist() == [0, 1]


def test_a_diverged_lane_keeps_its_last_good_weights():
    minimiser = Scripted([[1.0, 1.0], [np.inf, 0.0]])
    solver = Lagrangian(SCRIPTED, (minimiser,))
    first, second = solve(solver, batch_of(solver.recipe, [{}, {}]))
    assert first.diverged_at == 20
    assert first.parameters["arcs"][0, 1] == 1
    assert second.diverged_at is None


def test_a_loss_that_is_not_a_number_is_divergence():
    solver = Lagrangian(SCRIPTED, (Scripted([[1.0, 1.0], [np.nan, 0.0]]),))
    first, second = solve(solver, batch_of(solver.recipe, [{}, {}]))
    assert first.diverged_at == 20
    assert (first.converged, second.converged) == (False, True)


def test_out_of_time_the_weights_of_the_current_sub_problem_are_kept():
    minimiser = Scripted([[0.7]])
    solver = Lagrangian(SCRIPTED, (minimiser,))
    [solution] = solve(solver, batch_of(solver.recipe, [{}]), max_time=0)
    assert solution.stopped == "time"
    assert not solution.converged
    assert solution.parameters["arcs"][0, 1] == 0.7


def test_a_real_problem_ends_at_a_dag():
    recipe = free_recipe(Penalised(half_squared_error, EXPONENTIAL))
    solver = Lagrangian(recipe, (QuasiNewton(), Stochastic()))
    batch = batch_of(recipe, [{"lambda1": 0.05, "rounds": 1000.0}] * 2)
    for solution in solve(solver, batch):
        weights = solution.parameters["arcs"]
        assert EXPONENTIAL.value(weights) <= 1e-8
        assert np.abs(weights).max() > 0.5
        assert solution.recipe == recipe


def test_stochastic_lanes_are_those_of_problems_on_their_own():
    recipe = free_recipe(Penalised(mean_squared_error, EXPONENTIAL), masked=False)
    solver = Lagrangian(recipe, (QuasiNewton(), Stochastic()), max_iter=2, keeps_last=False)
    own = [
        {"learning_rate": 1e-2, "multiplier": 1.0, "rounds": 20.0, "beta1": 0.9},
        {"learning_rate": 3e-3, "multiplier": 1.0, "rounds": 20.0, "beta1": 0.9},
    ]
    batch = batch_of(recipe, own)
    together = solve(solver, batch)
    for lane, solution in enumerate(together):
        single = replace(
            batch,
            given={"data": batch.given["data"][lane : lane + 1]},
            which={"data": np.zeros(1, np.int32)},
            seeds=batch.seeds[lane : lane + 1],
            settings={name: values[lane : lane + 1] for name, values in batch.settings.items()},
        )
        [alone] = solve(solver, single)
        # The two programs differ by the rounding of a few hundred steps in single precision.
        np.testing.assert_allclose(alone.parameters["arcs"], solution.parameters["arcs"], atol=2e-3)
        assert [r["penalty"] for r in alone.history] == [r["penalty"] for r in solution.history]


def test_what_is_trained_and_which_settings_are_read_follow_from_the_recipe():
    closed = free_recipe(Penalised(half_squared_error, EXPONENTIAL))
    trained = free_recipe(Penalised(mean_squared_error, EXPONENTIAL))
    both = (QuasiNewton(), Stochastic())
    numbers = {"lambda1", "multiplier", "penalty", "rounds"}
    assert Lagrangian(closed, both).trained_recipes == ()
    assert Lagrangian(closed, both).needs == numbers
    assert Lagrangian(trained, both).trained_recipes == (trained,)
    assert Lagrangian(trained, both).needs > numbers | {"learning_rate", "beta1"}


def test_the_constraint_is_the_one_of_the_recipe():
    assert constraint_of(Decayed(Penalised(half_squared_error, EXPONENTIAL))) == EXPONENTIAL
    with pytest.raises(SettingsError, match="no constraint"):
        constraint_of(Penalised(half_squared_error))
