"""Compiled work on several threads: compiled code lets go of Python's lock."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["available_threads", "mapper"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads(threads: int | None = None) -> int:
    """Tell how many threads to use: what is asked for, or the cores this process may run on."""
    if threads is not None:
        return max(1, threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
