"""Cores, memory and BLAS threads that this process may use."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from cosmodag.solve.container import memory_left

__all__ = ["blas_threads", "cores", "main_memory", "threads_worth"]

# Multiplications in a matrix product (about a millisecond) below which a second thread gains little
# on an idle machine; on a busy one, threads that wait for each other were measured to make such a
# product a hundred times slower.
_WORTH_THREADS = 1e8


@cache
def cores() -> int:
    """Cores that this process may use, by affinity, container and ``LOKY_MAX_CPU_COUNT``."""
    from joblib import cpu_count

    return int(cpu_count())


def main_memory() -> int | None:
    """Bytes of available main memory; None if the system does not report it."""
    known = [size for size in (_machine_memory(), memory_left()) if size is not None]
    return min(known) if known else None


def _machine_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def threads_worth(multiplications: float, workers: int = 1) -> int:
    """BLAS threads per worker for a matrix product of this size."""
    return max(1, cores() // workers) if multiplications > _WORTH_THREADS else 1


@cache
def _blas() -> list[Any]:
    """Linear algebra libraries in this process, as threadpoolctl objects."""
    import scipy.linalg  # noqa: F401  (loads the one that Numba calls)

    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library for library in libraries if library.num_threads is not None]


def _limits_one_thread(library: Any) -> bool:
    """Whether a limit applies only to the thread that sets it, not to the whole process."""
    by_openmp = getattr(library, "threading_layer", None) == "openmp"
    return by_openmp or library.internal_api == "mkl"


class _SharedLimit:
    """The process-wide thread limit of some libraries, shared by fits in different threads.

    The lowest requested limit applies while any fit runs; when the last fit ends, in whichever
    thread, the original limit is restored.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[int] = []
        self._found: list[tuple[Any, int]] = []
        self._in_force: int | None = None

    def add(self, limit: int) -> None:
        with self._lock:
            if not self._asked:
                shared = [library for library in _blas() if not _limits_one_thread(library)]
                self._found = [(library, library.num_threads) for library in shared]
            self._asked.append(limit)
            self._put_in_force()

    def remove(self, limit: int) -> None:
        with self._lock:
            self._asked.remove(limit)
            self._put_in_force()

    def _put_in_force(self) -> None:
        lowest = min(self._asked, default=None)
        if lowest == self._in_force:
            return
        for library, found in self._found:
            _set_from_any_thread(library, found if lowest is None else min(found, lowest))
        self._in_force = lowest


def _set_from_any_thread(library: Any, threads: int) -> None:
    """Set a limit of the whole process.

    Since 3.7, threadpoolctl lets only the first thread that sets a limit change it, and silently
    ignores other threads. A lock serialises the threads here, so the check is reset each time.
    """
    release = getattr(library, "clear_controlling_thread", lambda *, force: None)
    release(force=True)
    library.set_num_threads(threads)
    release(force=True)


_LIMIT = _SharedLimit()


@contextmanager
def blas_threads(limit: int) -> Iterator[None]:
    """Context in which linear algebra uses at most `limit` threads, and no more than before."""
    own = [(library, library.num_threads) for library in _blas() if _limits_one_thread(library)]
    for library, found in own:
        library.set_num_threads(min(found, limit))
    _LIMIT.add(limit)
    try:
        yield
    finally:
        _LIMIT.remove(limit)
        for library, found in own:
            library.set_num_threads(found)
