"""Training in pieces: history, progress, time limit, Ctrl-C and divergence."""

import os
import signal
import sys
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from solver_problems import SETTINGS, cosmo_recipe, make_batch

from cosmodag.solve import watch as watch_module
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.training import train as train_module
from cosmodag.solve.training.train import Checkpoint, solutions, train
from cosmodag.solve.watch import Watch


def test_history_has_a_record_for_each_hundredth_and_the_loss_falls(batch):
    with Watch(40, "test") as watch:
        trained = train(batch, batch.start(), 40, watch)
    history = solutions(batch, trained)[0].history
    assert [record["round"] for record in history] == list(range(1, 41))
    assert [record["epoch"] for record in history] == list(range(1, 41))
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]


def test_the_seconds_a_piece_may_take_change_nothing(batch):
    found = []
    for seconds in (0.0, 1e3):
        pieces = []
        with Watch(400, "test") as watch:
            watch.advance = lambda rounds, note, pieces=pieces: pieces.append(rounds)
            trained = train(replace(batch, chunk_seconds=seconds), batch.start(), 400, watch)
        found.append((pieces, trained))
    (short, first), (long, second) = found
    # With three lanes: pieces of one round, and pieces of four rounds from record to record.
    assert set(short) == {3}
    assert max(long) == 12
    assert first.marks == second.marks == list(range(4, 401, 4))
    assert np.array_equal(first.losses, second.losses)
    assert jax.tree.all(jax.tree.map(np.array_equal, first.state, second.state))


def test_a_time_limit_ends_it_between_pieces(batch, monkeypatch):
    """The clock advances by one second per piece, however long the piece takes."""
    clock = count(0.0)
    monkeypatch.setattr(watch_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with Watch(10**6, "test", max_time=3.5) as watch:
        trained = train(replace(batch, chunk_seconds=0.0), batch.start(), 10**6, watch)
    assert trained.stopped == "time"
    assert 0 < trained.rounds < 10**6


def test_the_first_interrupt_stops_and_keeps_the_result(batch, monkeypatch):
    notes = []

    def interrupt_third(losses):
        notes.append(losses)
        if len(notes) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return ""

    monkeypatch.setattr(train_module, "_note", interrupt_third)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Watch(4000, "test") as watch:
        trained = train(replace(batch, chunk_seconds=0.0), batch.start(), 4000, watch)
    assert trained.stopped == "interrupt"
    assert trained.rounds == 3
    assert signal.getsignal(signal.SIGINT) is before
    assert all(np.isfinite(s.parameters["arcs"]).all() for s in solutions(batch, trained))


def test_it_ends_when_every_problem_has_diverged(table):
    broken = np.full_like(table, np.float32(1e30))
    batch = make_batch([Problem(broken, {**SETTINGS, "rounds": 4000.0}, 0)])
    with Watch(4000, "test") as watch:
        trained = train(batch, batch.start(), 4000, watch)
    assert trained.rounds == 1
    assert solutions(batch, trained)[0].diverged_at == 0


def test_no_progress_off_a_terminal(batch, capsys):
    with Watch(40, "test") as watch:
        train(batch, batch.start(), 40, watch)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal_appears_on_stderr(batch, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("cosmodag.solve.watch._BAR_AFTER", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Watch(40, "learning") as watch:
        train(batch, batch.start(), 40, watch)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "learning" in captured.err


def test_problems_of_different_shapes_are_solved_in_groups(table):
    shorter = np.ascontiguousarray(table[:100])
    counted = np.ones((150, 1))
    problems = [
        Problem(table, SETTINGS, 0),
        Problem(shorter, SETTINGS, 1),
        Problem(table, SETTINGS, 2),
        Problem(table, SETTINGS, 2, counted=counted),
    ]
    solver = OneProblem(cosmo_recipe())
    with Watch(40, "test") as watch:
        solved = list(solve_many(solver, problems, device="cpu", watch=watch))
    assert [one.place for one in solved] == [0, 2, 1, 3]
    assert {one.plan.backend for one in solved} == {"numba-linear"}
    with Watch(40, "test") as watch:
        (alone,) = solve_many(solver, [problems[1]], device="cpu", watch=watch)
    arcs = {one.place: one.solution.parameters["arcs"] for one in solved}
    assert np.array_equal(arcs[1], alone.solution.parameters["arcs"])
    # Weights of one give the same sums as no weights, but in another order.
    np.testing.assert_allclose(arcs[3], arcs[2], atol=1e-4)


def test_a_run_that_was_finished_before_is_not_stopped_by_the_time_limit(batch, tmp_path):
    def run(max_time):
        with Watch(40, "test", max_time) as watch:
            return train(batch, batch.start(), 40, watch, checkpoint=Checkpoint(tmp_path))

    first, again = run(None), run(0.0)
    assert again.stopped is None
    assert again.rounds == 40
    assert np.array_equal(first.losses, again.losses)
