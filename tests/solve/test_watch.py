"""How a run responds to Ctrl-C, and which handler it leaves behind."""

import signal
import threading

import pytest

from cosmodag.solve.watch import Interrupt, Watch, last_interrupt

KEY = signal.SIGINT


@pytest.fixture(autouse=True)
def python_raises_at_ctrl_c():
    """Restore Python's handler, because processes started in the background ignore Ctrl-C."""
    before = signal.signal(KEY, signal.default_int_handler)
    yield
    signal.signal(KEY, before)


def test_the_first_ctrl_c_asks_the_run_to_stop_and_is_raised_on_leaving() -> None:
    def run() -> None:
        with Watch(1, "test") as watch:
            assert watch.stop is None
            signal.raise_signal(KEY)
            assert last_interrupt() is Interrupt.ASKED
            assert watch.stop == "interrupt"
            assert last_interrupt() is Interrupt.SEEN

    with pytest.raises(KeyboardInterrupt):
        run()
    assert last_interrupt() is Interrupt.SEEN
    with Watch(1, "test"):
        assert last_interrupt() is Interrupt.NONE


def test_the_second_ctrl_c_raises_at_once() -> None:
    # pytest.fail inside the run would not work: the watch would raise KeyboardInterrupt instead.
    went_on = []

    def run() -> None:
        with Watch(1, "test"):
            signal.raise_signal(KEY)
            signal.raise_signal(KEY)
            went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert not went_on
    assert last_interrupt() is Interrupt.NONE  # the run ended without reading it


def test_a_failing_run_does_not_hide_ctrl_c() -> None:
    def run() -> None:
        with Watch(1, "test"):
            signal.raise_signal(KEY)
            raise ValueError

    with pytest.raises(KeyboardInterrupt) as caught:
        run()
    assert isinstance(caught.value.__context__, ValueError)


def test_an_inner_run_passes_ctrl_c_on_to_the_outer_one() -> None:
    def run() -> None:
        with Watch(1, "outer") as outer:
            with Watch(1, "inner") as inner:
                signal.raise_signal(KEY)
                assert (inner.stop, outer.stop) == ("interrupt", None)
            assert outer.stop == "interrupt"

    with pytest.raises(KeyboardInterrupt):
        run()


def test_a_handler_of_the_caller_is_called_afterwards() -> None:
    heard: list[int] = []
    signal.signal(KEY, lambda number, frame: heard.append(number))
    with Watch(1, "test") as watch:
        signal.raise_signal(KEY)
        assert watch.stop == "interrupt"
        assert heard == []
    assert heard == [KEY]


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    signal.signal(KEY, signal.SIG_IGN)
    with Watch(1, "test") as watch:
        signal.raise_signal(KEY)
        assert watch.stop is None
    assert signal.getsignal(KEY) is signal.SIG_IGN


def test_another_thread_sets_no_handler() -> None:
    found = []

    def run() -> None:
        with Watch(1, "test") as watch:
            found.append((signal.getsignal(KEY), watch.stop))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [(signal.default_int_handler, None)]


def test_it_starts_no_thread_and_takes_no_wakeup_file() -> None:
    before = threading.active_count()
    with Watch(1, "test"):
        assert threading.active_count() <= before
        assert signal.set_wakeup_fd(-1) == -1
    assert signal.getsignal(KEY) is signal.default_int_handler
