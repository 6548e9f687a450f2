"""Independent pieces of linear algebra on all processors, with a way to stop between them."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

from cosmodag.solve.machine import blas_threads, cores

__all__ = ["Workers"]

Result = TypeVar("Result")


class Workers:
    """Threads that each run whole tasks, while products of matrices stay on one thread.

    One thread per task does the same arithmetic in the same order however many there are, so that
    results do not depend on their number.

    Parameters
    ----------
    number : int or None
        Threads; None is one for each processor that this process may use.
    should_stop : callable or None
        Asked after each task, in the calling thread; once it says yes, no task is begun any more.
    on_progress : callable or None
        Called after each task, in the calling thread, with tasks done and `tasks`.
    tasks : int
        How many tasks there will be.

    Examples
    --------
    >>> with Workers(2, None, None, tasks=2) as workers:
    ...     workers.run([lambda: 1 + 1, lambda: 2 + 2])
    [2, 4]
    """

    def __init__(
        self,
        number: int | None,
        should_stop: Callable[[], bool] | None,
        on_progress: Callable[[int, int], None] | None,
        *,
        tasks: int,
    ) -> None:
        self.stopped = False
        self._number = number or cores()
        self._should_stop = should_stop
        self._on_progress = on_progress
        self._tasks, self._done = tasks, 0
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Start the threads."""
        self._open.enter_context(blas_threads(1))
        self._pool = self._open.enter_context(ThreadPoolExecutor(self._number))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the threads; tasks that wait are dropped when something went wrong."""
        self.stopped |= error is not None
        self._open.close()

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result | None]:
        """Run all tasks; the results in order, None for tasks that were not begun."""
        self._ask()
        futures = [self._pool.submit(self._run_one, task) for task in tasks]
        waiting: set[Future[Result | None]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for _ in done:
                self._report()
            self._ask()
        return [future.result() for future in futures]

    def _run_one(self, task: Callable[[], Result]) -> Result | None:
        return None if self.stopped else task()

    def _ask(self) -> None:
        if not self.stopped and self._should_stop is not None:
            self.stopped = bool(self._should_stop())

    def _report(self) -> None:
        self._done = min(self._done + 1, self._tasks)
        if self._on_progress is not None:
            self._on_progress(self._done, self._tasks)
