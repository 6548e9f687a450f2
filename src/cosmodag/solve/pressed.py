"""Hearing of Ctrl-C while the main thread is in compiled code."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["told_when_pressed"]


@contextmanager
def told_when_pressed(tell: Callable[[], None]) -> Iterator[None]:
    """Context in which another thread calls ``tell`` as soon as Ctrl-C is pressed.

    Python runs handlers of signals when the main thread is back in Python, which a long call of
    compiled code puts off; the system writes to a pipe at once. For the main thread alone, and only
    where nobody else, such as the command line, has such a pipe.
    """
    taken = signal.set_wakeup_fd(-1)
    if taken != -1:
        signal.set_wakeup_fd(taken)
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(reading, tell), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        os.close(writing)  # which ends the thread
        listener.join()
        os.close(reading)


def _listen(reading: int, tell: Callable[[], None]) -> None:
    while numbers := os.read(reading, 64):
        if signal.SIGINT in numbers:
            tell()
