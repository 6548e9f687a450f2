"""Watching over a run: progress on a terminal, a limit on time, and Ctrl-C."""

import signal
import sys
import threading
import time
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

from cosmodag.solve.pressed import told_when_pressed
from cosmodag.undisturbed import undisturbed

__all__ = ["Watch", "is_heeded"]

# Nobody needs a bar for what is over before it can be read.
_PATIENCE = 1.0

# Who pressed a key wants an answer within two seconds; a look usually comes within half of one.
_ANSWER = 1.2

# A callback from C swallows what is raised in it, so that an interrupt may have to be repeated.
_REPEAT = 0.2

# Whether the run that was interrupted last has looked; there is one main thread, and one such run.
_heeded = threading.Event()


def is_heeded() -> bool:
    """Whether the last Ctrl-C in a run was heeded: what it had is being finished, or is."""
    return _heeded.is_set()


class Watch:
    """Context in which a fit runs.

    Inside it the first Ctrl-C asks the run to stop at its next look and a second one interrupts
    at once. Where no look comes soon, because something is being compiled say, the first one
    interrupts too. Where even that has to wait for a call under way, or the run is finishing what
    it has and that takes longer, it says so: within two seconds there is an end or a word.
    A process that was told to ignore Ctrl-C goes on ignoring it.

    The progress bar is on stderr, appears after a second, and only on a terminal.

    Parameters
    ----------
    total : int
        What is to come: rounds of all problems together, say.
    label : str
        What is being done.
    max_time : float, optional
        Seconds after which the run is asked to stop.
    show : bool
        Whether a bar may be shown.
    """

    def __init__(
        self, total: int, label: str, max_time: float | None = None, show: bool = True
    ) -> None:
        self._total = total
        self._label = label
        self._max_time = max_time
        self._speak = show
        self._show = show and sys.stderr.isatty()
        self._interrupted = self._over = self._reminded = False
        self._reminder: threading.Timer | None = None
        self._pressed = float("inf")
        self._listening = ExitStack()
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._previous: Any = None

    def __enter__(self) -> "Watch":
        self._begin = time.monotonic()
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and callable(signal.getsignal(signal.SIGINT)):
            _heeded.clear()
            self._previous = signal.signal(signal.SIGINT, self._on_interrupt)
            if sys.platform != "win32":  # where only sockets can be woken by
                self._listening.enter_context(told_when_pressed(self._begin_reminding))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over = True
        self._listening.close()
        if self._reminder is not None:
            self._reminder.cancel()
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if self._bar is not None:
            self._bar.stop()

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._begin

    @property
    def stop(self) -> str | None:
        """Why the run should stop now (``"interrupt"`` or ``"time"``), or None."""
        if self._interrupted:
            _heeded.set()
            return "interrupt"
        if self._max_time is not None and self.elapsed >= self._max_time:
            return "time"
        return None

    def begin(self, total: int, label: str | None = None) -> None:
        """Say how much is to come, under which name; a bar starts anew."""
        self._total, self._done, self._label = total, 0, label or self._label
        if self._bar is not None:
            self._bar.reset(self._task, total=total, description=self._label, note="")

    def advance(self, done: int, note: str = "") -> None:
        """Say that so much more is done."""
        self._done += done
        if not self._show or self.elapsed < _PATIENCE:
            return
        if self._bar is None:
            self._open_bar()
        self._bar.update(self._task, completed=self._done, note=note)

    def _open_bar(self) -> None:
        with undisturbed():
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
        self._task = self._bar.add_task(self._label, total=self._total, note="")

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            if self._over:  # the reminder's own signal, which came too late to matter
                return
            raise KeyboardInterrupt
        self._interrupted, self._pressed = True, time.monotonic()
        _heeded.clear()
        self._begin_reminding()

    def _begin_reminding(self) -> None:
        """See to an answer in time; called when the key is pressed, and when Python hears of it."""
        if self._reminder is None:
            self._remind_in(_ANSWER)

    def _remind_in(self, seconds: float) -> None:
        self._reminder = threading.Timer(seconds, self._remind)
        self._reminder.daemon = True
        self._reminder.start()

    def _remind(self) -> None:
        """Answer in the run's place: end it where it does not look, and say what it is doing."""
        if self._over:
            return
        if _heeded.is_set():
            self._say("finishing with what was learnt so far; press it again to end at once.")
            return
        is_overdue = time.monotonic() - self._pressed >= _ANSWER
        if is_overdue and not self._reminded:
            self._reminded = True
        else:  # Python has not heard of the key, or what it was told to do must wait
            self._say("ending as soon as the step under way is over.")
        if is_overdue:
            _press_again()
        self._remind_in(_REPEAT)

    def _say(self, what: str) -> None:
        """Say something once."""
        if self._speak:
            print(f"Ctrl-C: {what}", file=sys.stderr, flush=True)
        self._speak = False


def _press_again() -> None:
    """Send the main thread a signal of its own, which also ends its waiting for other threads."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
