"""Decorators of functions that Numba compiles: their options, and machine code kept on disk."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba import njit
from numba.extending import typeof_impl

from cosmodag.runtime import compile_progress as progress
from cosmodag.runtime import program_cache

Function = TypeVar("Function", bound=Callable[..., Any])
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Sums may be reordered and divisions shared, so that loops vectorise; non-finite values keep their
# meaning, so that divergence is detected. Division by zero gives infinity, as in NumPy: a check for
# it would be an exit from the loop, and such loops do not vectorise.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}


class Compiled(Generic[Parameters, Result]):
    """A function that is compiled when it is first called, or read from disk if it was before.

    Compiled functions can call it, too. A program that cannot be read or written, for example after
    a crash or on a full disk, is compiled in memory; what is on disk is deleted.
    """

    def __init__(self, function: Callable[Parameters, Result]) -> None:
        update_wrapper(self, function)
        self._name = function.__qualname__
        self.part: Any = njit(**_OPTIONS)(function)
        self._function = function
        self._program: Any = None
        self._is_new = False
        self._lock = threading.Lock()

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Call the program for the types of the arguments, which are given by position."""
        if self._program is None:
            with self._lock:
                if self._program is None:
                    self._program, self._is_new = self._open()
        program = self._program
        with progress.compiling(self._name) if self._is_new else nullcontext():
            try:
                return cast(Result, program(*args))
            except Exception:  # a damaged file can raise anything
                if program is self.part or numba.config.DISABLE_JIT:
                    raise
                program_cache.delete(self.part)
                self._program = self.part
                # An error that has nothing to do with files is raised again here.
                return cast(Result, self.part(*args))
            finally:
                self._is_new = False

    def __reduce__(self) -> str:
        return self._name

    def _open(self) -> tuple[Any, bool]:
        """Return Numba's function that uses the disk, and whether nothing is there yet."""
        if numba.config.DISABLE_JIT:
            return partial(_interpret, self._function), False
        folder = program_cache.folder_of(self.part)
        if folder is None:
            return self.part, True
        is_new = not any(folder.rglob("*.nbc"))
        try:
            with program_cache.numba_folder(folder):
                return njit(cache=True, **_OPTIONS)(self._function), is_new
        except RuntimeError:  # no folder is writable, or the function has no file
            return self.part, True


def _interpret(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function that is not compiled; as in a compiled one, integers overflow silently."""
    with np.errstate(all="ignore"):
        return _plain(function(*args))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


@typeof_impl.register(Compiled)  # type: ignore[untyped-decorator]
def _type_of(function: Compiled[..., Any], context: Any) -> Any:
    """Let compiled functions call a `Compiled` function as they call its part."""
    return numba.typeof(function.part)


def compiled(function: Callable[Parameters, Result]) -> Compiled[Parameters, Result]:
    """Compile a function that Python calls; its program is kept on disk (`Compiled`).

    Array indices must not be negative: ``NUMBA_BOUNDSCHECK=1`` reveals those that are too large,
    and Numba counts negative ones from the end.
    """
    return Compiled(function)


def part(function: Function) -> Function:
    """Compile a function that only compiled functions call, with each of them."""
    return cast(Function, njit(**_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Inline a function into the compiled functions that call it."""
    return cast(Function, njit(inline="always", **_OPTIONS)(function))
