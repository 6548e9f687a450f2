"""What this process may use of the machine: cores, memory, threads of linear algebra."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads", "cores", "main_memory", "threads_worth"]

# Multiplications in a matrix product, about a millisecond's worth, below which a second thread
# gains little on an idle machine; on a busy one, threads that wait for each other were measured to
# make such a product a hundred times slower.
_WORTH_THREADS = 1e8

_CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Cores that this process may use, by affinity and by its container's quota."""
    from joblib import cpu_count

    return int(cpu_count())


def main_memory() -> int | None:
    """Bytes of main memory that can still be had; None where that cannot be told."""
    known = [size for size in (_machine_memory(), _container_memory()) if size is not None]
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


def _container_memory(root: Path = _CGROUP) -> int | None:
    """Limit of the process's control group less what is used, version 2 or 1."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            left = int((root / limit).read_text()) - int((root / used).read_text())
        except (OSError, ValueError):  # no such file, or no limit ("max")
            continue
        return max(0, left)
    return None


def threads_worth(multiplications: float, workers: int = 1) -> int:
    """Threads that a matrix product of so many multiplications is worth to each of some workers."""
    return max(1, cores() // workers) if multiplications > _WORTH_THREADS else 1


class _SharedLimit:
    """The limit on BLAS threads, which is the whole process's, shared by fits in several threads.

    The lowest limit asked for is in force while any fit runs; when the last one ends, what was
    found at the beginning is put back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[int] = []
        self._found: Any = None

    def _put_in_force(self) -> None:
        if self._asked:
            limiter = _controller().limit(limits=min(self._asked), user_api="blas")
            self._found = self._found or limiter
        elif self._found is not None:
            self._found.restore_original_limits()
            self._found = None

    def add(self, limit: int) -> None:
        with self._lock:
            self._asked.append(limit)
            self._put_in_force()

    def remove(self, limit: int) -> None:
        with self._lock:
            self._asked.remove(limit)
            self._put_in_force()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_LIMIT = _SharedLimit()


@contextmanager
def blas_threads(limit: int) -> Iterator[None]:
    """Context in which linear algebra uses at most so many threads."""
    _LIMIT.add(limit)
    try:
        yield
    finally:
        _LIMIT.remove(limit)
