"""Runs: done once, the same after any interruption, failures as rows."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bench_experiments import TIMED, TINY

from cosmodag import Cosmo, metrics, simulate
from cosmodag.bench import Means, Store, read_experiment, run
from cosmodag.bench.cell import Batch, Cell
from cosmodag.bench.methods import METHODS
from cosmodag.bench.work import Order, carry_out

FEW = Means(device="cpu")


def contents(path: Path) -> list[tuple[object, ...]]:
    """Every row, to the last bit."""
    with Store(path, create=False) as store:
        return [(r.key, r.batch, json.dumps(r.result, sort_keys=True)) for r in store.rows()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the tiny experiment is done, without any interruption."""
    path = tmp_path_factory.mktemp("finished") / "results.sqlite"
    with Store(path) as store:
        done = run(read_experiment(TINY), store, FEW)
        assert done.found == done.failed == 0
        assert done.done == len(store.keys())
    return path


def test_a_second_run_does_no_cell(finished: Path) -> None:
    before = contents(finished)
    with Store(finished) as store:
        again = run(read_experiment(TINY), store, FEW)
    assert again.done == 0
    assert again.found == len(before)
    assert contents(finished) == before


def test_two_experiments_share_what_is_the_same(finished: Path) -> None:
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


@pytest.mark.parametrize("pause", [0.5, 2.0, 3.0])
def test_a_run_that_is_killed_and_resumed_gives_the_same_rows(
    finished: Path, tmp_path: Path, pause: float
) -> None:
    path, file = tmp_path / "results.sqlite", tmp_path / "tiny.toml"
    file.write_text(TINY)
    command = [sys.executable, "-m", "cosmodag", "bench", "run", str(file), "--store", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 120
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(pause)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with Store(path) as store:
        run(read_experiment(TINY), store, FEW)
    assert contents(path) == contents(finished)


def test_ctrl_c_leaves_a_valid_store(tmp_path: Path) -> None:
    path, file = tmp_path / "results.sqlite", tmp_path / "long.toml"
    file.write_text(TINY.replace("epochs = 5", "epochs = 200000"))
    command = [sys.executable, "-m", "cosmodag", "bench", "run", str(file), "--store", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert contents(path) == []


def test_a_row_is_what_the_learner_and_the_metrics_say(finished: Path) -> None:
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


def order(*cells: Cell, limit: float | None = None) -> Order:
    return Order(Batch(cells), "cpu", limit)


def test_a_cell_that_diverges_is_a_row_and_its_neighbours_have_figures() -> None:
    fixed = {**METHODS["cosmo"].parameters, "epochs": 20}
    cells = [
        Cell("fit", "cosmo", "n100_d5_ER1_gauss", graph, {**fixed, "learning_rate": rate})
        for graph, rate in enumerate((1e-3, 1e30, 1e-3))
    ]
    results = carry_out(order(*cells))
    assert [result["status"] for result in results] == ["done", "diverged", "done"]


def test_a_cell_that_takes_too_long_is_a_row() -> None:
    slow = {**METHODS["cosmo"].parameters, "epochs": 10_000_000}
    cells = [Cell("fit", "cosmo", "n100_d5_ER1_gauss", graph, slow) for graph in range(2)]
    results = carry_out(order(*cells, limit=0.5))
    assert [result["status"] for result in results] == ["timeout"] * 2


def test_a_cell_that_cannot_be_done_is_a_row(tmp_path: Path) -> None:
    text = TINY.replace("n100_d5_ER1_{gauss,exp}", "n100_d5_ER4_gauss")  # no room for 20 arcs
    with Store(tmp_path / "results.sqlite") as store:
        done = run(read_experiment(text), store, FEW)
        assert done.failed == len(store.rows())
        assert "room" in store.rows()[0].result["message"]


def test_times_are_taken_apart(tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run(read_experiment(TIMED), store, FEW, timing=False)
        kinds = {row.description["kind"] for row in store.rows()}
        assert kinds == {"fit", "epoch"}
        run(read_experiment(TIMED), store, FEW)
        rows = {(r.description["kind"], r.description["method"]): r.result for r in store.rows()}
    assert rows["time", "empty-graph"]["seconds"] >= 0
    for method in ("cosmo", "nocurl-u"):
        assert rows["epoch", method]["epoch_seconds"] > 0


def test_several_processes_give_the_same_rows(finished: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run(read_experiment(TINY), store, Means(device="cpu", jobs=2))
    assert contents(tmp_path / "results.sqlite") == contents(finished)
