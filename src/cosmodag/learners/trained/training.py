"""Training for many tasks: solve their problems in batches, and choose the best starting point."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DivergenceError
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.solve.plan import Solved, solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.watch import QuietWatch, Watch

if TYPE_CHECKING:
    from cosmodag.learners.trained.trained_learner import TrainedLearner
    from cosmodag.solve.methods.solver import Solver
    from cosmodag.solve.training.train import Checkpoint


def best_start(solved: "list[Solved]", problems: "list[Problem]") -> "Solved":
    """Return the solution of one task with the best penalised objective on all rows.

    Solutions that diverged are excluded, and also those that were stopped early, unless all were.
    """
    finite = [one for one in solved if one.solution.diverged_at is None]
    if not finite:
        listed = ", ".join(f"{name}={value:g}" for name, value in problems[0].settings.items())
        raise DivergenceError(
            f"Training diverged in round {solved[0].solution.diverged_at} with {listed}: bring "
            "the columns to similar units, or lower learning_rate if the learner has it."
        )
    candidates = [one for one in finite if one.solution.stopped is None] or finite
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda one: _loss(one, problems))


def _loss(one: "Solved", problems: "list[Problem]") -> float:
    """Objective of a solution on all rows of its problem, at its final settings."""
    from cosmodag.solve.recipe import full_loss

    problem, solution = problems[one.place], one.solution
    loss = full_loss(
        solution.recipe,
        solution.parameters,
        problem.data,
        problem.settings,
        problem.counted,
        1.0 if problem.support is None else problem.support,
        1.0 if problem.required is None else 1.0 - problem.required,
    )
    return float(loss)


def other_orders(solved: "list[Solved]", best: "Solved") -> dict[str, NDArray[np.intp]]:
    """Orders learnt from the other starting points, from which refinement may also start."""
    orders = {}
    for one in solved:
        solution = one.solution
        order = solution.recipe.structure.order_of(solution.parameters)
        if one is not best and solution.diverged_at is None and order is not None:
            orders[f"training {one.place + 1}"] = order
    return orders


class _Training(NamedTuple):
    """Training of one task, and its solutions so far; their places are those in `problems`."""

    place: int
    learner: Any
    settings: dict[str, float]
    problems: list[Problem]  # one per starting point
    checkpoints: "tuple[Checkpoint, ...]"
    solved: list[Solved]


def train_many(tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
    """Train on many tables; see `StructureLearner.learn_many`.

    Tasks on the same table share its memory. A resample is a table with row counts, so that all
    resamples of a table share it too.
    """
    # For each solver and device, its problems, and the training and place of each.
    groups: dict[Any, tuple[list[Problem], list[tuple[_Training, int]]]] = {}
    tables: dict[Any, Any] = {}
    untrained: list[Learning] = []
    rounds = 0
    for place, (learner, given) in enumerate(tasks):
        if len(tasks) > 1 and (reason := watch.stop) is not None:
            # Preparing very many problems takes long, and most callers leave stopped tasks out.
            yield Learning(place, learner, reason, partial(_learnt_alone, learner, watch))
            continue
        learn = learner._without_training(given)
        if learn is not None:
            untrained.append(Learning(place, learner, None, learn))
            continue
        n, d = given.data.shape
        solver = learner._solver_of_fit(n, d)
        key = (solver, learner._device)
        settings = learner.settings_for(d)
        problems = _problems_of(learner, given, tables, settings, solver)
        rounds += learner._length(n, d) * len(problems)
        of_group, owners = groups.setdefault(key, ([], []))
        of_group += problems
        checkpoint = getattr(solver, "checkpoint", None)
        checkpoints = () if checkpoint is None else (checkpoint,)
        training = _Training(place, learner, settings, problems, checkpoints, [])
        owners += [(training, start) for start in range(len(problems))]
    watch.begin(max(1, rounds))
    yield from untrained
    for (solver, device), (problems, owners) in groups.items():
        for one in solve_many(solver, problems, device=device, watch=watch):
            owner, start = owners[one.place]
            owner.solved.append(one._replace(place=start))
            if len(owner.solved) == len(owner.problems):
                solved = owner.solved.copy()
                owner.solved.clear()  # so that the solutions are freed once they are read
                reasons = [each.solution.stopped for each in solved]
                stopped = next((reason for reason in reasons if reason), None)
                read = partial(_read, owner.learner, solved, owner.problems, owner.settings)
                yield Learning(owner.place, owner.learner, stopped, read, owner.checkpoints)


def _learnt_alone(learner: "TrainedLearner", watch: Watch, given: Prepared) -> Learnt:
    """Train on one of several tables by itself, after the watch has stopped."""
    (learning,) = train_many([FitTask(learner, given)], QuietWatch(watch))
    return learning.read(given)


def _problems_of(
    learner: "TrainedLearner",
    given: Prepared,
    tables: dict[Any, Any],
    settings: dict[str, float],
    solver: "Solver",
) -> list[Problem]:
    """Create the problems of one task; `tables` caches tables in the precision of the learner."""
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
