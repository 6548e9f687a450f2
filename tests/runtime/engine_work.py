"""Functions for engines to call, in a module of their own that other processes can import."""

import os
import signal
import time
from pathlib import Path

from cosmodag.errors import DivergenceError


def double(number: int) -> int:
    return 2 * number


def fail_for_some(number: int) -> int:
    """Return the number, but raise ValueError for 1 and DivergenceError for 2."""
    if number == 1:
        raise ValueError("one is not allowed")
    if number == 2:
        raise DivergenceError("Training diverged in round 7.")
    return number


def wait_for_file(work: tuple[int, str]) -> None:
    """Wait until a file exists, except for item 0."""
    number, file = work
    while number and not Path(file).exists():
        time.sleep(0.05)
    time.sleep(0.1)


def kill_process_once(work: tuple[int, str]) -> int:
    """Kill the calling process the first time it gets item 1; all other calls succeed."""
    number, folder = work
    mark = Path(folder) / f"{number}"
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def kill_process(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def environment_variable(name: str) -> str | None:
    return os.environ.get(name)


def slow(number: int) -> int:
    time.sleep(30)
    return number


class Unreadable:
    """A function that can be pickled but not unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_refuse, ())

    def __call__(self, number: int) -> int:
        return number


def _refuse() -> None:
    raise AttributeError("It is not there.")
