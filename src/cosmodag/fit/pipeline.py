"""The pipeline of a fit: learn, refine and settle one task, or many.

A fit is a list of one task, a bootstrap a list of resamples of one table, and the benchmark a list
of tables. The `learn_many` of a learner decides how many tasks are learnt: learners that train
solve all problems as one batch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from cosmodag.errors import DivergenceError
from cosmodag.fit.settle import examined, settled
from cosmodag.fit.steps import FitResult, FitTask, Learning, Learnt
from cosmodag.runtime.threads import as_completed, blas_threads, threads_worth
from cosmodag.solve.watch import QuietWatch, Watch

__all__ = ["FitInterrupt", "FitTask", "Outcome", "fit_many", "fit_prepared"]

Take = Callable[[int, FitResult, Learnt], Any]


class Outcome(NamedTuple):
    """Outcome of one task."""

    place: int  # index of the task in the list of tasks
    stopped: str | None = None  # why it ended early ("time", "interrupt"), or None
    error: DivergenceError | None = None  # set if training diverged, so that there is no result
    taken: Any = None  # what `take` returned, by default the `FitResult`; None without a result


class FitInterrupt(KeyboardInterrupt):
    """Raised after Ctrl-C if each task has a graph; ``results`` are marked as interrupted."""

    def __init__(self, results: list[FitResult]) -> None:
        super().__init__(results)  # as an argument, which pickling needs
        self.results = results

    def __str__(self) -> str:
        return "The fit was interrupted; its results have the graphs so far."


def fit_many(
    tasks: Sequence[FitTask],
    watch: Watch,
    *,
    take: Take = lambda place, result, learnt: result,
    finish_stopped: bool = False,
    threads: int = 1,
) -> Iterator[Outcome]:
    """Fit learners to prepared tables: learn, refine, settle. No learner is changed.

    Each task is a learner and a table, all learners of one class: one learner and many tables, many
    parts for one table (`Auto`), or a seed for each resample (the bootstrap). Outcomes
    are yielded as tasks finish, in any order.

    The watch shows progress and may end the run early; it must have been entered. `take` is called
    with the index of a task, its `FitResult` and its `Learnt`, in the thread that finished the
    task; only its return value is kept. With `finish_stopped`, a task whose learning ended early is
    refined and settled all the same, with the weights so far. `threads` tasks are refined and
    settled at the same time; with one, everything runs in the caller's thread.
    """
    own = watch if len(tasks) == 1 else QuietWatch(watch)
    learnings = type(tasks[0].learner).learn_many(tasks, watch)
    finish = partial(_finish, tasks, own, take, finish_stopped)
    yield from as_completed((partial(finish, learning) for learning in learnings), threads)


def _finish(
    tasks: Sequence[FitTask], watch: Watch, take: Take, finish_stopped: bool, learning: Learning
) -> Outcome:
    """Refine and settle one task after learning."""
    place = learning.place
    if learning.stopped is not None and not finish_stopped:
        return Outcome(place, learning.stopped)
    given = tasks[place].given.drawn()
    try:
        learnt = learning.read(given)
        result = settled(learning.learner, given, learnt, watch)
    except DivergenceError as error:
        return Outcome(place, error=error)
    if result.stopped is None:
        for checkpoint in learning.checkpoints:
            checkpoint.clear()
    elif not finish_stopped:
        return Outcome(place, result.stopped)
    return Outcome(place, result.stopped, taken=take(place, result, learnt))


def fit_prepared(tasks: Sequence[FitTask], *, examine: bool = True) -> list[FitResult]:
    """Fit learners of one class as ``fit`` does: with progress, a time limit, and Ctrl-C.

    The time limit is that of the first learner times the number of tasks. If `examine` is true,
    finished graphs are examined, and findings are issued as warnings. After Ctrl-C, `FitInterrupt`
    is raised if all tasks have a graph, and `KeyboardInterrupt` otherwise.
    """
    learner, n, d = tasks[0].learner, *tasks[0].given.data.shape
    results: list[FitResult] = []
    try:
        with learner.watch(len(tasks)) as watch, blas_threads(threads_worth(float(n) * d * d)):
            found: dict[int, FitResult] = {}
            for outcome in fit_many(tasks, watch, finish_stopped=True):
                if outcome.error is not None:
                    raise outcome.error
                found[outcome.place] = outcome.taken
            finished = [found[place] for place in range(len(tasks))]
            if examine:
                for place, task in enumerate(tasks):
                    finished[place] = examined(*task, finished[place], watch)
            results = finished
    except KeyboardInterrupt:
        if not results:
            raise
        raise FitInterrupt([replace(one, stopped="interrupt") for one in results]) from None
    return results
