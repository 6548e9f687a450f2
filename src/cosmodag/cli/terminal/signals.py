"""Ctrl-C and SIGTERM on the command line: a clean exit if possible, a reply within two seconds.

Python runs a signal handler only while the main thread executes Python code, so a long call of
compiled code delays it: by .6 CPU seconds while programs are compiled, by 4.4 in the products of a
table of 4,000 rows and 5,000 variables (the longest intervals between two runs of the handler of a
timer, with ``setitimer``). A second thread therefore also receives the signals. It interrupts a
fit that has not checked for the signal, says that the fit is finishing, or else ends the process
with the right exit code and without half-written files.
"""

import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, NoReturn

from cosmodag.cli.terminal.output import say

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Seconds within which a fit should respond to Ctrl-C; it usually takes less than half a second.
_WAIT = 1.2

# How often a signal is sent again to a main thread that has not responded, and the seconds between
# two times. Once may not be enough: Python drops an exception raised in a callback from C.
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
        with _signal_thread():
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
def _signal_thread() -> Iterator[None]:
    """Run the thread that responds to signals while the context lasts."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=_respond, args=(reading,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writing.close()  # ends the thread
        thread.join()
        reading.close()


def _respond(reading: socket.socket) -> None:
    """Respond to each signal that the main thread leaves unanswered, until the command ends."""
    number, received, sent, unread = signal.SIGINT, 0, 0, 0
    timeout = None
    while True:
        if select.select([reading], [], [], timeout)[0]:
            numbers = reading.recv(64)
            if not numbers:
                return
            for each in numbers:
                if each in _ENDS and unread:  # sent by this thread
                    unread -= 1
                elif each in _ENDS:
                    number, received, sent, timeout = signal.Signals(each), received + 1, 0, _WAIT
            continue
        state = _interrupt_of_fit()
        if state == "SEEN" and received == 1:
            say(_ENDS[number].finishing)
            timeout = None
        elif state != "ASKED" and _has_slow_end.is_set():
            timeout = None
        elif sent < _RETRIES:
            sent, unread, timeout = sent + 1, unread + 1, _RETRY_EVERY
            _signal_main_thread(number)
        else:
            say(_ENDS[number].sentence)
            end_process(_ENDS[number].code)


def _interrupt_of_fit() -> str:
    # No import here: the main thread may hold the import lock.
    watch = sys.modules.get("cosmodag.solve.watch")
    return "NONE" if watch is None else str(watch.last_interrupt().name)


def _signal_main_thread(number: signal.Signals) -> None:
    """Send a signal to the main thread itself, which also ends its wait for other threads."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)
    else:
        signal.raise_signal(number)


def end_process(code: int) -> NoReturn:
    """End the process after a signal, without half-written files and without Python's own end.

    That would wait for threads that still run compiled code, and LLVM crashes when it frees its
    objects after an interrupted compilation.
    """
    if (unfinished := sys.modules.get("cosmodag.io.files.writing")) is not None:
        unfinished.discard_unfinished()
    os._exit(code)
