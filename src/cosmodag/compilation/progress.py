"""Count of compiled programs, for a progress bar.

A program is compiled when it is first needed, and read from disk afterwards. Numba reports the
beginning and the end of each compilation, and the code of a function names the functions that it
needs. JAX reports one program at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """How many programs have been compiled, and how many are known to be needed.

    >>> tally = Tally()
    >>> tally.begin("train", {"train", "shuffle"})
    >>> tally.begin("shuffle", {"shuffle"})
    >>> tally.end("shuffle", {"shuffle"})
    >>> str(tally)
    'compiling, once: 1 of 2'
    >>> tally.end("train", {"train", "shuffle"})
    >>> tally.is_busy
    False
    """

    finished: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)

    def begin(self, name: str, needs: set[str]) -> None:
        """Count a program whose compilation begins, and the programs that it needs."""
        self.open.append(name)
        self.needed |= {name} | needs

    def end(self, name: str, needs: set[str]) -> None:
        """Count a program whose compilation has ended, and those that it needs as read or left out.

        A branch that the types of the arguments rule out is not compiled.
        """
        if name in self.open:
            self.open.remove(name)
        self.finished |= {name} if self.open else {name} | needs

    @property
    def is_busy(self) -> bool:
        """Whether a program is being compiled now."""
        return bool(self.open)

    @property
    def done(self) -> int:
        """Number of programs that have been compiled."""
        return len(self.finished)

    @property
    def total(self) -> int:
        """Number of programs that are known to be needed."""
        return len(self.needed)

    def __str__(self) -> str:
        return f"compiling, once: {self.done} of {self.total}"


_LISTENERS: list[tuple[Tally, Callable[[Tally], None]]] = []


@contextmanager
def listening(report: Callable[[Tally], None]) -> Iterator[None]:
    """Context in which a function is called when a compilation begins or ends."""
    entry = (Tally(), report)
    _LISTENERS.append(entry)
    try:
        yield
    finally:
        _LISTENERS.remove(entry)


def begin(name: str, needs: set[str]) -> None:
    """Report that the compilation of a program begins."""
    for tally, report in list(_LISTENERS):
        tally.begin(name, needs)
        report(tally)


def end(name: str, needs: set[str]) -> None:
    """Report that the compilation of a program has ended."""
    for tally, report in list(_LISTENERS):
        tally.end(name, needs)
        report(tally)


_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"
_one: list[str] = []


def begin_one(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event that precedes the compilation of a program."""
    if event == _LOWERED:
        _one.append(f"JAX program {len(_one)}")
        begin(_one[-1], set())


def end_one(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event that follows the compilation of a program, or its reading from disk."""
    if event == _COMPILED and _one:
        end(_one[-1], set())
