"""What a process may use: quotas and limits of containers, and BLAS threads shared by fits."""

import threading
from pathlib import Path

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cosmodag.solver import machine


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"memory.max": "3000\n", "memory.current": "1000\n"}, 2000),
        ({"memory.max": "max\n", "memory.current": "1000\n"}, None),
        ({"memory.max": "1000\n", "memory.current": "3000\n"}, 0),
        (
            {"memory/memory.limit_in_bytes": "500", "memory/memory.usage_in_bytes": "100"},
            400,
        ),
        ({}, None),
    ],
)
def test_the_limit_of_a_container_less_what_it_uses(tmp_path, files, left):
    assert machine._container_memory(written(tmp_path, files)) == left


def test_the_smaller_of_machine_and_container_counts(monkeypatch):
    monkeypatch.setattr(machine, "_machine_memory", lambda: 5000)
    monkeypatch.setattr(machine, "_container_memory", lambda: 2000)
    assert machine.main_memory() == 2000
    monkeypatch.setattr(machine, "_container_memory", lambda: None)
    assert machine.main_memory() == 5000
    monkeypatch.setattr(machine, "_machine_memory", lambda: None)
    assert machine.main_memory() is None


def test_cores_are_those_of_the_quota(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    assert machine.cores() == 3
    assert machine.threads_worth(1e12) == 3
    assert machine.threads_worth(1e12, workers=2) == 1
    assert machine.threads_worth(10.0) == 1


def blas_limits() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_fits_in_two_threads_leave_the_limit_as_they_found_it():
    with threadpool_limits(2, user_api="blas"):
        _enter_and_leave_in_turn()


def _enter_and_leave_in_turn():
    before = blas_limits()
    assert before == [2] * len(before) != []
    entered, leave = threading.Event(), threading.Event()

    def first():
        with machine.blas_threads(1):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(10)
    # The second finds the limit of the first, and must not put that back when it ends after it.
    with machine.blas_threads(2):
        assert blas_limits() == [1] * len(before)
        leave.set()
        thread.join()
    assert blas_limits() == before
