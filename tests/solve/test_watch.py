"""What a run answers to Ctrl-C, whatever it is doing."""

import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from cosmodag.solve.watch import Watch, is_heeded

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


def uncut(seconds: float) -> None:
    """Spend some time in a call that heeds no signal."""

    def hash_so_often(times: int) -> float:
        begin = time.monotonic()
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", times)
        return time.monotonic() - begin

    some = 100_000
    hash_so_often(int(seconds / hash_so_often(some) * some))


SAID = "Ctrl-C: ending as soon as the step under way is over.\n"


def test_a_call_that_cannot_be_cut_is_waited_for_in_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Watch(1, "test"):
        signal.raise_signal(KEY)
        with pytest.raises(KeyboardInterrupt):
            uncut(3)
    assert capsys.readouterr().err == SAID


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pipe to be woken by")
def test_so_it_is_where_python_has_not_heard_of_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    pressing = threading.Timer(0.2, os.kill, (os.getpid(), KEY))
    with Watch(1, "test") as watch:
        pressing.start()
        uncut(3)
        assert watch.stop == "interrupt"
    assert capsys.readouterr().err == SAID


def test_what_others_are_woken_by_is_left_alone() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    with Watch(1, "test") as watch:
        signal.raise_signal(KEY)
        assert watch.stop == "interrupt"
    assert signal.set_wakeup_fd(before) == writing
    assert os.read(reading, 9) == bytes([KEY])
    os.close(reading)
    os.close(writing)


def test_nothing_is_left_of_it() -> None:
    def held() -> tuple[int, int]:
        return threading.active_count(), len(os.listdir("/dev/fd")) if os.name == "posix" else 0

    threads, files = held()
    for _ in range(20):
        with Watch(1, "test"):
            pass
    threads_after, files_after = held()
    # A timer of an earlier test may have ended in the meantime.
    assert threads_after <= threads
    assert files_after <= files
    assert signal.set_wakeup_fd(-1) == -1
