"""The pipeline of a fit: tasks are learnt from, refined and settled, one or many.

A fit is a list of one task, a bootstrap a list of resamples of one table, and the benchmark a list
of tables. A learner decides in `learn_many` how it learns from many tasks: learners that train
solve all problems as one batch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.diagnose.findings import Finding
from cosmodag.errors import DivergenceError
from cosmodag.fit.equations import FittedEquations, LinearEquations
from cosmodag.solve.machine.threads import as_completed, blas_threads, threads_worth
from cosmodag.solve.watch import QuietWatch, Watch

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.base import StructureLearner

__all__ = ["FitTask", "Learning", "Learnt", "Outcome", "RefinedFit", "fit_many", "fit_prepared"]


class FitTask(NamedTuple):
    """A learner, and the prepared table that it is to be fitted to."""

    learner: "StructureLearner"
    given: "Prepared"


@dataclass(frozen=True, eq=False)
class Learnt:
    """Result of learning, before it becomes a DAG."""

    # (d, d) strengths as optimised; for very many variables a sparse matrix of those above the
    # threshold; None if a learner gives orders only.
    raw_weights: Any
    # Causal order, causes first; None to take it from the weights.
    order: NDArray[np.intp] | None = None
    stopped: str | None = None  # why learning ended early ("time", "interrupt"), or None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)
    # Further orders that refinement starts from, by name.
    orders: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    # The optimised equations, without threshold.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)

    def predict(self, data: NDArray[Any]) -> NDArray[np.float64]:
        """Predict every variable by the optimised equations, in prepared units."""
        return np.asarray(self.equations.predict(data, self.raw_weights), np.float64)


class Learning(NamedTuple):
    """One of many tasks whose learning has ended."""

    place: int  # the place of the task among those given
    stopped: str | None  # why it was cut short ("time", "interrupt"), or None
    # Function that returns what was learnt, given the prepared table (the rows of a resample). May
    # be called from another thread; raises `DivergenceError` if training diverged.
    read: "Callable[[Prepared], Learnt]"


@dataclass(frozen=True, eq=False)
class RefinedFit:
    """Result of refinement."""

    order: NDArray[np.intp]  # causal order, causes first
    weights: sparse.csr_array  # (d, d) sparse: the chosen arcs and their refitted weights
    # What was assumed of the noise, and why, in a sentence.
    noise: str
    reason: str
    # One record for each start: start, before and after, the scores, moves, seconds.
    report: list[dict[str, Any]]
    stopped: str | None = None  # why it ended early, or None
    # Numbers that decided about the noise, by name.
    scores: dict[str, float] = field(default_factory=dict)
    # The equations of variables on the chosen arcs.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    # Finding that contradicts every noise model beyond the Gaussian one, or None.
    doubt: Finding | None = None
    # (d, d): loss of score where an arc is turned; None to compute it from lines.
    turning_losses: NDArray[np.float64] | None = None
    # Further fitted attributes of the learner, by name.
    extra: dict[str, Any] = field(default_factory=dict)


Take = Callable[[int, Learnt], Any]


class Outcome(NamedTuple):
    """Outcome of one task."""

    place: int  # the place of the task among those given
    stopped: str | None = None  # why it was cut short ("time", "interrupt"), or None
    error: DivergenceError | None = None  # why there is no result: training diverged; or None
    taken: Any = None  # return value of `take`; None without a result


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
        Called with the place of a task and what was learnt, in the thread that finished it, while
        others are fitted. If the learner is no longer needed, it calls its ``forget``.
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


def fit_prepared(tasks: Sequence[FitTask], *, examine: bool = True) -> None:
    """Fit learners of one class as ``fit`` does: with progress, a time limit, and Ctrl-C.

    The time limit of the first learner counts for each of them. If `examine` is true, finished
    graphs are examined, which warns. After Ctrl-C, a `KeyboardInterrupt`, learners that have a
    graph keep it, with ``stopped_`` set.
    """
    learners = [task.learner for task in tasks]
    for learner in learners:
        learner.forget()
    n, d = tasks[0].given.data.shape
    is_complete = False
    try:
        with learners[0].watch(len(tasks)) as watch, blas_threads(threads_worth(float(n) * d * d)):
            for outcome in fit_many(tasks, watch, finish_stopped=True):
                if outcome.error is not None:
                    raise outcome.error
            for learner, given in tasks if examine else ():
                learner.examine(given, watch)
            is_complete = True
    except KeyboardInterrupt:
        for learner in learners:
            if is_complete:
                learner.stopped_ = "interrupt"
            else:
                learner.forget()
        raise
