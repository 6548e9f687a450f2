"""One machine: one item after the other in this process, or several processes at once."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from queue import SimpleQueue
from typing import Any

from cosmodag.engines.outcomes import Done, Failure, attempt

__all__ = ["in_order", "in_processes"]

# What each library reads to learn how many threads it may use.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)

Function = Callable[[Any], Any]
Indexed = tuple[int, Any]


def in_order(function: Function, items: Iterable[Any], timeout: float | None) -> Iterator[Done]:
    """Do one item after the other, in this process."""
    for index, item in enumerate(items):
        yield Done(index, attempt(function, item, timeout))


def in_processes(
    function: Function,
    items: Iterable[Any],
    timeout: float | None,
    *,
    jobs: int,
    threads: int,
    retries: int,
    variables: Mapping[str, str],
) -> Iterator[Done]:
    """Do several items at once, in processes that are started anew when one of them dies.

    Results come as they are ready. Items are taken as they are needed, so that neither they nor
    their results pile up. Nobody can tell which item killed a process: those that were under way
    are tried again one at a time, and one that then kills its process each time is a failure.
    """
    limits = dict.fromkeys(_THREAD_VARIABLES, str(threads))
    pool = _Pool(function, timeout, jobs, {**limits, **variables})
    waiting = enumerate(items)
    try:
        while pool.fill(waiting):
            suspects: deque[Indexed] = deque()
            for indexed, result in pool.finished():
                if result is None:
                    suspects.append(indexed)
                else:
                    yield Done(indexed[0], result[0])
            if suspects:
                suspects.extend(pool.restart())
            while suspects:
                yield pool.alone(*suspects.popleft(), retries)
    finally:
        pool.close()


class _Pool:
    """Processes that call one function, and the items that they have under way."""

    def __init__(
        self, function: Function, timeout: float | None, jobs: int, variables: dict[str, str]
    ) -> None:
        self._call = (function, timeout)
        self._jobs, self._variables = jobs, variables
        self._pending: dict[Any, Indexed] = {}
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        # Unlike waiting for futures, waiting for a simple queue stands a Ctrl-C at any moment.
        self._ready: SimpleQueue[Any] = SimpleQueue()
        self._executor = ProcessPoolExecutor(
            max_workers=self._jobs, timeout=None, env=self._variables
        )

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        self._executor.shutdown(wait=True, kill_workers=True)

    def restart(self) -> list[Indexed]:
        """Start new processes, and give back what the old ones had not finished."""
        lost = list(self._pending.values())
        self._pending.clear()
        self.close()
        self._start()
        return lost

    def fill(self, waiting: Iterator[Indexed]) -> bool:
        """Hand out items until each process has another one to go on with; say if any is left."""
        for indexed in islice(waiting, 2 * self._jobs - len(self._pending)):
            self._pending[self._submit(indexed[1])] = indexed
        return bool(self._pending)

    def finished(self) -> Iterator[tuple[Indexed, tuple[Any] | None]]:
        """Wait for the next result, and give all that are there."""
        ready = [self._ready.get()]
        while not self._ready.empty():
            ready.append(self._ready.get())
        for future in ready:
            yield self._pending.pop(future), _result_of(future)

    def alone(self, index: int, item: Any, retries: int) -> Done:
        """Try one item with nothing beside it, so that only it can be to blame."""
        for _ in range(max(1, retries)):
            self._submit(item)
            future = self._ready.get()
            result = _result_of(future)
            if result is not None:
                return Done(index, result[0])
            self.restart()
        return Done(index, Failure("failed", _why_none(future)))

    def _submit(self, item: Any) -> Any:
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool

        function, timeout = self._call
        future: Any = Future()
        try:
            future = self._executor.submit(attempt, function, item, timeout)
        except BrokenProcessPool as error:  # a process died a moment ago
            future.set_exception(error)
        future.add_done_callback(self._ready.put)
        return future


def _result_of(future: Any) -> tuple[Any] | None:
    """Give what the function returned, in a tuple; None where its process died."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        return (future.result(),)
    except BrokenProcessPool:
        return None
    except Exception as error:  # the result, or the item, cannot travel between processes
        return (Failure("failed", f"{type(error).__name__}: {error}"),)


def _why_none(future: Any) -> str:
    """Say why a process died: of itself, or because it could not read what it was to do."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    error = future.exception()
    if isinstance(error, TerminatedWorkerError):
        return "Its process died each time it was tried, of lack of memory perhaps."
    return str(error)
