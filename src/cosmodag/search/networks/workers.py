"""Pool of threads for independent tasks of linear algebra; it can be stopped between tasks."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Self, TypeVar

from cosmodag.runtime.threads import as_completed, blas_threads, cores
from cosmodag.search.search_run import Run

Result = TypeVar("Result")


class Workers:
    """A pool of threads; within its context, matrix products use one thread each.

    Every task thus runs on one thread, and results do not depend on the number of threads.
    ``run.should_stop`` and, if the total number of `tasks` is given, ``run.on_progress`` are called
    after each task, in the calling thread. Once the former returns True, no further task begins.

    Examples
    --------
    >>> with Workers(Run(threads=2)) as workers:
    ...     workers.run([lambda: 1 + 1, lambda: 2 + 2])
    [2, 4]
    """

    def __init__(self, run: Run, *, tasks: int = 0) -> None:
        self.was_stopped = False
        self._run, self._tasks, self._done = run, tasks, 0
        self._limits = ExitStack()

    def __enter__(self) -> Self:
        self._limits.enter_context(blas_threads(1))
        return self

    def __exit__(self, *error: object) -> None:
        self._limits.close()

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result | None]:
        """Run all tasks; return their results in order, None for tasks that did not begin."""
        results: list[Result | None] = [None] * len(tasks)

        def run_one(place: int) -> tuple[int, Result | None]:
            return place, None if self.was_stopped else tasks[place]()

        self.was_stopped = self.was_stopped or self._run.should_stop()
        pieces = (partial(run_one, place) for place in range(len(tasks)))
        for place, result in as_completed(pieces, self._run.threads or cores()):
            results[place] = result
            if self._tasks:
                self._done = min(self._done + 1, self._tasks)
                self._run.on_progress(self._done, self._tasks)
            self.was_stopped = self.was_stopped or self._run.should_stop()
        return results
