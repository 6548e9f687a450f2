"""Progress of a run on a terminal: how many cells are done, how fast, and how long it will take."""

import sys
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """Context that shows a bar on stderr; silent where that is no terminal.

    Parameters
    ----------
    show
        Whether it may show one at all.
    """

    def __init__(self, show: bool = True) -> None:
        self._show = show and sys.stderr.isatty()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._begun: dict[str, int] = {}

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        if not self._show or not total:
            return
        if self._bar is None:
            self._open()
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total, completed=done, rate="")
            self._begun[stage] = done
        task = self._bar.tasks[self._tasks[stage]]
        fresh, seconds = done - self._begun[stage], task.elapsed or 0.0
        rate = f"{fresh / seconds:.3g} per s" if fresh > 0 and seconds > 0 else ""
        self._bar.update(self._tasks[stage], completed=done, total=total, rate=rate)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self._bar = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
