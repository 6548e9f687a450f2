"""Many problems: plans, memory, splitting, estimates, and the read-out of very large graphs."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy import sparse
from solver_problems import RECIPE, SETTINGS, make_table, reference_batch

from cosmodag.errors import ResourceError, SettingsError
from cosmodag.model.structure import Priority
from cosmodag.solve import plan, readout
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.plan import estimate, lane_bytes, plan_many, solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.readout import strong_arcs
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.loop import REFERENCE, _run_many
from cosmodag.solve.watch import Watch

SOLVER = OneProblem(RECIPE)


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    return make_table()


def solve(problems, solver=SOLVER):
    with Watch(400, "test") as watch:
        return list(solve_many(solver, problems, device="cpu", watch=watch))


def test_the_memory_estimate_covers_what_xla_plans():
    problem = Problem(make_table(n=80, d=200), SETTINGS, 0)
    batch = reference_batch([problem] * 3)
    state = REFERENCE.start(batch)
    lowered = _run_many.lower(
        RECIPE, state, batch.given, batch.which, batch.seeds, batch.settings, 0, 1
    )
    analysis = lowered.compile().memory_analysis()
    planned = analysis.argument_size_in_bytes + analysis.temp_size_in_bytes
    estimated = 3 * lane_bytes(RECIPE, problem, REFERENCE.working_copies) + problem.data.nbytes
    # The estimate must cover the plan without wasting memory.
    assert planned <= 1.1 * estimated
    assert estimated <= 2.5 * planned


def test_batches_are_cut_to_fit_and_that_changes_nothing(monkeypatch, table):
    problems = [Problem(table, SETTINGS, seed) for seed in range(10)]
    (whole,) = plan_many(SOLVER, problems, "cpu")
    copies = whole.backends[RECIPE].working_copies + plan._READ_OUT_COPIES
    per_lane = lane_bytes(RECIPE, problems[0], copies)
    room = int((4.5 * per_lane + table.nbytes) / 0.85)
    together = {one.place: one.solution for one in solve(problems)}
    monkeypatch.setattr(plan, "available_bytes", lambda device: room)
    (cut,) = plan_many(SOLVER, problems, "cpu")
    assert [len(batch) for batch in cut.batches] == [4, 4, 2]
    for one in solve(problems):
        np.testing.assert_array_equal(
            one.solution.parameters["arcs"], together[one.place].parameters["arcs"]
        )


def test_what_cannot_fit_is_refused_with_the_numbers(monkeypatch, table):
    monkeypatch.setattr(plan, "available_bytes", lambda device: 1000)
    with pytest.raises(ResourceError, match=r"needs about .* GiB"):
        solve([Problem(table, SETTINGS, 0)])


def test_an_estimate_is_the_plan_and_a_time_for_all_rounds(table):
    problems = [Problem(table, {**SETTINGS, "rounds": 400.0}, seed) for seed in range(2)]
    cost = estimate(SOLVER, problems, device="cpu")
    facts = cost.facts()
    (expected,) = plan_many(SOLVER, problems, "cpu")
    assert {name: facts[name] for name in expected.facts()} == {
        **expected.facts(),
        "available": facts["available"],
    }
    assert facts["problems"] == 2
    assert facts["seconds"] == pytest.approx(400 * facts["seconds_per_round"])
    assert f"by '{expected.backend}'" in str(cost)


def test_settings_that_are_missing_or_unknown_are_named(table):
    few = {name: value for name, value in SETTINGS.items() if name != "shift"}
    with pytest.raises(SettingsError, match=r"missing are \['shift'\], unknown are \['epochs'\]"):
        solve([Problem(table, {**few, "epochs": 3.0}, 0)])
    with pytest.raises(SettingsError, match="lambda1 is nan"):
        solve([Problem(table, {**SETTINGS, "lambda1": float("nan")}, 0)])


@pytest.mark.parametrize("entries", [7 * 30, 30, 10**9])
def test_sparse_read_out_equals_the_dense_one(monkeypatch, entries):
    monkeypatch.setattr(readout, "_TILE_ENTRIES", entries)
    random = np.random.default_rng(0)
    d = 30
    parameters = {
        "arcs": random.normal(size=(d, d)).astype(np.float32),
        "order": random.normal(size=d).astype(np.float32) * 0.01,
        "functions": {},
    }
    settings = {"temperature": 1e-3, "shift": 5e-3}
    dense = np.asarray(RECIPE.strengths(parameters, settings), np.float64)
    found = strong_arcs(parameters, settings, 0.3)
    assert sparse.issparse(found)
    np.testing.assert_allclose(
        found.toarray(), np.where(np.abs(dense) > 0.3, dense, 0.0), atol=1e-7
    )


def test_the_read_out_uses_the_device_of_the_plan(monkeypatch, table):
    (one,) = solve([Problem(table, SETTINGS, 0)])
    asked = []

    class RecordingPriority(Priority):
        def orient(self, parameters, settings, support):
            asked.append(jax.config.jax_default_device)
            return super().orient(parameters, settings, support)

    recipe = Recipe(RecordingPriority(), RECIPE.mechanism, RECIPE.objective, RECIPE.schedule)
    solution = replace(one.solution, recipe=recipe)
    readout.read_out(solution, Problem(table, SETTINGS, 0), 0.3, one.plan.device)
    assert asked == [jax.devices("cpu")[0]]
