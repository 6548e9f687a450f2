"""Many problems: memory, splitting, estimates, and the read-out of very large graphs."""

import jax
import numpy as np
import pytest
from cosmodag.solver.estimate import estimate
from cosmodag.solver.kernels.backends import BACKENDS, _run_many
from cosmodag.solver.methods.anneal import Anneal
from scipy import sparse
from solver_problems import SETTINGS, make_batch, make_table

from cosmodag.errors import ResourceError
from cosmodag.mechanism import Linear
from cosmodag.solver import many, memory, readout
from cosmodag.solver.problems import Problem
from cosmodag.solver.readout import strong_arcs
from cosmodag.solver.watch import Watch
from cosmodag.structure import Priority

CPU = jax.devices("cpu")[0]
solver = Anneal(Linear())


def test_the_memory_estimate_covers_what_xla_plans():
    xla = next(backend for backend in BACKENDS if backend.name == "xla")
    problem = Problem(make_table(n=80, d=200), SETTINGS, 0)
    batch = make_batch([problem, problem, problem])
    plan = _run_many.lower(
        batch.recipe, batch.start(), batch.tables, batch.table, batch.seeds, batch.settings, 0, 1
    )
    analysis = plan.compile().memory_analysis()
    planned = analysis.argument_size_in_bytes + analysis.temp_size_in_bytes
    estimated = 3 * memory.lane_bytes(batch.recipe, problem, xla.working_copies)
    estimated += memory.table_bytes(problem)
    # It must not be too low, and not so high that memory is wasted.
    assert planned <= 1.1 * estimated
    assert estimated <= 2.5 * planned


def test_groups_are_split_to_fit(monkeypatch, table):
    problems = [Problem(table, SETTINGS, seed) for seed in range(10)]
    per_lane = memory.lane_bytes(solver.recipe, problems[0], 3)
    room = (4.5 * per_lane + table.nbytes) / 0.85
    monkeypatch.setattr(many, "available_bytes", lambda device: int(room))
    parts = list(many.split(solver.recipe, problems, list(range(10)), CPU))
    assert [len(part) for part in parts] == [4, 4, 2]
    with Watch(400, "test") as watch:
        found = dict(many.solve_many(solver, problems, device="cpu", watch=watch))
    monkeypatch.undo()
    with Watch(400, "test") as watch:
        whole = dict(many.solve_many(solver, problems, device="cpu", watch=watch))
    for index in range(10):
        np.testing.assert_array_equal(
            found[index].parameters["arcs"], whole[index].parameters["arcs"]
        )


def test_what_cannot_fit_is_refused_with_the_numbers(monkeypatch, table):
    monkeypatch.setattr(many, "available_bytes", lambda device: 1000)
    with Watch(40, "test") as watch, pytest.raises(ResourceError, match=r"needs about .* GiB"):
        list(many.solve_many(solver, [Problem(table, SETTINGS, 0)], device="cpu", watch=watch))


def test_main_memory_is_read():
    available = memory.available_bytes(CPU)
    assert available is None or available > 2**26


def test_an_estimate_is_of_the_right_order(table):
    problems = [Problem(table, {**SETTINGS, "epochs": 400.0}, seed) for seed in range(2)]
    cost = estimate(solver, problems, device="cpu")
    assert cost.batches == 1
    assert cost.memory == 2 * memory.lane_bytes(solver.recipe, problems[0], 3) + table.nbytes
    with Watch(800, "test") as watch:
        list(many.solve_many(solver, problems, device="cpu", watch=watch))
        # Machines are noisy: the order of magnitude is what a user needs.
        assert cost.seconds / 10 < watch.elapsed < 10 * cost.seconds + 0.5
    assert "GiB" in str(cost)


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
    dense = np.asarray(solver.recipe.read_out(parameters, settings), np.float64)
    found = strong_arcs(Priority(), parameters, settings, 0.3)
    assert sparse.issparse(found)
    np.testing.assert_allclose(
        found.toarray(), np.where(np.abs(dense) > 0.3, dense, 0.0), atol=1e-7
    )
