"""The outcome of one item: its result, or a failure with a status."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from cosmodag.errors import DivergenceError

__all__ = ["Done", "Failure", "attempt"]


class Failure(NamedTuple):
    """Why an item has no result: ``"timeout"``, ``"diverged"`` or ``"failed"``, and a sentence."""

    status: str
    message: str


class Done(NamedTuple):
    """The place of an item among those given, and its result or a `Failure`."""

    place: int
    result: Any


class _TimeIsUp(BaseException):
    """Raised by the alarm; handlers of ordinary errors do not catch it."""


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Context that raises `_TimeIsUp` after a number of seconds of wall time.

    The alarm takes effect between two Python operations, so a long call of compiled code ends
    first. Only the main thread has an alarm, and Windows has none: elsewhere there is no limit.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not is_main or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: object) -> NoReturn:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(function: Callable[[Any], Any], item: Any, timeout: float | None = None) -> Any:
    """Call a function on one item; an error becomes a `Failure`.

    Examples
    --------
    >>> attempt(lambda x: 1 / x, 0)
    Failure(status='failed', message='ZeroDivisionError: division by zero')
    """
    try:
        with _time_limit(timeout):
            return function(item)
    except _TimeIsUp:
        return Failure("timeout", f"It took longer than the limit of {timeout:g} s.")
    except DivergenceError as error:
        return Failure("diverged", str(error))
    except Exception as error:
        return Failure("failed", f"{type(error).__name__}: {error}")
