"""The one way through a fit: prepared tables are learnt from, refined and settled, one or many.

A fit is a list of one task, a bootstrap a list of resamples of one table, and the benchmark a list
of tables. Learners decide in `learn_many` what they do with many tasks at once: those that train
solve all problems as one batch.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from cosmodag.errors import DivergenceError
from cosmodag.fit.learnt import FitTask, Learning, Learnt
from cosmodag.solve.threads import as_completed
from cosmodag.solve.watch import QuietWatch, Watch

__all__ = ["Outcome", "fit_many"]

Take = Callable[[int, Learnt], Any]


class Outcome(NamedTuple):
    """How one task ended.

    Attributes
    ----------
    place
        The place of the task among those given.
    stopped
        Why it was cut short (``"time"``, ``"interrupt"``), or None.
    error
        Why there is no result: training diverged; or None.
    taken
        What `take` returned; None without a result.
    """

    place: int
    stopped: str | None = None
    error: DivergenceError | None = None
    taken: Any = None


def fit_many(
    tasks: Sequence[FitTask],
    watch: Watch,
    *,
    take: Take = lambda place, learnt: None,
    finish_stopped: bool = False,
    threads: int = 1,
) -> Iterator[Outcome]:
    """Fit learners to prepared tables: learn, refine, settle.

    Parameters
    ----------
    tasks : sequence of FitTask
        Learners of one class, each an object of its own, which holds the fit afterwards.
    watch : Watch
        Shows progress and may end the run early; it must have been entered.
    take : callable
        Called with the place of a task and what was learnt, in the thread that finished it, so
        that what is wanted of a fit can be taken from the learner while others are fitted. The
        caller who needs no more of the learner calls its ``forget``.
    finish_stopped : bool
        Whether a task that was cut short is finished with what it has.
    threads : int
        Tasks that are refined and settled at the same time. With one, all is done in the caller's
        thread.

    Yields
    ------
    Outcome
        As tasks are finished, in any order.
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
    learner, given = tasks[place].learner, tasks[place].given.drawn()
    learner.begin(given)
    try:
        learnt = learning.read(given)
        learner.finish(given, learnt, watch)
    except DivergenceError as error:
        return Outcome(place, error=error)
    if learner.stopped_ is not None and not finish_stopped:
        return Outcome(place, learner.stopped_)
    return Outcome(place, learner.stopped_, taken=take(place, learnt))
