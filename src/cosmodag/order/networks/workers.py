"""Independent tasks of linear algebra on all processors, which can be stopped between tasks."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Self, TypeVar

from cosmodag.solve.machine.threads import as_completed, blas_threads, cores

__all__ = ["Workers"]

Result = TypeVar("Result")


class Workers:
    """Threads that each run whole tasks, while products of matrices stay on one thread.

    Each task runs on one thread, so that results do not depend on the number of threads.

    Parameters
    ----------
    number : int or None
        Threads; None is one for each processor that this process may use.
    should_stop : callable or None
        Called after each task, in the calling thread; after True no further task begins.
    on_progress : callable or None
        Called after each task, in the calling thread, with tasks done and `tasks`.
    tasks : int
        Number of tasks, for `on_progress`.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     workers.run([lambda: 1 + 1, lambda: 2 + 2])
    [2, 4]
    """

    def __init__(
        self,
        number: int | None = None,
        should_stop: Callable[[], bool] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        tasks: int = 1,
    ) -> None:
        self.stopped = False
        self._number = number or cores()
        self._should_stop = should_stop
        self._on_progress = on_progress
        self._tasks, self._done = tasks, 0
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Limit products of matrices to one thread."""
        self._open.enter_context(blas_threads(1))
        return self

    def __exit__(self, *error: object) -> None:
        """Lift the limit."""
        self._open.close()

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result | None]:
        """Run all tasks; the results in order, None for tasks that were not begun."""
        self._check_stop()
        results: list[Result | None] = [None] * len(tasks)

        def run_one(place: int) -> tuple[int, Result | None]:
            return place, None if self.stopped else tasks[place]()

        pieces = (partial(run_one, place) for place in range(len(tasks)))
        for place, result in as_completed(pieces, self._number):
            results[place] = result
            self._report()
            self._check_stop()
        return results

    def _check_stop(self) -> None:
        if not self.stopped and self._should_stop is not None:
            self.stopped = bool(self._should_stop())

    def _report(self) -> None:
        self._done = min(self._done + 1, self._tasks)
        if self._on_progress is not None:
            self._on_progress(self._done, self._tasks)
