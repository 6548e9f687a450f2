"""Lines about compilation, for commands whose stderr is a file or a pipe.

It is the one kind of progress that is written there: a first fit compiles for many seconds.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cosmodag.cli.terminal.output import say
from cosmodag.compilation.progress import Tally, listening

__all__ = ["compile_lines"]

# Seconds of compilation before a line, and between two looks.
_EVERY = 2.0
_LOOK = 0.25


@contextmanager
def compile_lines() -> Iterator[None]:
    """Context of a command: a line after every two seconds of compilation.

    On a terminal and in a notebook the bar of the fit shows it.
    """
    if sys.stderr.isatty() or "IPython" in sys.modules:
        yield
        return
    over = threading.Event()
    threads: list[threading.Thread] = []

    def begin(tally: Tally) -> None:
        if not threads:
            threads.append(threading.Thread(target=_write, args=(tally, over), daemon=True))
            threads[0].start()

    try:
        with listening(begin):
            yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _write(tally: Tally, over: threading.Event) -> None:
    seconds = 0.0
    while not over.wait(_LOOK):
        seconds += _LOOK * tally.is_busy
        if seconds >= _EVERY:
            say(f"{tally} programs")
            seconds = 0.0
