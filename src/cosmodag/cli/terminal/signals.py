"""Ctrl-C and SIGTERM on the command line: a clean exit if possible, a reply within two seconds.

Python runs a signal handler only while the main thread executes Python code, so a long call of
compiled code delays it. A second thread therefore reads the signals from a pipe. It interrupts a
fit that has not checked for the signal, says that the fit is finishing, or else ends the process
with the right exit code and without half-written files.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

from cosmodag.cli.terminal.output import say

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Seconds within which a fit should respond to Ctrl-C; it usually takes less than half a second.
_WAIT = 1.2

# Number of interrupts sent to a fit that has not responded, and the seconds between them. One may
# not be enough: Python drops an exception that is raised in a callback from C.
_RETRIES = 3
_RETRY_EVERY = 0.2


class _End(NamedTuple):
    """Exit code and message after a signal, and the message of a fit that finishes first."""

    code: int
    sentence: str
    finishing: str


_ENDS = {
    signal.SIGINT: _End(
        EXIT_INTERRUPTED,
        "error: interrupted by Ctrl-C.",
        "Ctrl-C: finishing with the graph learnt so far; press it again to exit at once.",
    ),
    signal.SIGTERM: _End(
        EXIT_TERMINATED,
        "error: stopped by SIGTERM.",
        "SIGTERM: finishing with the graph learnt so far; a second one ends the program at once.",
    ),
}

# For each signal, how often this module has sent it and the signal thread has not read it yet: such
# a repetition is no second request to end.
_repetitions: dict[int, threading.Semaphore] = {n: threading.Semaphore(0) for n in _ENDS}

_has_slow_end = threading.Event()
_was_terminated = threading.Event()


def end_of_interrupt() -> _End:
    """Return the exit code and the messages for an interrupt by Ctrl-C or by SIGTERM."""
    return _ENDS[signal.SIGTERM if _was_terminated.is_set() else signal.SIGINT]


@contextmanager
def slow_end() -> Iterator[None]:
    """Context for a command that may take longer to exit, since it must stop other processes."""
    _has_slow_end.set()
    try:
        yield
    finally:
        _has_slow_end.clear()


@contextmanager
def handled_signals() -> Iterator[None]:
    """Context for a command in which SIGTERM stops a fit as Ctrl-C does, and no signal is lost."""
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    _was_terminated.clear()
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        with _dropped_signals_repeated(), _signal_thread():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Let a fit finish with the graph learnt so far; otherwise exit with the usual clean-up."""
    _was_terminated.set()
    watch = sys.modules.get("cosmodag.solve.watch")
    if watch is None or not watch.interrupt_run():
        raise SystemExit(EXIT_TERMINATED)


@contextmanager
def _dropped_signals_repeated() -> Iterator[None]:
    """Repeat a signal whose exception was raised in a finaliser or a callback.

    Python drops such an exception. JAX registers a callback of the garbage collector, which runs
    often during a fit.
    """
    original_hook = sys.unraisablehook
    repeated = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}

    def repeat(unraisable: "sys.UnraisableHookArgs") -> None:
        number = repeated.get(unraisable.exc_type)
        if number is None:
            original_hook(unraisable)
        else:
            threading.Timer(0.1, _repeat, [number]).start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = original_hook


@contextmanager
def _signal_thread() -> Iterator[None]:
    """Run the thread that responds to signals while the context lasts."""
    for number in _ENDS:
        _repetitions[number] = threading.Semaphore(0)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    over = threading.Event()
    reader = threading.Thread(target=_read_signals, args=(reading, over), daemon=True)
    reader.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writing)  # ends the thread
        reader.join()
        os.close(reading)


def _read_signals(reading: int, over: threading.Event) -> None:
    count = 0
    while numbers := os.read(reading, 64):
        for number in numbers:
            if number not in _ENDS or _repetitions[number].acquire(blocking=False):
                continue
            count += 1
            is_first = count == 1
            reply = threading.Thread(
                target=_reply_to_signal, args=(over, number, is_first), daemon=True
            )
            reply.start()


def _reply_to_signal(over: threading.Event, number: int, is_first: bool) -> None:
    """Wait for the command to exit; end the process unless it finishes a fit after one signal."""
    end = _ENDS[signal.Signals(number)]
    if over.wait(_WAIT):
        return
    for _ in range(_RETRIES):
        if is_first and _interrupt_of_fit() == "SEEN":
            say(end.finishing)
            return
        if _interrupt_of_fit() == "ASKED":
            _interrupt_main_thread()
        if over.wait(_RETRY_EVERY):
            return
    if _has_slow_end.is_set():
        return
    say(end.sentence)
    # No import here: the main thread may hold the import lock.
    if (unfinished := sys.modules.get("cosmodag.io.files.writing")) is not None:
        unfinished.discard_unfinished()
    os._exit(end.code)


def _interrupt_of_fit() -> str:
    watch = sys.modules.get("cosmodag.solve.watch")
    return "NONE" if watch is None else str(watch.last_interrupt().name)


def _interrupt_main_thread() -> None:
    """Send SIGINT to the main thread itself, which also ends its wait for other threads."""
    _repetitions[signal.SIGINT].release()
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _repeat(number: signal.Signals) -> None:
    _repetitions[number].release()
    signal.raise_signal(number)
