"""Lazy imports: JAX, and the public names of packages, are imported when they are first used.

Importing JAX and compiling its first program take about a second, and fits that only run compiled
CPU loops do not need it. Modules whose functions use JAX import ``jax`` and ``jnp`` from here; JAX
is imported when an attribute of one of them is first read. Annotations must be strings (``from
__future__ import annotations``).
"""

from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from cosmodag.runtime.compile_progress import begin_jax_program, end_jax_program
from cosmodag.runtime.random_state import preserve_random_state

__all__ = ["jax", "jitted", "jnp", "lax", "names_from"]

Function = TypeVar("Function", bound=Callable[..., Any])


class _LazyModule:
    """A module that is imported when an attribute of it is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(_module(self._name), name)


@cache
def _module(name: str) -> Any:
    with preserve_random_state():
        module = import_module(name)
        _count_programs()
        return module


@cache
def _count_programs() -> None:
    """Register the listeners that count the programs that JAX compiles."""
    monitoring = import_module("jax.monitoring")
    for listener in (begin_jax_program, end_jax_program):
        monitoring.register_event_duration_secs_listener(listener)


if TYPE_CHECKING:
    import jax as jax
    import jax.numpy as jnp
    from jax import lax as lax
else:
    jax, jnp, lax = _LazyModule("jax"), _LazyModule("jax.numpy"), _LazyModule("jax.lax")


def names_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package whose names are imported when first used.

    `homes` maps each name to its module, relative to ``cosmodag``; a module is mapped to itself.
    """

    def read(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"cosmodag.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    return read


def jitted(**options: Any) -> Callable[[Function], Function]:
    """Make a decorator that applies `jax.jit` with options when the function is first called.

    >>> @jitted(static_argnums=1)
    ... def scaled(x, factor):
    ...     return x * factor
    >>> float(scaled(2.0, 3))
    6.0
    """

    def decorate(function: Function) -> Function:
        return _Program(function, options)  # type: ignore[return-value]

    return decorate


class _Program:
    """A function that `jax.jit` compiles when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        wraps(function)(self)
        self._compiled = cache(lambda: jax.jit(function, **options))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled(), name)
