"""Ctrl-C and SIGTERM in every phase of ``cosmodag fit``: exit code, no partial files."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosmodag.cli.fit_folder as results
import cosmodag.report as report
import cosmodag.search.turning as turning
from cosmodag.cli import main
from cosmodag.cli.terminal import signals
from cosmodag.search.graph_search import GraphSearch
from learner_catalogue import chain_table

# Modules whose names in the package refer to functions.
training = import_module("cosmodag.solve.training.train")
stability = import_module("cosmodag.assess.bootstrapping.bootstrap")

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
both_signals = pytest.mark.parametrize("number", CODES, ids=["ctrl-c", "sigterm"])


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Install Python's handler, because processes started in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A command that takes long to answer ends its process: here, all tests, on a busy machine."""
    monkeypatch.setattr(signals, "_WAIT", 120.0)


@pytest.fixture
def fit(tmp_path):
    chain_table().to_csv(tmp_path / "table.csv", index=False)

    def run(*options: str) -> int:
        table, out = str(tmp_path / "table.csv"), str(tmp_path / "out")
        return main(
            [
                "fit",
                table,
                "-o",
                out,
                "--method",
                "cosmo",
                "--seed",
                "0",
                "--epochs",
                "40",
                *options,
            ]
        )

    return run


def raises_signal(monkeypatch, place: object, name: str, number: int, call: int = 1) -> None:
    """Make a function send this process a signal before its n-th call."""
    function, calls = getattr(place, name), []

    def wrapped(*args, **kwargs):
        calls.append(None)
        if len(calls) == call:
            os.kill(os.getpid(), number)
            time.sleep(0.01)  # Python runs the handler by the end of this call
        return function(*args, **kwargs)

    monkeypatch.setattr(place, name, wrapped)


def contents(folder: Path) -> dict[str, str]:
    """Digests of all files, including hidden ones."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def outcome(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


@both_signals
def test_a_signal_in_training_keeps_what_was_learnt(fit, tmp_path, monkeypatch, capsys, number):
    raises_signal(monkeypatch, training, "_note", number, call=2)
    assert fit("--epochs", "100000") == CODES[number]
    assert outcome(tmp_path / "out")["stopped"] == "interrupt"
    assert "it was interrupted" in capsys.readouterr().err


@both_signals
@pytest.mark.parametrize("refine", ["prune", "order"])
def test_a_signal_in_refinement_keeps_what_was_learnt(fit, tmp_path, monkeypatch, number, refine):
    raises_signal(monkeypatch, GraphSearch, "best", number)
    assert fit("--refine", refine) == CODES[number]
    assert outcome(tmp_path / "out")["stopped"] == "interrupt"


@both_signals
def test_a_signal_in_pag_ends_with_its_code(tmp_path, monkeypatch, capsys, number):
    a, b, c = np.random.default_rng(0).normal(size=(3, 100))
    pd.DataFrame({"a": a, "b": a + b, "c": c}).to_csv(tmp_path / "t.csv", index=False)
    raises_signal(monkeypatch, GraphSearch, "best", number)
    assert main(["pag", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out")]) == CODES[number]
    assert "Graph Edges" in capsys.readouterr().out
    assert (tmp_path / "out" / "pag.txt").is_file()


@both_signals
def test_a_signal_in_the_examination_keeps_the_graph(fit, tmp_path, monkeypatch, capsys, number):
    monkeypatch.setattr("cosmodag.solve.watch._GRACE", 0.0)
    raises_signal(monkeypatch, turning, "scores_on", number)
    assert fit("--noise", "gaussian") == CODES[number]
    found = outcome(tmp_path / "out")
    assert found["stopped"] == "interrupt"
    assert any("evidence for each arrow" in warning for warning in found["warnings"])
    assert "warning: The fit was stopped before" in capsys.readouterr().err


@both_signals
def test_a_signal_in_the_bootstrap_keeps_the_fit(fit, tmp_path, monkeypatch, capsys, number):
    raises_signal(monkeypatch, stability.BootstrapResult, "add", number, call=3)
    assert fit("--bootstrap", "40") == CODES[number]
    found = outcome(tmp_path / "out")
    assert 0 < found["bootstrap"]["done"] < 40
    assert "of 40 resamples were fitted before the bootstrap was stopped" in capsys.readouterr().err


def test_ctrl_c_before_any_resample_keeps_the_fit(fit, tmp_path, monkeypatch, capsys):
    raises_signal(monkeypatch, stability, "fit_resamples", signal.SIGINT)
    assert fit("--bootstrap", "40") == 130
    assert outcome(tmp_path / "out")["bootstrap"] is None
    assert "None of 40 resamples" in capsys.readouterr().err


def test_ctrl_c_in_the_bootstraps_own_fit_keeps_the_fit(fit, tmp_path, monkeypatch, capsys):
    raises_signal(monkeypatch, stability, "_fitted", signal.SIGINT)
    assert fit("--bootstrap", "40") == 130
    assert outcome(tmp_path / "out")["bootstrap"] is None
    assert "None of 40 resamples" in capsys.readouterr().err


def test_sigterm_is_heard_where_ctrl_c_is_ignored(fit, tmp_path, monkeypatch):
    """For example, in the background of a shell script."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raises_signal(monkeypatch, GraphSearch, "best", signal.SIGTERM)
    assert fit() == 143
    assert outcome(tmp_path / "out")["stopped"] == "interrupt"


def test_a_second_sigterm_writes_nothing(fit, tmp_path, monkeypatch, capsys):
    raises_signal(monkeypatch, training, "_note", signal.SIGTERM, call=2)
    raises_signal(monkeypatch, GraphSearch, "best", signal.SIGTERM)
    assert fit("--epochs", "100000") == 143
    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().err.endswith("error: stopped by SIGTERM.\n")


@both_signals
def test_a_signal_while_writing_leaves_the_earlier_result(fit, tmp_path, monkeypatch, number):
    assert fit() == 0
    before = contents(tmp_path / "out")
    assert "run.json" in before
    raises_signal(monkeypatch, report, "write_report", number)
    assert fit("--seed", "1") == CODES[number]
    assert contents(tmp_path / "out") == before


@both_signals
def test_a_signal_while_files_take_their_places_waits(fit, tmp_path, monkeypatch, number):
    assert fit() == 0
    before = contents(tmp_path / "out")
    raises_signal(monkeypatch, os, "replace", number, call=15)  # ten files, two names each
    assert fit("--threshold", "0.5", "--seed", "1") == CODES[number]
    after = contents(tmp_path / "out")
    assert after.keys() == before.keys()
    assert outcome(tmp_path / "out")["parameters"]["random_state"] == 1
    assert after["model.safetensors"] != before["model.safetensors"]


def test_ctrl_c_before_the_fit(fit, tmp_path, monkeypatch, capsys):
    raises_signal(monkeypatch, results, "_check_writable", signal.SIGINT)
    assert fit() == 130
    assert capsys.readouterr().err.endswith("error: interrupted by Ctrl-C.\n")


def test_a_run_that_does_not_look_is_interrupted(fit, tmp_path, monkeypatch):
    """During a compilation, for example, a run does not check, and callbacks drop interrupts."""
    dropped = []

    def long_compilation(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(6000):
            try:
                time.sleep(0.01)
            except KeyboardInterrupt:
                dropped.append(None)
                if len(dropped) > 1:
                    raise
        raise AssertionError("went on for a minute")

    monkeypatch.setattr(signals, "_WAIT", 0.01)
    monkeypatch.setattr(signals, "_RETRIES", 600)  # a busy machine may be slow to drop them
    monkeypatch.setattr(GraphSearch, "best", long_compilation)
    assert fit() == 130
    assert len(dropped) == 2
    assert not (tmp_path / "out").exists()


def test_a_run_that_takes_long_to_finish_says_so(fit, tmp_path, monkeypatch):
    lines, said = [], threading.Event()

    def say(line):
        lines.append(line)
        said.set()

    def finish_slowly(*args, **kwargs):
        assert said.wait(60)
        return write_results(*args, **kwargs)

    write_results = results.write_results
    monkeypatch.setattr(signals, "_WAIT", 0.01)
    monkeypatch.setattr(signals, "_RETRIES", 600)
    monkeypatch.setattr(signals, "_signal_main_thread", lambda number: None)
    monkeypatch.setattr(signals, "say", say)
    monkeypatch.setattr("cosmodag.cli.fit_folder.write_results", finish_slowly)
    raises_signal(monkeypatch, training, "_note", signal.SIGINT, call=2)
    assert fit("--epochs", "100000") == 130
    assert len(lines) == 1
    assert "press it again" in lines[0]
    assert outcome(tmp_path / "out")["stopped"] == "interrupt"


def test_an_interrupt_that_was_repeated_keeps_the_fit_of_a_bootstrap(fit, tmp_path, monkeypatch):
    """The bootstrap does not look, so that the signal is sent again, and writing takes long."""
    lines, said, ended = [], threading.Event(), []

    def stay(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(6000):
            time.sleep(0.01)
        raise AssertionError("went on for a minute")

    def say(line):
        lines.append(line)
        said.set()

    def finish_slowly(*args, **kwargs):
        assert said.wait(60)
        return write_results(*args, **kwargs)

    write_results = results.write_results
    monkeypatch.setattr(signals, "_WAIT", 0.01)
    monkeypatch.setattr(signals, "say", say)
    monkeypatch.setattr(signals, "_RETRIES", 600)
    monkeypatch.setattr(signals, "end_process", ended.append)
    monkeypatch.setattr(stability, "fit_resamples", stay)
    monkeypatch.setattr(results, "write_results", finish_slowly)
    assert fit("--bootstrap", "40") == 130
    assert ended == []
    assert len(lines) == 1
    assert "press it again" in lines[0]
    assert outcome(tmp_path / "out")["bootstrap"] is None


STUCK = """
import hashlib, os, signal, sys
import cosmodag.report as report
signal.signal(signal.SIGINT, signal.default_int_handler)
from cosmodag.cli import main
def stuck(*args):
    print("stuck", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 10**9)
report.write_report = stuck
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, id="sigterm", marks=pytest.mark.nightly),
    ],
)
def test_a_process_stuck_outside_python_ends_all_the_same(fit, tmp_path, number):
    assert fit() == 0
    before = contents(tmp_path / "out")
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", STUCK, "fit", str(tmp_path / "table.csv")),
            *("-o", str(tmp_path / "out"), "--method", "variance-sort", "-q"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    assert len(contents(tmp_path / "out")) > len(before)  # includes the file that is being written
    process.send_signal(number)
    _, error = process.communicate(timeout=300)
    assert process.returncode == CODES[number]
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert contents(tmp_path / "out") == before
