"""The local engine: every item has exactly one outcome, whatever happens to its process."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import engine_work as work
import pytest

from cosmodag.errors import DataError
from cosmodag.runtime.engines import Failure, each


@pytest.mark.parametrize("jobs", [None, 2])
def test_every_item_is_done_once(jobs: int | None) -> None:
    done = list(each(work.double, range(50), jobs=jobs))
    assert sorted(done) == [(number, 2 * number) for number in range(50)]


def test_without_other_processes_results_come_in_order() -> None:
    assert [index for index, _ in each(work.double, range(9))] == list(range(9))


@pytest.mark.parametrize("jobs", [None, 2])
def test_an_error_is_a_failure_of_its_item(jobs: int | None) -> None:
    assert dict(each(work.fail_for_some, range(4), jobs=jobs)) == {
        0: 0,
        1: Failure("failed", "ValueError: one is not allowed"),
        2: Failure("diverged", "Training diverged in round 7."),
        3: 3,
    }


def test_no_item_is_lost_with_its_process(tmp_path: Path) -> None:
    items = [(number, str(tmp_path)) for number in range(8)]
    done = sorted(each(work.kill_process_once, items, jobs=2))
    assert done == [(number, number) for number in range(8)]
    assert [mark.name for mark in tmp_path.iterdir()] == ["1"]


def test_an_item_that_always_kills_is_a_failure_and_no_other_is() -> None:
    results = dict(each(work.kill_process, range(6), jobs=2))
    assert results.pop(1).status == "failed"
    assert results == {number: number for number in (0, 2, 3, 4, 5)}


def test_a_function_that_cannot_be_unpickled_is_a_failure() -> None:
    results = dict(each(work.Unreadable(), [1, 2], jobs=2))
    assert [result.status for result in results.values()] == ["failed", "failed"]
    assert all("un-serialize" in result.message for result in results.values())


@pytest.mark.parametrize(
    "wait", [1.0, *(pytest.param(wait, marks=pytest.mark.nightly) for wait in (0.05, 2.0))]
)
def test_ctrl_c_while_it_waits_is_an_interrupt(wait: float) -> None:
    """Ctrl-C is pressed while the processes start or while they work."""
    script = "import engine_work as work; from cosmodag.runtime.engines import each\n"
    script += "print('begun', flush=True); list(each(work.slow, range(9), jobs=2))"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=Path(work.__file__).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        assert process.wait(timeout=300) == -signal.SIGINT, errors
    assert "RuntimeError" not in errors


def test_each_process_has_its_share_of_threads() -> None:
    names = ["NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "MINE"]
    seen = dict(each(work.environment_variable, names, jobs=1, threads=1, variables={"MINE": "x"}))
    assert seen == {0: "1", 1: "1", 2: "x"}


def test_an_interrupt_passes_through() -> None:
    def interrupted(item: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(each(interrupted, [1]))


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(DataError, match="local, ray"):
        each(work.double, [1], engine="queue")
    with pytest.raises(DataError, match="for the engine 'ray'"):
        each(work.double, [1], address="auto")
