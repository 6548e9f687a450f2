"""Training for many tasks: their problems are solved in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cosmodag.fit.pipeline import FitTask, Learning, Learnt
from cosmodag.fit.prepare import Prepared
from cosmodag.solve.many import Solved, solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.trained.base import TrainedLearner

__all__ = ["train_many"]


@dataclass
class _Group:
    """Problems that one solver solves on one device.

    ``owners`` has the place of the task of each problem; ``starts`` and ``settings`` have the
    number of problems and the settings of each task.
    """

    problems: list[Problem] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)
    settings: dict[int, dict[str, float]] = field(default_factory=dict)


def train_many(tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
    """Train on many tables; see `StructureLearner.learn_many`.

    A resample is a column of row counts, so that all resamples of one table share its memory, as
    do other tasks with the same table.
    """
    groups: dict[Any, _Group] = {}
    tables: dict[Any, Any] = {}
    at_once: list[Learning] = []
    rounds = 0
    for place, (learner, given) in enumerate(tasks):
        learnt = learner._without_training(given)
        if learnt is not None:
            at_once.append(Learning(place, None, partial(_known_already, learnt)))
            continue
        n, d = given.data.shape
        key = (learner._solver_of_fit(n, d), learner._device)
        settings = learner.settings_for(d)
        problems = _problems_of(learner, given, tables, settings)
        rounds += learner._length(n, d) * len(problems)
        group = groups.setdefault(key, _Group())
        group.problems += problems
        group.owners += [place] * len(problems)
        group.starts[place] = len(problems)
        group.settings[place] = settings
    watch.begin(max(1, rounds))
    yield from at_once
    for (solver, device), group in groups.items():
        solved = solve_many(solver, group.problems, device=device, watch=watch)
        yield from _as_tasks_end(tasks, group, solved)


def _problems_of(
    learner: "TrainedLearner",
    given: Prepared,
    tables: dict[Any, Any],
    settings: dict[str, float],
) -> list[Problem]:
    """Make the problems of one task; `tables` caches tables in the precision of the learner."""
    key = (id(given.data), learner._precision)
    data = tables.setdefault(key, given.data.astype(learner._precision, copy=False))
    problems = learner.problems_for(data, given.known, settings)
    counts = given.row_counts
    if counts is None:
        return problems
    return [
        replace(one, counted=counts if one.counted is None else counts * one.counted)
        for one in problems
    ]


def _as_tasks_end(
    tasks: Sequence[FitTask], group: _Group, solutions: Iterator[Solved]
) -> Iterator[Learning]:
    """Yield tasks whose problems are all solved."""
    waiting: dict[int, list[Solved]] = {}
    for one in solutions:
        place = group.owners[one.place]
        solved = waiting.setdefault(place, [])
        solved.append(one)
        if len(solved) == group.starts[place]:
            solved = waiting.pop(place)
            learner: Any = tasks[place].learner
            read = partial(_read, learner, solved, group, group.settings[place])
            yield Learning(place, _why_stopped(solved), read)


def _why_stopped(solved: Sequence[Solved]) -> str | None:
    return next((one.solution.stopped for one in solved if one.solution.stopped), None)


def _read(
    learner: "TrainedLearner",
    solved: list[Solved],
    group: _Group,
    settings: dict[str, float],
    given: Prepared,
) -> Learnt:
    return learner._learnt(solved, group.problems, settings)


def _known_already(learnt: Learnt, given: Prepared) -> Learnt:
    return learnt
