"""Compiled work on several threads: compiled code lets go of Python's lock."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from cosmodag.solve.machine import cores

__all__ = ["available_threads", "mapper"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads(threads: int | None = None) -> int:
    """Tell how many threads to use: what is asked for, or one per core this process may use."""
    return cores() if threads is None else max(1, threads)


@contextmanager
def mapper(
    threads: int,
) -> Iterator[Callable[[Callable[[Item], Result], Iterable[Item]], list[Result]]]:
    """Give a function like ``map`` that works on several threads and keeps the order of items."""
    if threads == 1:
        yield lambda function, items: [function(item) for item in items]
        return
    with ThreadPoolExecutor(threads) as pool:
        yield lambda function, items: list(pool.map(function, items))
