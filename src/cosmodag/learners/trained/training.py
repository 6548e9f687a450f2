"""Training for many tasks: their problems are solved in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.solve.plan import Solved, solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.trained.base import TrainedLearner
    from cosmodag.solve.methods.solver import Solver
    from cosmodag.solve.training.train import Checkpoint

__all__ = ["train_many"]


@dataclass
class _Training:
    """Training of one task: its settings, its number of starts, and those solved so far."""

    place: int
    learner: Any
    settings: dict[str, float]
    starts: int
    checkpoint: "Checkpoint | None"
    solved: list[Solved] = field(default_factory=list)


def train_many(tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
    """Train on many tables; see `StructureLearner.learn_many`.

    A resample is a column of row counts, so that all resamples of one table share its memory, as
    do other tasks with the same table.
    """
    # Problems that one solver solves on one device, and the training that each belongs to.
    groups: dict[Any, tuple[list[Problem], list[_Training]]] = {}
    tables: dict[Any, Any] = {}
    at_once: list[Learning] = []
    rounds = 0
    for place, (learner, given) in enumerate(tasks):
        learnt = learner._without_training(given)
        if learnt is not None:
            at_once.append(Learning(place, learner, None, partial(_known_already, learnt)))
            continue
        n, d = given.data.shape
        solver = learner._solver_of_fit(n, d)
        key = (solver, learner._device)
        settings = learner.settings_for(d)
        problems = _problems_of(learner, given, tables, settings, solver)
        rounds += learner._length(n, d) * len(problems)
        of_group, owners = groups.setdefault(key, ([], []))
        of_group += problems
        kept = getattr(solver, "checkpoint", None)
        training = _Training(place, learner, settings, len(problems), kept)
        owners += [training] * len(problems)
    watch.begin(max(1, rounds))
    yield from at_once
    for (solver, device), (problems, owners) in groups.items():
        for one in solve_many(solver, problems, device=device, watch=watch):
            owner = owners[one.place]
            owner.solved.append(one)
            if len(owner.solved) == owner.starts:
                solved, owner.solved = owner.solved, []
                reasons = [each.solution.stopped for each in solved]
                stopped = next((reason for reason in reasons if reason), None)
                read = partial(_read, owner.learner, solved, problems, owner.settings)
                kept = () if owner.checkpoint is None else (owner.checkpoint,)
                yield Learning(owner.place, owner.learner, stopped, read, kept)


def _problems_of(
    learner: "TrainedLearner",
    given: Prepared,
    tables: dict[Any, Any],
    settings: dict[str, float],
    solver: "Solver",
) -> list[Problem]:
    """Make the problems of one task; `tables` caches tables in the precision of the learner."""
    key = (id(given.data), learner._precision)
    data = tables.setdefault(key, given.data.astype(learner._precision, copy=False))
    problems = learner.problems_for(data, given.known, settings, solver)
    counts = given.row_counts
    if counts is None:
        return problems
    return [
        replace(one, counted=counts if one.counted is None else counts * one.counted)
        for one in problems
    ]


def _read(
    learner: "TrainedLearner",
    solved: list[Solved],
    problems: list[Problem],
    settings: dict[str, float],
    given: Prepared,
) -> Learnt:
    return learner._learnt(solved, problems, settings)


def _known_already(learnt: Learnt, given: Prepared) -> Learnt:
    return learnt
