"""Display of a running fit: a bar on a terminal, a line in a notebook, lines in a log."""

import logging
import sys
import time
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from cosmodag.compilation.progress import Tally, listening
from cosmodag.random_state import preserve_random_state

__all__ = ["ProgressBar"]

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
