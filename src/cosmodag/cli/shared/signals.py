"""Ctrl-C and SIGTERM on the command line: an orderly end if possible, an answer within two seconds.

Python runs the handler of a signal only while the main thread executes Python code. A long call of
compiled code delays it for longer than a person waits. A second thread therefore reads the signals
from a pipe; it prompts a fit that has not looked, says what is being waited for, and at last ends
the process, with the right exit code and no half-written file.
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

__all__ = ["EXIT_INTERRUPTED", "EXIT_TERMINATED", "handled_signals", "slow_end"]

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Seconds after a Ctrl-C at which a fit should have looked; it usually does within half a second.
_PROMPT_AFTER = 1.2

# How often, and at what distance in seconds, a fit that has not looked is interrupted. One
# interrupt may not do: Python drops an exception that is raised in a callback from C.
_PROMPTS = 3
_PROMPT_EVERY = 0.2

_ENDS = {
    signal.SIGINT: (EXIT_INTERRUPTED, "error: interrupted by Ctrl-C."),
    signal.SIGTERM: (EXIT_TERMINATED, "error: stopped by SIGTERM."),
}

_has_slow_end = threading.Event()


@contextmanager
def slow_end() -> Iterator[None]:
    """Context of a command that has other processes to end, and may take longer to end itself."""
    _has_slow_end.set()
    try:
        yield
    finally:
        _has_slow_end.clear()


@contextmanager
def handled_signals() -> Iterator[None]:
    """Context of a command: SIGTERM leaves through the usual clean-up, and no signal is lost."""
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        with _dropped_signals_repeated(), _answering_thread():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(EXIT_TERMINATED)


@contextmanager
def _dropped_signals_repeated() -> Iterator[None]:
    """Repeat a signal whose exception was raised in a finaliser or a callback.

    Python drops such an exception. JAX has a callback of the garbage collector, and a fit spends
    time in it.
    """
    original_hook = sys.unraisablehook
    repeated = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}

    def repeat(unraisable: "sys.UnraisableHookArgs") -> None:
        number = repeated.get(unraisable.exc_type)
        if number is None:
            original_hook(unraisable)
        else:
            threading.Timer(0.1, signal.raise_signal, [number]).start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = original_hook


@contextmanager
def _answering_thread() -> Iterator[None]:
    """Answer signals from another thread while the context lasts."""
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
        os.close(writing)  # which ends the thread
        reader.join()
        os.close(reading)


def _read_signals(reading: int, over: threading.Event) -> None:
    presses = 0
    while numbers := os.read(reading, 64):
        for number in numbers:
            if number not in _ENDS:
                continue
            presses += number == signal.SIGINT
            may_finish = number == signal.SIGINT and presses == 1
            answer = threading.Thread(target=_answer, args=(over, number, may_finish), daemon=True)
            answer.start()


def _answer(over: threading.Event, number: int, may_finish: bool) -> None:
    """Wait for the end of the command; end the process if it neither ends nor finishes a fit."""
    if over.wait(_PROMPT_AFTER):
        return
    for _ in range(_PROMPTS):
        if may_finish and _interrupt_of_fit() == "SEEN":
            say("Ctrl-C: finishing with what was learnt so far; press it again to end at once.")
            return
        if _interrupt_of_fit() == "ASKED":
            _interrupt_main_thread()
        if over.wait(_PROMPT_EVERY):
            return
    if _has_slow_end.is_set():
        return
    code, sentence = _ENDS[signal.Signals(number)]
    say(sentence)
    # Not imported here: the main thread may hold the lock of an import.
    if (unfinished := sys.modules.get("cosmodag.io.unfinished")) is not None:
        unfinished.discard_unfinished()
    os._exit(code)


def _interrupt_of_fit() -> str:
    watch = sys.modules.get("cosmodag.solve.watch")
    return "NONE" if watch is None else str(watch.last_interrupt().name)


def _interrupt_main_thread() -> None:
    """Send the main thread a signal of its own, which also ends its waiting for other threads."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
