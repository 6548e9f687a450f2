"""Count of compiled programs, for a progress bar.

A program is compiled when it is first needed, and read from disk afterwards. Numba reports the
beginning and the end of each compilation, and the code of a function tells which other functions
must be compiled. JAX reports one program at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Number of programs that have been compiled, and number known to be needed.

    >>> tally = Tally()
    >>> tally.begin("train", {"train", "shuffle"})
    >>> tally.begin("shuffle", {"shuffle"})
    >>> tally.end("shuffle", {"shuffle"})
    >>> str(tally)
    'compiling (first run only): 1 of 2'
    >>> tally.end("train", {"train", "shuffle"})
    >>> tally.is_busy
    False
    """

    finished: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)

    def begin(self, name: str, needs: set[str]) -> None:
        """Record that the compilation of a program begins, and the programs that it needs."""
        self.open.append(name)
        self.needed |= {name} | needs

    def end(self, name: str, needs: set[str]) -> None:
        """Record that the compilation of a program has ended.

        If no other compilation is open, all programs that it needs count as finished: those that
        were not compiled were read from disk, or are in branches that the argument types rule out.
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
        return f"compiling (first run only): {self.done} of {self.total}"


_LISTENERS: list[tuple[Tally, Callable[[Tally], None]]] = []


@contextmanager
def listening(report: Callable[[Tally], None]) -> Iterator[None]:
    """Context in which `report` is called whenever a compilation begins or ends."""
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
_jax_programs: list[str] = []


def begin_jax_program(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event that precedes the compilation of a program."""
    if event == _LOWERED:
        _jax_programs.append(f"JAX program {len(_jax_programs)}")
        begin(_jax_programs[-1], set())


def end_jax_program(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event after a program has been compiled or read from disk."""
    if event == _COMPILED and _jax_programs:
        end(_jax_programs[-1], set())
