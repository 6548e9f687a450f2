"""Control of a running fit: a progress bar, a time limit, and Ctrl-C."""

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any

from cosmodag.compilation.progress import Tally, listening
from cosmodag.random_state import preserve_random_state

__all__ = ["Interrupt", "QuietWatch", "Watch", "interrupt_run", "last_interrupt"]

# A bar is not useful for a fit that ends within a second.
_BAR_AFTER = 1.0

# Seconds between two lines in a log.
_LINE_EVERY = 2.0

_LOG = logging.getLogger("cosmodag")


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

    The progress bar is on stderr, appears after a second, and only on a terminal. While programs
    are compiled, a bar counts them at once, in a notebook a line; and the logger ``"cosmodag"``
    has a line of level ``INFO`` every two seconds, wherever the run is.

    Parameters
    ----------
    total : int
        Units of work, such as rounds of all problems together.
    label : str
        Name of the work, shown beside the bar.
    max_time : float, optional
        Seconds after which the run should stop.
    show : bool
        Whether a bar may be shown.
    """

    def __init__(
        self, total: int, label: str, max_time: float | None = None, show: bool = True
    ) -> None:
        self._total = total
        self._label = label
        self._max_time = max_time
        self._show = show and sys.stderr.isatty()
        self._show_here = show and not self._show and in_notebook()
        self._interrupted = False
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._compile_task: Any = None
        self._notebook: Any = None
        self._told = ExitStack()
        self._last_line = 0.0
        self._previous: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> "Watch":
        global _last
        self._begin = time.monotonic()
        self._told.enter_context(listening(self._on_compile))
        if threading.current_thread() is threading.main_thread():
            _entered.append(self)
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                _last = Interrupt.NONE
                signal.signal(signal.SIGINT, self._on_interrupt)
                self._previous = previous
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _last
        self._told.close()
        if self in _entered:
            _entered.remove(self)
        if self._bar is not None:
            self._bar.stop()
        if self._notebook is not None:
            self._notebook.update(_plain(""), raw=True)
        if self._previous is None:
            return
        signal.signal(signal.SIGINT, self._previous)
        if _last is Interrupt.ASKED:  # no run is left that could notice
            _last = Interrupt.NONE
        if self._interrupted and not isinstance(error, KeyboardInterrupt):
            self._previous(signal.SIGINT, None)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._begin

    @property
    def stop(self) -> str | None:
        """Why the run should stop now (``"interrupt"`` or ``"time"``), or None."""
        global _last
        if self._interrupted:
            _last = Interrupt.SEEN
            return "interrupt"
        if self._max_time is not None and self.elapsed >= self._max_time:
            return "time"
        return None

    def begin(self, total: int, label: str | None = None) -> None:
        """Set the remaining units of work and their label; the bar restarts."""
        self._total, self._done, self._label = total, 0, label or self._label
        if self._bar is not None:
            self._bar.reset(self._task, total=total, description=self._label, note="")

    def advance(self, done: int, note: str = "") -> None:
        """Count `done` more units of work as done."""
        self._done += done
        if not self._show or self.elapsed < _BAR_AFTER:
            return
        if self._bar is None:
            self._open_bar()
        self._bar.update(self._task, completed=self._done, note=note, visible=True)

    def _on_compile(self, tally: Tally) -> None:
        """Tell of programs that are compiled, at once on a terminal and in a notebook."""
        if self._show:
            if self._bar is None:
                self._open_bar(visible=False)
            if self._compile_task is None:
                self._compile_task = self._bar.add_task("compiling, once", note="")
            self._bar.update(
                self._compile_task,
                completed=tally.done,
                total=tally.total,
                note=f"{tally.done} of {tally.total}",
                visible=tally.is_busy,
            )
        elif self._show_here:
            if self._notebook is None:
                self._notebook = shown_here(_plain(str(tally)))
            self._notebook.update(_plain(str(tally) if tally.is_busy else ""), raw=True)
        if self.elapsed - self._last_line >= _LINE_EVERY:
            self._last_line = self.elapsed
            _LOG.info("%s", tally)

    def _open_bar(self, visible: bool = True) -> None:
        with preserve_random_state():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                Progress,
                TaskProgressColumn,
                TextColumn,
                TimeRemainingColumn,
            )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=self._total, note="", visible=visible)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        global _last
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        _last = Interrupt.ASKED


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def shown_here(content: dict[str, str]) -> Any:
    """Show a line below a cell, and return the handle that changes it."""
    return import_module("IPython.display").display(content, raw=True, display_id=True)


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


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
