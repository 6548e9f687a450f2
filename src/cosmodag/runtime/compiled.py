"""Numba's decorators with the options of this package, type hints, and a disk cache."""

import gc
import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

from numba import njit, version_info
from numba.core import event
from numba.core.dispatcher import Dispatcher

from cosmodag.runtime import compile_progress as progress
from cosmodag.runtime.program_cache import TESTED_VERSION, ProgramCache

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and divisions shared, so that loops vectorise; non-finite values keep their
# meaning, so that divergence is detected. Division by zero gives infinity, as in NumPy: a check for
# it would be an exit from the loop, and such loops do not vectorise.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and cache the program on disk.

    The program is reused while the file of the function and the files of its helpers and constants
    are unchanged (`cosmodag.runtime.program_cache`).
    """
    return _cached(function, {**_OPTIONS, **_compiler("CountingCompiler")})


def borrowing(function: Function) -> Function:
    """Compile a function that allocates no arrays, without reference counting.

    Reference counts are atomic and cost more than the work of small functions, especially if
    several threads share arrays; without them, a function also compiles in a third of the time. It
    must consist of plain loops, and array indices must not be negative
    (`cosmodag.runtime.compilers`). The program is cached as by `compiled`.
    """
    return _cached(function, {**_OPTIONS, "_nrt": False, **_compiler("QuickCompiler")})


def part(function: Function) -> Function:
    """Compile a function as `borrowing` does, to be called by compiled functions only.

    It has no machine code of its own and no entry point for Python, which would double its
    compilation time.
    """
    return _cached(function, {**_OPTIONS, "_nrt": False, **_compiler("PartCompiler")})


def _compiler(name: str) -> dict[str, Any]:
    """Option that selects one of `cosmodag.runtime.compilers`, by name.

    They use Numba's internals, so with an untested version of Numba its own compiler is used.
    """
    if version_info.short != TESTED_VERSION:
        return {}
    return {"pipeline_class": getattr(import_module("cosmodag.runtime.compilers"), name)}


def inlined(function: Function) -> Function:
    """Inline a function into the compiled functions that call it."""
    return cast(Function, njit(inline="always", **_OPTIONS)(function))


def _cached(function: Function, options: dict[str, Any]) -> Function:
    dispatcher = njit(**options)(function)
    dispatcher._cache = ProgramCache(function)
    return cast(Function, dispatcher)


class _Listener(event.Listener):  # type: ignore[misc]
    """Reports the functions that Numba compiles, and pauses the garbage collector meanwhile.

    A compilation creates hundreds of thousands of objects, none of them garbage. Visiting them
    again and again took the collector a tenth of the compilation time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._is_collecting = False

    def on_start(self, happened: Any) -> None:
        dispatcher = happened.data["dispatcher"]
        if isinstance(getattr(dispatcher, "_cache", None), ProgramCache):
            if not self._depth:
                self._is_collecting = gc.isenabled()
                gc.disable()
            self._depth += 1
            progress.begin(_name(dispatcher), programs_of(dispatcher))

    def on_end(self, happened: Any) -> None:
        dispatcher = happened.data["dispatcher"]
        if isinstance(getattr(dispatcher, "_cache", None), ProgramCache):
            self._depth -= 1
            if not self._depth and self._is_collecting:
                gc.enable()
            progress.end(_name(dispatcher), programs_of(dispatcher))


def _name(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"


@cache
def programs_of(dispatcher: Any) -> set[str]:
    """Names of a compiled function and of those that it needs, directly or indirectly."""
    found, waiting, seen = set(), [dispatcher], {id(dispatcher)}
    while waiting:
        current = waiting.pop()
        if isinstance(current._cache, ProgramCache):
            found.add(_name(current))
        function = current.py_func
        names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for name in function.__code__.co_names + function.__code__.co_freevars:
            other = names.get(name)
            if isinstance(other, Dispatcher) and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
    return found


event.register("numba:compile", _Listener())
