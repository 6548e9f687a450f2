"""Runs compute cells once, give the same rows after any interruption, and store failures."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from bench_experiments import TIMED, TINY

from cosmodag import Cosmo, metrics, simulate
from cosmodag.bench import Resources, Store, read_experiment, run
from cosmodag.bench.bench_plan import Cell
from cosmodag.bench.protocol import METHODS
from cosmodag.bench.work import carry_out

FEW = Resources(device="cpu")


def contents(path: Path) -> list[tuple[object, ...]]:
    """All rows, with results as exact text."""
    with Store(path, create=False) as store:
        return [(r.key, r.batch, json.dumps(r.result, sort_keys=True)) for r in store.rows()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the tiny experiment was run without interruption."""
    path = tmp_path_factory.mktemp("finished") / "results.sqlite"
    with Store(path) as store:
        done = run(read_experiment(TINY), store, FEW)
        assert done.found == done.failed == 0
        assert done.done == len(store.rows())
    return path


def test_a_second_run_computes_no_cell(finished: Path) -> None:
    before = contents(finished)
    with Store(finished) as store:
        again = run(read_experiment(TINY), store, FEW)
    assert again.done == 0
    assert again.found == len(before)
    assert contents(finished) == before


def test_two_experiments_share_equal_cells(finished: Path) -> None:
    with Store(finished) as store:
        other = read_experiment(TINY.replace('name = "tiny"', 'name = "other"'))
        assert run(other, store, FEW).done == 0


def test_progress_reaches_its_total(finished: Path, tmp_path: Path) -> None:
    seen: dict[str, list[tuple[int, int]]] = {}
    with Store(tmp_path / "results.sqlite") as store:
        run(
            read_experiment(TINY),
            store,
            FEW,
            lambda stage, done, total: seen.setdefault(stage, []).append((done, total)),
        )
    assert {"search", "validation"} <= seen.keys()
    for steps in seen.values():
        assert steps[-1][0] == steps[-1][1]
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert contents(tmp_path / "results.sqlite") == contents(finished)


# Runs a command and waits for an hour when a batch is about to be stored.
WAITS = """
import sys, time
from cosmodag.bench.store import Store
from cosmodag.cli import main
add, left = Store.add, int(sys.argv[1])
def wait(self, rows):
    global left
    if left == 0:
        print("reached", flush=True)
        time.sleep(3600)
    left -= 1
    add(self, rows)
Store.add = wait
sys.exit(main(sys.argv[2:]))
"""

# Runs a command and prints a line when the first rounds of training are done.
TELLS = """
import sys
from cosmodag.cli import main
from cosmodag.solve.watch import Watch
advance = Watch.advance
def tell(self, *given):
    print("reached", flush=True)
    advance(self, *given)
Watch.advance = tell
sys.exit(main(sys.argv[1:]))
"""


def started(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a process and wait until it has printed its line."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reached\n", process.communicate()
    return process


@pytest.mark.parametrize(
    "batches",
    [2, pytest.param(0, marks=pytest.mark.nightly), pytest.param(9, marks=pytest.mark.nightly)],
)
def test_a_run_that_is_killed_and_resumed_gives_the_same_rows(
    finished: Path, tmp_path: Path, batches: int
) -> None:
    path, file = tmp_path / "results.sqlite", tmp_path / "tiny.toml"
    file.write_text(TINY)
    process = started(WAITS, batches, "bench", "run", file, "--store", path)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    left = contents(path)
    assert len({batch for _, batch, _ in left}) == batches
    assert len(left) < len(contents(finished))
    with Store(path) as store:
        assert run(read_experiment(TINY), store, FEW).found == len(left)
    assert contents(path) == contents(finished)


def test_a_batch_of_which_rows_are_missing_is_done_again(finished: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    shutil.copy(finished, path)
    batches = Counter(batch for _, batch, _ in contents(path))
    key = next(key for key, batch, _ in contents(path) if batches[batch] > 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM cells WHERE key = ?", (key,))
    with Store(path) as store:
        again = run(read_experiment(TINY), store, FEW)
    assert again.done > 0
    assert contents(path) == contents(finished)


def test_ctrl_c_leaves_a_valid_store(tmp_path: Path) -> None:
    path, file = tmp_path / "results.sqlite", tmp_path / "long.toml"
    file.write_text(TINY.replace("epochs = 5", "epochs = 200000"))
    process = started(TELLS, "bench", "run", file, "--store", path)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert contents(path) == []


def test_a_row_agrees_with_the_learner_and_the_metrics(finished: Path) -> None:
    with Store(finished) as store:
        rows = [
            row
            for row in store.rows()
            if row.description["method"] == "cosmo" and not row.description["standardised"]
        ]
    row = rows[0]
    data = simulate.load(row.description["data"], seed=row.description["graph"])
    X = (data.X - data.X.mean(axis=0)).astype(np.float32)
    model = Cosmo(
        **row.description["parameters"],
        random_state=row.description["graph"],
        device="cpu",
        verbose=False,
    ).fit(X)
    expected = metrics.evaluate(data.graph, model.raw_weights_)
    for name in ("auc", "nhd", "tpr", "fpr"):
        assert row.result[name] == pytest.approx(expected[name], abs=1e-6)


def test_a_cell_that_diverges_is_a_row_and_its_neighbours_have_figures() -> None:
    fixed = {**METHODS["cosmo"].parameters, "epochs": 20}
    cells = [
        Cell("fit", "cosmo", "n100_d5_ER1_gauss", graph, {**fixed, "learning_rate": rate})
        for graph, rate in enumerate((1e-3, 1e30, 1e-3))
    ]
    results = carry_out(tuple(cells), "cpu")
    assert [result["status"] for result in results] == ["done", "diverged", "done"]


@pytest.mark.parametrize("method", ["cosmo", "cosmo-refined"])
def test_a_cell_that_takes_too_long_is_a_row(method: str) -> None:
    slow = {**METHODS[method].parameters, "epochs": 10_000_000}
    cells = [Cell("fit", method, "n100_d5_ER1_gauss", graph, slow) for graph in range(2)]
    results = carry_out(tuple(cells), "cpu", 0.5)
    assert [result["status"] for result in results] == ["timeout"] * 2


def test_a_cell_that_fails_is_a_row(tmp_path: Path) -> None:
    text = TINY.replace("n100_d5_ER1_{gauss,exp}", "n100_d5_ER4_gauss")  # no room for 20 arcs
    with Store(tmp_path / "results.sqlite") as store:
        done = run(read_experiment(text), store, FEW)
        assert done.failed == len(store.rows())
        assert "room" in store.rows()[0].result["message"]


def test_a_table_that_cannot_be_simulated_fails_its_own_cell_only() -> None:
    names = ("n100_d5_ER4_gauss", "n100_d5_ER1_gauss")  # the first has no room for 20 arcs
    batch = tuple(Cell("fit", "empty-graph", name, 0) for name in names)
    assert [result["status"] for result in carry_out(batch, "cpu")] == ["failed", "done"]


def test_timing_can_be_run_separately(tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run(read_experiment(TIMED), store, FEW, timing=False)
        kinds = {row.description["kind"] for row in store.rows()}
        assert kinds == {"fit", "epoch"}
        run(read_experiment(TIMED), store, FEW)
        rows = {(r.description["kind"], r.description["method"]): r.result for r in store.rows()}
    timed = rows["time", "empty-graph"]
    assert timed["status"] == "done"
    assert 0 <= timed["seconds"] < 5
    assert 0 < timed["wall_seconds"] < 60
    for method in ("cosmo", "nocurl-u"):
        # A pass over 100 rows of 5 variables takes microseconds.
        assert 0 < rows["epoch", method]["epoch_seconds"] < 0.5


# These fits are trained by the kernel for single problems: processes start faster without JAX.
SINGLE_FITS = """
name = "single fits"
[[group]]
data = ["n100_d5_ER1_{gauss,exp}"]
fixed = ["cosmo-default", "variance-sort"]
validation = 3
batch = 2
[group.parameters.cosmo-default]
epochs = 5
"""


def test_several_processes_give_the_same_rows(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone.sqlite", tmp_path / "together.sqlite"
    for path, resources in ((alone, FEW), (together, Resources(device="cpu", jobs=2))):
        with Store(path) as store:
            done = run(read_experiment(SINGLE_FITS), store, resources)
            assert (done.done, done.failed) == (12, 0)
    assert contents(together) == contents(alone)
