"""Many problems at once: the entry point of all solvers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cosmodag.solve.machine.forks import refuse_after_fork
from cosmodag.solve.methods.solver import Solver
from cosmodag.solve.plan import Plan, plan_many
from cosmodag.solve.problems import Problem, Solution, check_settings
from cosmodag.solve.watch import Watch

__all__ = ["Solved", "solve_many"]


class Solved(NamedTuple):
    """The result of one problem, and the plan by which it was solved."""

    place: int  # index of the problem in the input
    solution: Solution
    plan: Plan


def solve_many(
    solver: Solver, problems: Sequence[Problem], *, device: str = "auto", watch: Watch
) -> Iterator[Solved]:
    """Solve problems; those of one shape are solved together.

    Each group of problems of one shape is one batch, or several if memory or responsiveness
    requires it, and solutions are yielded as batches finish.

    The data, hyper-parameters, seeds and knowledge of the problems may differ. The context of the
    watch must be active.

    Raises
    ------
    ResourceError
        If not even one problem fits in memory; nothing is allocated then.
    ForkError
        In a process that was forked after JAX was used.
    """
    refuse_after_fork()
    for problem in problems:
        check_settings(problem.settings, solver.needs)
    for plan in plan_many(solver, problems, device):
        for members in plan.batches:
            batch = plan.batch(solver.recipe, problems, members)
            for index, solution in zip(members, solver.solve(batch, watch), strict=True):
                yield Solved(index, solution, plan)
