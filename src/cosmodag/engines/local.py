"""Several local processes by joblib's loky; no item is lost if a process dies.

joblib's `Parallel` is not suitable: it ends the whole run if one worker dies.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from queue import SimpleQueue
from typing import Any

from cosmodag.engines.outcomes import Done, Failure, attempt

__all__ = ["in_processes"]

# Environment variables that limit the threads of each library.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def in_processes(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    timeout: float | None,
    retries: int,
    variables: dict[str, str],
    jobs: int,
    threads: int | None,
) -> Iterator[Done]:
    """Call a function on items in several processes; results come as they are ready.

    It is unknown which item killed a process: all items in progress are retried one at a time, and
    an item that kills its process each time is a failure.
    """
    pool = _Pool(function, timeout, variables, jobs, threads)
    waiting = enumerate(items)
    suspects: deque[tuple[int, Any]] = deque()
    try:
        while True:
            for place, item in islice(waiting, 2 * jobs - len(pool.pending)):
                pool.submit(place, item)
            if not pool.pending:
                return
            (place, item), outcome = pool.next()
            if not isinstance(outcome, BrokenProcessPool):
                yield Done(place, outcome)
                continue
            suspects.extend([(place, item), *pool.restart()])
            while suspects:
                yield _alone(pool, *suspects.popleft(), retries)
    finally:
        pool.close()


def _alone(pool: "_Pool", place: int, item: Any, retries: int) -> Done:
    """Retry one item alone, so that a death of its process is due to this item."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    for _ in range(max(1, retries)):
        pool.submit(place, item)
        _, outcome = pool.next()
        if not isinstance(outcome, BrokenProcessPool):
            return Done(place, outcome)
        pool.restart()
    is_death = isinstance(outcome, TerminatedWorkerError)
    death = "Its process died at every attempt, perhaps for lack of memory."
    return Done(place, Failure("failed", death if is_death else str(outcome)))


class _Pool:
    """Processes that call one function, and the items in progress."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        timeout: float | None,
        variables: dict[str, str],
        jobs: int,
        threads: int | None,
    ) -> None:
        from joblib import cpu_count

        self._function, self._timeout, self._jobs = function, timeout, jobs
        limit = str(threads or max(1, cpu_count() // jobs))
        self._variables = {**dict.fromkeys(_THREAD_VARIABLES, limit), **variables}
        self.pending: dict[Future[Any], tuple[int, Any]] = {}
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        # Unlike a wait for futures, a wait for a simple queue can be interrupted at any time.
        self._ready: SimpleQueue[Future[Any]] = SimpleQueue()
        self._executor = ProcessPoolExecutor(self._jobs, timeout=None, env=self._variables)

    def close(self) -> None:
        """Kill all processes."""
        self._executor.shutdown(wait=True, kill_workers=True)

    def restart(self) -> list[tuple[int, Any]]:
        """Start new processes, and return the unfinished items of the old ones."""
        lost = list(self.pending.values())
        self.pending.clear()
        self.close()
        self._start()
        return lost

    def submit(self, place: int, item: Any) -> None:
        """Submit an item to the processes."""
        future: Future[Any] = Future()
        try:
            future = self._executor.submit(attempt, self._function, item, self._timeout)
        except BrokenProcessPool as error:  # a process died a moment ago
            future.set_exception(error)
        self.pending[future] = (place, item)
        future.add_done_callback(self._ready.put)

    def next(self) -> tuple[tuple[int, Any], Any]:
        """Wait for one item, and return it with its outcome, or the error of a pool that died."""
        future = self._ready.get()
        try:
            outcome = future.result()
        except BrokenProcessPool as error:
            outcome = error
        except Exception as error:  # the item, or its result, cannot be pickled
            outcome = Failure("failed", f"{type(error).__name__}: {error}")
        return self.pending.pop(future), outcome
