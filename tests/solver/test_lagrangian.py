"""The augmented Lagrangian: when α and ρ grow, what is kept, and that lanes do not meet."""

from dataclasses import replace

import numpy as np
import pytest
from constrained_problems import Scripted, batch_of, free_recipe

from cosmodag.constraint import EXPONENTIAL, Constraint
from cosmodag.objective import Penalised, mean_squared_error
from cosmodag.solver.methods.lagrangian import Lagrangian
from cosmodag.solver.minimisers.quasi_newton import QuasiNewton
from cosmodag.solver.minimisers.stochastic import Stochastic
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free

# The only arc that a scripted minimiser sets is its own measure of h.
FIRST_ARC = Constraint(None, lambda: lambda weights: (float(weights[0, 1]), weights))


def solve(solver, batch, max_time=None):
    with Watch(1, "test", max_time) as watch:
        return solver.solve(batch, watch)


def test_the_multiplier_grows_by_penalty_times_h_and_the_penalty_when_h_is_slow():
    minimiser = Scripted([[1.0], [0.5], [0.2], [0.01], [0.0]])
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert [asked["multiplier"][0] for asked in minimiser.asked] == [0, 1, 1, 3, 3.1]
    assert [asked["penalty"][0] for asked in minimiser.asked] == [1, 1, 10, 10, 10]
    # The second round was refused: the third starts where the first ended.
    assert [start[0] for start in minimiser.started] == [0, 1, 1, 0.2, 0.01]
    assert [asked["first"] for asked in minimiser.asked] == [0, 10, 20, 30, 40]
    assert solution.parameters["arcs"][0, 1] == 0
    assert solution.epochs == 50
    assert [record["acyclicity"] for record in solution.history] == [1, 0.5, 0.2, 0.01, 0]


@pytest.mark.parametrize(("keeps_last", "kept"), [(True, 0.8), (False, 1.0)])
def test_at_the_limit_of_the_penalty_it_ends(keeps_last, kept):
    minimiser = Scripted([[1.0], [0.9], [0.8]])
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC, limit=100, keeps_last=keeps_last)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]))
    assert len(minimiser.asked) == 3
    assert solution.parameters["arcs"][0, 1] == kept


def test_it_ends_after_so_many_updates():
    minimiser = Scripted([[1.0], [0.1], [0.01]])
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC, max_iter=3)
    solve(solver, batch_of(solver.recipe, [{}]))
    assert len(minimiser.asked) == 3


def test_each_lane_has_its_own_pace():
    minimiser = Scripted([[1.0, 0.0], [0.5, 7.0], [0.0, 7.0]])
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC)
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
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC)
    first, second = solve(solver, batch_of(solver.recipe, [{}, {}]))
    assert first.diverged_at == 20
    assert first.parameters["arcs"][0, 1] == 1
    assert second.diverged_at is None


def test_out_of_time_the_round_under_way_is_the_answer():
    minimiser = Scripted([[0.7]])
    solver = Lagrangian(free_recipe(), minimiser, FIRST_ARC)
    [solution] = solve(solver, batch_of(solver.recipe, [{}]), max_time=0)
    assert solution.stopped == "time"
    assert solution.parameters["arcs"][0, 1] == 0.7


def test_a_real_problem_ends_at_a_dag():
    solver = Lagrangian(free_recipe(), QuasiNewton(Free(), EXPONENTIAL), EXPONENTIAL)
    batch = batch_of(solver.recipe, [{"lambda1": 0.05, "epochs": 1000.0}] * 2)
    for solution in solve(solver, batch):
        weights = solver.read_out(solution.parameters)
        assert EXPONENTIAL.value(weights) <= 1e-8
        assert np.abs(weights).max() > 0.5


def test_stochastic_lanes_are_those_of_problems_on_their_own():
    recipe = free_recipe(Penalised(mean_squared_error, EXPONENTIAL.of), masked=False)
    solver = Lagrangian(recipe, Stochastic(), EXPONENTIAL, max_iter=2, keeps_last=False)
    own = [
        {"learning_rate": 1e-2, "multiplier": 1.0, "epochs": 20.0, "beta1": 0.9},
        {"learning_rate": 3e-3, "multiplier": 1.0, "epochs": 20.0, "beta1": 0.9},
    ]
    batch = batch_of(recipe, own)
    together = solve(solver, batch)
    for lane, solution in enumerate(together):
        single = replace(
            batch,
            tables=batch.tables[lane : lane + 1],
            table=np.zeros(1, np.int32),
            seeds=batch.seeds[lane : lane + 1],
            settings={name: values[lane : lane + 1] for name, values in batch.settings.items()},
        )
        [alone] = solve(solver, single)
        # A few hundred steps of two programs in single precision.
        np.testing.assert_allclose(alone.parameters["arcs"], solution.parameters["arcs"], atol=2e-3)
        assert [r["penalty"] for r in alone.history] == [r["penalty"] for r in solution.history]
