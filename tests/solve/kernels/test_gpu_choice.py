"""The choice among the backends of a GPU, and the warning if one cannot be used."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from solver_problems import RECIPE, SETTINGS, make_table

from cosmodag.errors import FallbackWarning
from cosmodag.solve import plan
from cosmodag.solve.kernels import backends_for
from cosmodag.solve.kernels.gpu import large, sharded, shared
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.problems import Problem
from cosmodag.solve.training.loop import REFERENCE

SOLVER = OneProblem(RECIPE)


def plan_on_a_gpu(monkeypatch, problems, available):
    device = SimpleNamespace(platform="gpu", device_kind="imagined")
    monkeypatch.setattr(plan, "device_named", lambda name: device)
    monkeypatch.setattr(plan, "available_bytes", lambda device: available)
    (planned,) = plan.plan_many(SOLVER, problems)
    return planned


def without_pallas(name):
    raise ModuleNotFoundError(f"No module named {name!r}")


def test_backends_come_in_order_of_preference():
    *kernels, last = backends_for("gpu")
    assert [backend.name for backend in kernels] == ["sharded", "pallas-large", "pallas-small"]
    assert last == REFERENCE


def test_restarts_of_a_large_problem_run_one_after_the_other_where_two_do_not_fit(monkeypatch):
    data = np.zeros((8, 256), np.float32)
    problems = [Problem(data, SETTINGS, seed) for seed in range(3)]
    one = plan.lane_bytes(RECIPE, problems[0], large.LARGE.working_copies) + data.nbytes
    two = 2 * plan.lane_bytes(RECIPE, problems[0], REFERENCE.working_copies) + data.nbytes
    room = int(1.3 * one)
    assert room < two
    planned = plan_on_a_gpu(monkeypatch, problems, room)
    assert planned.backend == "pallas-large"
    assert planned.batches == ((0,), (1,), (2,))
    assert planned.memory == one


def test_many_small_problems_are_one_batch(monkeypatch):
    problems = [Problem(make_table(), SETTINGS, seed) for seed in range(40)]
    planned = plan_on_a_gpu(monkeypatch, problems, None)
    assert planned.backend == "pallas-small"
    assert planned.batches == (tuple(range(40)),)


@pytest.mark.parametrize(("d", "name"), [(10, "pallas-small"), (256, "pallas-large")])
def test_without_pallas_the_reference_loop_is_used_with_a_warning(monkeypatch, d, name):
    monkeypatch.setattr(shared, "import_module", without_pallas)
    task = Problem(np.zeros((8, d), np.float32), SETTINGS, 0).task(RECIPE, 1, "gpu")
    with pytest.warns(FallbackWarning, match=f"'{name}'.*no Pallas for Triton"):
        assert plan.choose_backend(task).name == "reference"


def test_undeclared_features_go_to_the_reference_loop_without_a_warning(recwarn):
    problem = Problem(np.zeros((8, 256), np.float32), SETTINGS, 0, gaps=np.full((256, 256), -1.0))
    assert plan.choose_backend(problem.task(RECIPE, 1, "gpu")).name == "reference"
    assert not recwarn.list


def test_several_devices_share_one_very_large_problem(monkeypatch):
    monkeypatch.setattr(sharded.jax, "devices", lambda platform: ["one", "two", "three"])
    task = Problem(np.zeros((8, 10), np.float32), SETTINGS, 0).task(RECIPE, 1, "gpu")
    even = task._replace(variables=2 * sharded.SMALLEST, features=frozenset({"support", "counted"}))
    assert sharded.implements(even)
    assert not sharded.implements(even._replace(variables=2 * sharded.SMALLEST + 1))
    assert not sharded.implements(even._replace(lanes=2))
    assert not sharded.implements(even._replace(variables=sharded.SMALLEST - 2))


def test_importing_the_kernels_does_not_import_pallas():
    script = (
        "import sys, cosmodag.solve.kernels; sys.exit('jax.experimental.pallas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
