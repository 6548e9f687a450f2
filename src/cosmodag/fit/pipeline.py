"""The pipeline of a fit: tasks are learnt from, refined and settled, one or many.

A fit is a list of one task, a bootstrap a list of resamples of one table, and the benchmark a list
of tables. A learner decides in `learn_many` how it learns from many tasks: learners that train
solve all problems as one batch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from cosmodag.errors import DivergenceError
from cosmodag.fit.settle import examined, settled
from cosmodag.fit.steps import FitResult, FitTask, Learning, Learnt
from cosmodag.solve.machine.threads import as_completed, blas_threads, threads_worth
from cosmodag.solve.watch import QuietWatch, Watch

__all__ = ["FitInterrupt", "FitTask", "Outcome", "fit_many", "fit_prepared"]

Take = Callable[[int, FitResult, Learnt], Any]


class Outcome(NamedTuple):
    """Outcome of one task."""

    place: int  # the place of the task among those given
    stopped: str | None = None  # why it was cut short ("time", "interrupt"), or None
    error: DivergenceError | None = None  # why there is no result: training diverged; or None
    taken: Any = None  # the `FitResult`, or what `take` made of it; None without a result


class FitInterrupt(KeyboardInterrupt):
    """Ctrl-C during a fit; ``results`` holds the results so far, one for each task."""

    def __init__(self, results: list[FitResult]) -> None:
        super().__init__(results)
        self.results = results


def fit_many(
    tasks: Sequence[FitTask],
    watch: Watch,
    *,
    take: Take = lambda place, result, learnt: result,
    finish_stopped: bool = False,
    threads: int = 1,
) -> Iterator[Outcome]:
    """Fit learners to prepared tables: learn, refine, settle. No learner is changed.

    Tasks have learners of one class, and a table for each: one learner and many tables, many
    settings for one table (`selection.auto`), or a seed for each resample (the bootstrap). Outcomes
    come as tasks are finished, in any order.

    The watch shows progress and may end the run early; it must have been entered. `take` is called
    with the place of a task, its `FitResult` and what was learnt, in the thread that finished it,
    and only what it returns is kept. With `finish_stopped`, a task that was cut short is finished
    with what it has. `threads` tasks are refined and settled at the same time; with one, all is
    done in the caller's thread.
    """
    own = watch if len(tasks) == 1 else QuietWatch(watch)
    learnings = type(tasks[0].learner).learn_many(tasks, watch)
    finish = partial(_finish, tasks, own, take, finish_stopped)
    yield from as_completed((partial(finish, learning) for learning in learnings), threads)


def _finish(
    tasks: Sequence[FitTask], watch: Watch, take: Take, finish_stopped: bool, learning: Learning
) -> Outcome:
    """Refine and settle what was learnt."""
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

    The time limit of the first learner counts for each of them. If `examine` is true, finished
    graphs are examined, which warns. After Ctrl-C, `FitInterrupt` is raised if all have a graph,
    and `KeyboardInterrupt` otherwise.
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
