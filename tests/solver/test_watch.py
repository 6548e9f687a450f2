"""What a run answers to Ctrl-C, whatever it is doing."""

import hashlib
import signal
import threading
import time
from collections.abc import Callable

import pytest

from cosmodag.solver.watch import Watch, is_heeded

KEY = signal.SIGINT


def test_a_run_that_looks_is_asked_to_stop(capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(1, "test") as watch:
        assert watch.stop is None
        signal.raise_signal(KEY)
        assert not is_heeded()
        assert watch.stop == "interrupt"
        assert is_heeded()
    assert not capsys.readouterr().err


def test_a_second_one_ends_it_at_once() -> None:
    with Watch(1, "test"):
        signal.raise_signal(KEY)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(KEY)


def spin() -> None:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize("work", [spin, lambda: threading.Event().wait(5)])
def test_a_run_that_does_not_look_is_ended(work: Callable[[], object]) -> None:
    begin = time.monotonic()
    with Watch(1, "test"):
        signal.raise_signal(KEY)
        with pytest.raises(KeyboardInterrupt):
            work()
    assert time.monotonic() - begin < 4


@pytest.mark.parametrize("show", [True, False])
def test_a_run_that_is_finishing_says_so(capsys: pytest.CaptureFixture[str], show: bool) -> None:
    with Watch(1, "test", show=show) as watch:
        signal.raise_signal(KEY)
        assert watch.stop == "interrupt"
        time.sleep(1.6)
    said = capsys.readouterr().err
    assert ("press it again" in said) == show
    assert said.count("\n") == show


def test_a_call_that_cannot_be_cut_is_waited_for_in_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work(times: int) -> float:
        begin = time.monotonic()
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", times)
        return time.monotonic() - begin

    some = 100_000
    three_seconds = int(3 / work(some) * some)
    with Watch(1, "test"):
        signal.raise_signal(KEY)
        with pytest.raises(KeyboardInterrupt):
            work(three_seconds)
    said = capsys.readouterr().err
    assert said == "Ctrl-C: ending as soon as the step under way is over.\n"
