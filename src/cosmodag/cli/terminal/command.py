"""The running command line, which is recorded with its results."""

import shlex
import sys
from collections.abc import Sequence
from contextvars import ContextVar

__all__ = ["command_line", "remember_command"]

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def remember_command(arguments: Sequence[str] | None) -> None:
    """Store the arguments after the program's name; None takes them from ``sys.argv``."""
    _ARGUMENTS.set(tuple(sys.argv[1:] if arguments is None else arguments))


def command_line() -> str:
    """Return the command, quoted so that it can be run again.

    Examples
    --------
    >>> remember_command(["fit", "my table.csv"])
    >>> command_line()
    "cosmodag fit 'my table.csv'"
    """
    return shlex.join(("cosmodag", *_ARGUMENTS.get()))
