"""Control of a running fit: Ctrl-C, a time limit, and a progress bar."""

import signal
import threading
import time
from collections.abc import Callable
from enum import Enum
from types import FrameType
from typing import Any

from cosmodag.solve.progress_bar import ProgressBar

__all__ = ["Ending", "Interrupt", "QuietWatch", "Watch", "interrupt_run", "last_interrupt"]

# Seconds for examinations of a graph, even after a stop: enough for small tables.
_GRACE = 1.0


class Interrupt(Enum):
    """State of a run's response to Ctrl-C."""

    NONE = "no Ctrl-C since the run began"
    ASKED = "Ctrl-C was pressed, and the run has not noticed it yet"
    SEEN = "the run has noticed it and finishes with the graph learnt so far"


# One value per process: only the main thread runs signal handlers.
_last = Interrupt.NONE
# Watches of the main thread that are entered, the innermost last.
_entered: list["Watch"] = []


def interrupt_run() -> bool:
    """Stop the main thread's run as Ctrl-C does; return whether there is one."""
    if _entered:
        _entered[-1]._on_interrupt(signal.SIGINT, None)
    return bool(_entered)


def last_interrupt() -> Interrupt:
    """Return the response of the main thread's latest run to Ctrl-C, for use by other threads."""
    return _last


class Watch:
    """Context in which a fit runs.

    The first Ctrl-C sets :attr:`stop`, which the run reads about twice a second, so that it can
    finish with the graph learnt so far. A second Ctrl-C raises `KeyboardInterrupt` at once. On
    exit, the previous handler is restored and, after a Ctrl-C, called: Python's own raises
    `KeyboardInterrupt`. Outside the main thread, or if Ctrl-C is ignored, no handler is set.

    The run should stop after `max_time` seconds. The other parameters are those of
    `cosmodag.solve.progress_bar.ProgressBar`.
    """

    def __init__(
        self, total: int, label: str, max_time: float | None = None, show: bool = True
    ) -> None:
        self._bar = ProgressBar(total, label, show)
        self._max_time = max_time
        self._interrupted = False
        self._previous: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> "Watch":
        global _last
        self._begin = time.monotonic()
        self._bar.open()
        if threading.current_thread() is threading.main_thread():
            _entered.append(self)
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                _last = Interrupt.NONE
                signal.signal(signal.SIGINT, self._on_interrupt)
                self._previous = previous
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        global _last
        if self in _entered:
            _entered.remove(self)
        self._bar.close()
        if self._previous is None:
            return
        signal.signal(signal.SIGINT, self._previous)
        if _last is Interrupt.ASKED:  # no run is left that could notice
            _last = Interrupt.NONE
        if self._interrupted and not isinstance(error, KeyboardInterrupt):
            self._previous(signal.SIGINT, None)

    @property
    def stop(self) -> str | None:
        """Why the run should stop now (``"interrupt"`` or ``"time"``), or None."""
        global _last
        if self._interrupted:
            _last = Interrupt.SEEN
            return "interrupt"
        if self._max_time is not None and time.monotonic() - self._begin >= self._max_time:
            return "time"
        return None

    def begin(self, total: int, label: str | None = None) -> None:
        """Set the remaining units of work and their label; the bar restarts."""
        self._bar.begin(total, label)

    def advance(self, done: int, note: str = "") -> None:
        """Count `done` more units of work as done."""
        self._bar.advance(done, note)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        global _last
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        _last = Interrupt.ASKED


class QuietWatch(Watch):
    """Watch of one of many tasks: it stops when the watch of all does, and shows nothing."""

    def __init__(self, other: Watch) -> None:
        self._other = other

    @property
    def stop(self) -> str | None:
        """Why the run should stop now (``"interrupt"`` or ``"time"``), or None."""
        return self._other.stop

    def begin(self, total: int, label: str | None = None) -> None:
        """Do nothing."""

    def advance(self, done: int, note: str = "") -> None:
        """Do nothing."""


class Ending:
    """End of the examinations of a graph: after a stop, but not within their first second."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._begin = time.monotonic()
        self.unfinished: list[str] = []  # examinations that were ended

    def of(self, examination: str) -> Callable[[], bool]:
        """Return the function by which an examination checks whether it must end."""

        def is_over() -> bool:
            if self._watch.stop is None or time.monotonic() - self._begin < _GRACE:
                return False
            if examination not in self.unfinished:
                self.unfinished.append(examination)
            return True

        return is_over
