"""Ctrl-C and SIGTERM: heeded in Python where that is possible, and within two seconds anyhow.

Python runs the handler of a signal when the main thread is back in Python. A product of large
matrices, a parser or a compiler in C can keep it for longer than anybody waits for an answer, so
that another thread looks after the promise: it ends the process if need be, with the right code and
no half-written file.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from cosmodag.cli.shared.output import say

__all__ = ["EXIT_INTERRUPTED", "EXIT_TERMINATED", "heeded_signals", "unhurried"]

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Seconds for an orderly end; a run asks for one itself somewhat earlier.
_PATIENCE = 1.8

_ENDS = {
    signal.SIGINT: (EXIT_INTERRUPTED, "error: interrupted by Ctrl-C."),
    signal.SIGTERM: (EXIT_TERMINATED, "error: stopped by SIGTERM."),
}


_unhurried = threading.Event()


@contextmanager
def unhurried() -> Iterator[None]:
    """Context of work that has other processes to end, and is given the time for it."""
    _unhurried.set()
    try:
        yield
    finally:
        _unhurried.clear()


@contextmanager
def heeded_signals() -> Iterator[None]:
    """Context of a command: SIGTERM leaves through the usual clean-up, and no signal is lost."""
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        with _none_lost(), _last_resort():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(EXIT_TERMINATED)


@contextmanager
def _none_lost() -> Iterator[None]:
    """Repeat a signal that fell into a callback.

    Python drops what is raised in a finaliser or a callback of the garbage collector (JAX has
    one, and a fit spends time in it), and the key would have been pressed in vain.
    """
    show_as_python_does = sys.unraisablehook
    repeated = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}

    def repeat(unraisable: "sys.UnraisableHookArgs") -> None:
        number = repeated.get(unraisable.exc_type)
        if number is None:
            show_as_python_does(unraisable)
        else:
            threading.Timer(0.1, signal.raise_signal, [number]).start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = show_as_python_does


@contextmanager
def _last_resort() -> Iterator[None]:
    """End the process from another thread where a signal has no effect in time."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    over = threading.Event()
    watcher = threading.Thread(target=_watch_signals, args=(reading, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writing)  # which ends the thread
        watcher.join()
        os.close(reading)


def _watch_signals(reading: int, over: threading.Event) -> None:
    pressed = 0
    while numbers := os.read(reading, 64):
        for number in numbers:
            if number not in _ENDS:
                continue
            pressed += number == signal.SIGINT
            insists = number == signal.SIGTERM or pressed > 1
            waiter = threading.Thread(target=_end_unless, args=(over, number, insists), daemon=True)
            waiter.start()


def _end_unless(over: threading.Event, number: int, insists: bool) -> None:
    """End the process where the command did not end in time, nor is finishing after a Ctrl-C."""
    if over.wait(_PATIENCE) or _unhurried.is_set() or (not insists and _is_heeded()):
        return
    code, sentence = _ENDS[signal.Signals(number)]
    say(sentence)
    # Not imported here: the main thread may hold the lock of an import.
    if (unfinished := sys.modules.get("cosmodag.io.unfinished")) is not None:
        unfinished.discard_unfinished()
    os._exit(code)


def _is_heeded() -> bool:
    watch = sys.modules.get("cosmodag.solve.watch")
    return watch is not None and watch.is_heeded()
