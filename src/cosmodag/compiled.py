"""Numba's decorators, with this package's options and with types."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and divisions shared, so that loops vectorise; values that are not finite
# keep their meaning, so that divergence is noticed. Division by zero gives infinity, as in NumPy:
# a check for it would be a way out of the loop, and such loops do not vectorise either.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and keep the result on disk."""
    return cast(Function, njit(cache=True, **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Compile a function into the compiled functions that call it."""
    return cast(Function, njit(inline="always", **_OPTIONS)(function))
