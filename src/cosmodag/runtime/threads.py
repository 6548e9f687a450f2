"""Number of cores, thread pools for compiled code, and thread limits for linear algebra.

Compiled code releases Python's global lock, so that threads run in parallel. The pools are those of
the standard library: joblib's threading backend consumes the iterator of items on other threads
than the caller's, but here the next item may be a piece of training.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Number of multiplications in a matrix product (about a millisecond) below which a second thread
# gains little on an idle machine; on a busy one, threads that wait for each other were measured to
# make such a product a hundred times slower.
_WORTH_THREADS = 1e8


@cache
def cores() -> int:
    """Count the cores that affinity, container and ``LOKY_MAX_CPU_COUNT`` leave this process."""
    from joblib import cpu_count

    return int(cpu_count())


def available_threads(threads: int | None = None) -> int:
    """Return the requested number of threads; by default, the number of usable cores."""
    return cores() if threads is None else max(1, threads)


@contextmanager
def mapper(
    threads: int,
) -> Iterator[Callable[[Callable[[Item], Result], Iterable[Item]], list[Result]]]:
    """Context that yields a parallel ``map``, which returns the results in the order of items."""
    if threads == 1:
        yield lambda function, items: [function(item) for item in items]
        return
    with ThreadPoolExecutor(threads) as pool:
        yield lambda function, items: list(pool.map(function, items))


def as_completed(tasks: Iterable[Callable[[], Result]], threads: int) -> Iterator[Result]:
    """Yield results of tasks as they complete; only a few tasks are requested in advance.

    With one thread, tasks run in the thread of the caller.

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
            yield from (future.result() for future in futures.as_completed(pending))
        finally:
            for future in pending:  # the caller, or an error in a task, ended the iteration early
                future.cancel()


def threads_worth(multiplications: float, workers: int = 1) -> int:
    """Return the number of BLAS threads per worker for a matrix product of this size."""
    return max(1, cores() // workers) if multiplications > _WORTH_THREADS else 1


@cache
def _blas() -> list[Any]:
    """Linear algebra libraries in this process, as threadpoolctl objects."""
    import scipy.linalg  # noqa: F401  (loads the library that Numba calls)

    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library for library in libraries if library.num_threads is not None]


def _limits_one_thread(library: Any) -> bool:
    """Whether a limit applies only to the thread that sets it, not to the whole process."""
    by_openmp = getattr(library, "threading_layer", None) == "openmp"
    return by_openmp or library.internal_api == "mkl"


class _SharedLimit:
    """Process-wide thread limit of libraries, shared by fits in different threads.

    The lowest requested limit applies as long as any fit runs; when the last fit ends, in whichever
    thread, the original limits are restored.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested: list[int] = []
        self._original: list[tuple[Any, int]] = []
        self._in_force: int | None = None

    def add(self, limit: int) -> None:
        with self._lock:
            if not self._requested:
                shared = [library for library in _blas() if not _limits_one_thread(library)]
                self._original = [(library, library.num_threads) for library in shared]
            self._requested.append(limit)
            self._apply_lowest()

    def remove(self, limit: int) -> None:
        with self._lock:
            self._requested.remove(limit)
            self._apply_lowest()

    def _apply_lowest(self) -> None:
        lowest = min(self._requested, default=None)
        if lowest == self._in_force:
            return
        for library, original in self._original:
            _set_from_any_thread(library, original if lowest is None else min(original, lowest))
        self._in_force = lowest


def _set_from_any_thread(library: Any, threads: int) -> None:
    """Set the process-wide thread limit of a library.

    Since version 3.7, threadpoolctl lets only the first thread that sets a limit change it, and
    silently ignores other threads. Here a lock serialises the threads, so this check is reset.
    """
    release = getattr(library, "clear_controlling_thread", lambda *, force: None)
    release(force=True)
    library.set_num_threads(threads)
    release(force=True)


_LIMIT = _SharedLimit()


# For each thread, the limits of the contexts that it has entered.
_ENTERED = threading.local()


@contextmanager
def blas_threads(limit: int) -> Iterator[None]:
    """Context in which linear algebra uses at most `limit` threads, and no more than before.

    Inside a context of the same thread with the same or a lower limit, nothing is set, so that a
    fit sets the limit only once.
    """
    entered = vars(_ENTERED).setdefault("limits", [])
    if min(entered, default=limit + 1) <= limit:
        yield
        return
    own = [(library, library.num_threads) for library in _blas() if _limits_one_thread(library)]
    for library, original in own:
        library.set_num_threads(min(original, limit))
    _LIMIT.add(limit)
    entered.append(limit)
    try:
        yield
    finally:
        entered.remove(limit)
        _LIMIT.remove(limit)
        for library, original in own:
            library.set_num_threads(original)
