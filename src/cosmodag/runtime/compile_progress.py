"""Count of the programs that are compiled, for a progress bar.

A program is compiled when it is first needed, together with the functions that it calls, and read
from disk afterwards. It is reported from the call that compiles it to the end of that call.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Programs that are being compiled, and the number that has been compiled.

    >>> tally = Tally()
    >>> tally.begin("train")
    >>> tally.is_busy
    True
    >>> tally.end("train")
    >>> str(tally)
    'compiling (first run only): 1 done'
    """

    done: int = 0
    open: list[str] = field(default_factory=list)

    def begin(self, name: str) -> None:
        """Record that the compilation of a program begins."""
        self.open.append(name)

    def end(self, name: str) -> None:
        """Record that the compilation of a program has ended."""
        if name in self.open:
            self.open.remove(name)
        self.done += name not in self.open

    @property
    def is_busy(self) -> bool:
        """Whether a program is being compiled now."""
        return bool(self.open)

    def __str__(self) -> str:
        return f"compiling (first run only): {self.done} done"


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


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Context in which a program is compiled; several threads may wait for the same one."""
    _begin(name)
    try:
        yield
    finally:
        _end(name)


def _begin(name: str) -> None:
    for tally, report in list(_LISTENERS):
        tally.begin(name)
        report(tally)


def _end(name: str) -> None:
    for tally, report in list(_LISTENERS):
        tally.end(name)
        report(tally)


_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"
_jax_programs: list[str] = []


def begin_jax_program(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event that precedes the compilation of a program."""
    if event == _LOWERED:
        _jax_programs.append(f"JAX program {len(_jax_programs)}")
        _begin(_jax_programs[-1])


def end_jax_program(event: str, seconds: float, **facts: Any) -> None:
    """Handle JAX's event after a program has been compiled or read from disk."""
    if event == _COMPILED and _jax_programs:
        _end(_jax_programs[-1])
