"""Training in chunks: progress, time, Ctrl-C, divergence."""

import os
import signal
import sys

import numpy as np
import pytest
from solver_problems import SETTINGS, make_batch

from cosmodag.mechanism import Linear
from cosmodag.solver.many import solve_many
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Problem
from cosmodag.solver.training import train as train_module
from cosmodag.solver.training.train import solutions, train
from cosmodag.solver.watch import Watch


def test_history_has_one_record_a_chunk_and_the_loss_falls(batch):
    with Watch(40, "test") as watch:
        trained = train(batch, batch.start(), 40, watch)
    history = solutions(batch, trained)[0].history
    assert [record["epoch"] for record in history] == list(range(1, 41))
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]


def test_a_time_limit_ends_it_between_chunks(batch):
    with Watch(10**6, "test", max_time=0.2) as watch:
        trained = train(batch, batch.start(), 10**6, watch)
    assert trained.stopped == "time"
    assert 0 < trained.epochs < 10**6


def test_the_first_interrupt_stops_and_keeps_the_result(batch, monkeypatch):
    monkeypatch.setattr(train_module, "_note", lambda losses: _interrupt_once())
    before = signal.getsignal(signal.SIGINT)
    with Watch(4000, "test") as watch:
        trained = train(batch, batch.start(), 4000, watch)
    assert trained.stopped == "interrupt"
    assert trained.epochs == 40
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_is_not_held_back():
    with Watch(1, "test") as watch:
        os.kill(os.getpid(), signal.SIGINT)
        assert watch.stop == "interrupt"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def _interrupt_once() -> str:
    if not getattr(_interrupt_once, "done", False):
        _interrupt_once.done = True
        os.kill(os.getpid(), signal.SIGINT)
    return ""


def test_it_ends_when_every_problem_has_diverged(table):
    broken = np.full_like(table, np.float32(1e30))
    batch = make_batch([Problem(broken, {**SETTINGS, "epochs": 4000.0}, 0)])
    with Watch(4000, "test") as watch:
        trained = train(batch, batch.start(), 4000, watch)
    assert trained.epochs == 40
    assert solutions(batch, trained)[0].diverged_at == 0


def test_no_progress_off_a_terminal(batch, capsys):
    with Watch(40, "test") as watch:
        train(batch, batch.start(), 40, watch)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal_appears_on_stderr(batch, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("cosmodag.solver.watch._PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Watch(40, "learning") as watch:
        train(batch, batch.start(), 40, watch)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "learning" in captured.err


def test_problems_of_different_shapes_are_solved_in_groups(table):
    shorter = np.ascontiguousarray(table[:100])
    problems = [
        Problem(table, SETTINGS, 0),
        Problem(shorter, SETTINGS, 1),
        Problem(table, SETTINGS, 2),
    ]
    solver = Anneal(Linear())
    with Watch(40, "test") as watch:
        found = dict(solve_many(solver, problems, device="cpu", watch=watch))
    assert sorted(found) == [0, 1, 2]
    with Watch(40, "test") as watch:
        ((_, alone),) = solve_many(solver, [problems[1]], device="cpu", watch=watch)
    assert np.array_equal(found[1].parameters["arcs"], alone.parameters["arcs"])
