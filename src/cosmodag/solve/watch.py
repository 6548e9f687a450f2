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

from cosmodag.runtime.compile_progress import Tally, listening
from cosmodag.runtime.random_state import preserve_random_state

# Seconds before a bar appears: for a shorter fit, it is not useful.
_BAR_AFTER = 1.0

# Minimum seconds between two lines of a log.
_LINE_EVERY = 2.0

_LOG = logging.getLogger("cosmodag")


class ProgressBar:
    """Progress of a run, and of the programs that are compiled for it.

    On a terminal, the bar is shown on stderr after a second. While programs are compiled, another
    bar, shown at once, counts them; in a notebook, a line of text does. The logger ``"cosmodag"``
    also reports their number, at level ``INFO``, at most every two seconds. Without `show`, only
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
        """Start measuring time and counting compiled programs."""
        self._begin = time.monotonic()
        self._listening.enter_context(listening(self._on_compile))

    def close(self) -> None:
        """Remove everything from the display."""
        self._listening.close()
        if self._bar is not None:
            self._bar.stop()
        if self._notebook_line is not None:
            self._notebook_line.update(_plain(""), raw=True)

    def begin(self, total: int, label: str | None = None) -> None:
        """Restart the bar for a number of units of work, with a new label or the present one."""
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
        """Display the number of compiled programs."""
        if self._on_terminal:
            if self._bar is None:
                self._open_bar()
            if self._compile_task is None:
                self._compile_task = self._bar.add_task(
                    "compiling (first run only)", total=None, note=""
                )
            self._bar.update(self._compile_task, note=f"{tally.done} done", visible=tally.is_busy)
        elif self._in_notebook:
            if self._notebook_line is None:
                self._notebook_line = notebook_line(_plain(str(tally)))
            self._notebook_line.update(_plain(str(tally) if tally.is_busy else ""), raw=True)
        if self._elapsed - self._last_log >= _LINE_EVERY:
            self._last_log = self._elapsed
            _LOG.info("%s", str(tally))

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
    """Whether this process runs the cells of a notebook; does not import IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def notebook_line(content: dict[str, str]) -> Any:
    """Show a line below a cell, and return a handle for updating it."""
    return import_module("IPython.display").display(content, raw=True, display_id=True)


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


# Seconds that the examinations of a graph may take even after a stop: enough for small tables.
_GRACE = 1.0


class Interrupt(Enum):
    """Stage of a run's response to Ctrl-C."""

    NONE = "no Ctrl-C since the run began"
    ASKED = "Ctrl-C was pressed, and the run has not noticed it yet"
    SEEN = "the run, or its caller, has noticed it and finishes with what was learnt so far"


# One value per process: only the main thread runs signal handlers.
_last = Interrupt.NONE
# Watches that the main thread has entered, the innermost last.
_entered: list["Watch"] = []


def interrupt_run() -> bool:
    """Stop the run of the main thread as Ctrl-C does; return whether there is such a run."""
    if _entered:
        _entered[-1]._on_interrupt(signal.SIGINT, None)
    return bool(_entered)


def note_interrupt() -> None:
    """Record that the main thread has caught an interrupt and goes on with what was computed."""
    global _last
    _last = Interrupt.SEEN


def last_interrupt() -> Interrupt:
    """Response to Ctrl-C of the latest run of the main thread, for use by other threads."""
    return _last


class Watch:
    """Context in which a fit runs.

    The first Ctrl-C sets :attr:`stop`, which the run reads about twice a second, so that it can
    finish with the graph learnt so far. A second Ctrl-C raises `KeyboardInterrupt` at once. On
    exit, the previous handler is restored and, after a Ctrl-C, called; Python's default handler
    raises `KeyboardInterrupt`. Outside the main thread, or if Ctrl-C is ignored, no handler is set.

    :attr:`stop` is also set after `max_time` seconds. The other parameters are those of
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
        if _last is Interrupt.ASKED:  # the run has ended without noticing it
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
        """Restart the bar for a number of units of work, with a new label or the present one."""
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
    """Watch of one of several tasks: it shows nothing, and stops when the common watch does."""

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
    """Rule for ending the examinations of a graph: after a stop, but not in their first second."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._begin = time.monotonic()
        self.unfinished: list[str] = []  # examinations that were ended early

    def of(self, examination: str) -> Callable[[], bool]:
        """Return the function by which the named examination checks whether it must end."""

        def is_over() -> bool:
            if self._watch.stop is None or time.monotonic() - self._begin < _GRACE:
                return False
            if examination not in self.unfinished:
                self.unfinished.append(examination)
            return True

        return is_over
