"""Many problems at once: the entry point of all solvers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cosmodag.solve.machine.forks import refuse_after_fork
from cosmodag.solve.plan import Plan, Solver, plan_many
from cosmodag.solve.problems import Problem, Solution, check_settings
from cosmodag.solve.watch import Watch

__all__ = ["Solved", "solve_many"]


class Solved(NamedTuple):
    """The result of one problem.

    Attributes
    ----------
    place
        Index of the problem in the input.
    solution
        Its solution.
    plan
        The plan by which it was solved.
    """

    place: int
    solution: Solution
    plan: Plan


def solve_many(
    solver: Solver, problems: Sequence[Problem], *, device: str = "auto", watch: Watch
) -> Iterator[Solved]:
    """Solve problems; those of one shape are solved together.

    Each group of problems of one shape is one batch, or several if memory or responsiveness
    requires it, and solutions are yielded as batches finish.

    Parameters
    ----------
    solver : Solver
        The method.
    problems : sequence of Problem
        The problems; data, hyper-parameters, seeds and knowledge may differ.
    device : {"auto", "cpu", "gpu"}
        Device to solve on.
    watch : Watch
        Shows progress and may end the run early; its context must be active.

    Yields
    ------
    Solved

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
