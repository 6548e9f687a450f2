"""Control of a running fit: Ctrl-C, a time limit, and the display of progress."""

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from importlib import import_module
from types import FrameType
from typing import Any

from cosmodag.compilation.progress import Tally, listening
from cosmodag.random_state import preserve_random_state

# A bar is not useful for a fit that ends within a second.
_BAR_AFTER = 1.0

# Seconds between two lines in a log.
_LINE_EVERY = 2.0

_LOG = logging.getLogger("cosmodag")


class ProgressBar:
    """Progress of a run, and of the programs that are compiled for it.

    The bar is on stderr, appears after a second, and only on a terminal. While programs are
    compiled, a second bar counts them from the start; in a notebook, a line does. The logger
    ``"cosmodag"`` gets a line of level ``INFO`` about them every two seconds. Without `show`, only
    the logger is used. `total` is the number of units of work, such as rounds of all problems.
    """

    def __init__(self, total: int, label: str, show: bool) -> None:
        self._total, self._label, self._done = total, label, 0
        self._on_terminal = show and sys.stderr.isatty()
        self._in_notebook = show and not self._on_terminal and in_notebook()
        self._bar: Any = None
        self._task: Any = None
        self._compile_task: Any = None
        self._notebook_line: Any = None
        self._last_log = 0.0
        self._listening = ExitStack()

    def open(self) -> None:
        """Begin to measure time and to count compiled programs."""
        self._begin = time.monotonic()
        self._listening.enter_context(listening(self._on_compile))

    def close(self) -> None:
        """Remove everything that is shown."""
        self._listening.close()
        if self._bar is not None:
            self._bar.stop()
        if self._notebook_line is not None:
            self._notebook_line.update(_plain(""), raw=True)

    def begin(self, total: int, label: str | None = None) -> None:
        """Set the remaining units of work and their label; the bar restarts."""
        self._total, self._done, self._label = total, 0, label or self._label
        if self._bar is not None:
            self._bar.reset(self._task, total=total, description=self._label, note="")

    def advance(self, done: int, note: str = "") -> None:
        """Count `done` more units of work as done."""
        self._done += done
        if not self._on_terminal or self._elapsed < _BAR_AFTER:
            return
        if self._bar is None:
            self._open_bar()
        self._bar.update(self._task, completed=self._done, note=note, visible=True)

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    def _on_compile(self, tally: Tally) -> None:
        """Show the number of compiled programs."""
        if self._on_terminal:
            if self._bar is None:
                self._open_bar()
            if self._compile_task is None:
                self._compile_task = self._bar.add_task("compiling, once", note="")
            self._bar.update(
                self._compile_task,
                completed=tally.done,
                total=tally.total,
                note=f"{tally.done} of {tally.total}",
                visible=tally.is_busy,
            )
        elif self._in_notebook:
            if self._notebook_line is None:
                self._notebook_line = notebook_line(_plain(str(tally)))
            self._notebook_line.update(_plain(str(tally) if tally.is_busy else ""), raw=True)
        if self._elapsed - self._last_log >= _LINE_EVERY:
            self._last_log = self._elapsed
            _LOG.info("%s", tally)

    def _open_bar(self) -> None:
        with preserve_random_state():
            from rich import progress
            from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=self._total, note="", visible=False)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def notebook_line(content: dict[str, str]) -> Any:
    """Show a line below a cell, and return the handle that changes it."""
    return import_module("IPython.display").display(content, raw=True, display_id=True)


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


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
    `cosmodag.solve.watch.ProgressBar`.
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
