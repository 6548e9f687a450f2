"""Work on several threads, for compiled code, which releases Python's lock.

The pools are those of Python's standard library: joblib's threading backend consumes the iterator
of items on other threads than the caller's, and here the next item may be a piece of training.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from cosmodag.solve.machine import cores

__all__ = ["as_completed", "available_threads", "mapper"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads(threads: int | None = None) -> int:
    """Return the requested number of threads, or one per core that this process may use."""
    return cores() if threads is None else max(1, threads)


@contextmanager
def mapper(
    threads: int,
) -> Iterator[Callable[[Callable[[Item], Result], Iterable[Item]], list[Result]]]:
    """Context that yields a function like ``map`` that uses several threads and keeps the order."""
    if threads == 1:
        yield lambda function, items: [function(item) for item in items]
        return
    with ThreadPoolExecutor(threads) as pool:
        yield lambda function, items: list(pool.map(function, items))


def as_completed(tasks: Iterable[Callable[[], Result]], threads: int) -> Iterator[Result]:
    """Yield results of tasks as they complete; only a few tasks are requested in advance.

    With one thread, tasks run in the caller's.

    Examples
    --------
    >>> sorted(as_completed([lambda: 1, lambda: 2], threads=2))
    [1, 2]
    """
    if threads == 1:
        yield from (task() for task in tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: set[Future[Result]] = set()
        try:
            for task in tasks:
                pending.add(pool.submit(task))
                if len(pending) > 2 * threads:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in pending:  # the caller, or an error in a task, ended the iteration early
                future.cancel()
