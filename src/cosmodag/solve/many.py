"""Many problems at once: the one entry through which anything is solved."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cosmodag.solve.forks import refuse_after_fork
from cosmodag.solve.plan import Plan, Solver, plan_many
from cosmodag.solve.problems import Problem, Solution, check_settings
from cosmodag.solve.watch import Watch

__all__ = ["Solved", "solve_many"]


class Solved(NamedTuple):
    """One problem, solved.

    Attributes
    ----------
    place
        The place of the problem among those given.
    solution
        What came of it.
    plan
        How it was solved.
    """

    place: int
    solution: Solution
    plan: Plan


def solve_many(
    solver: Solver, problems: Sequence[Problem], *, device: str = "auto", watch: Watch
) -> Iterator[Solved]:
    """Solve problems, those of one shape together.

    Each group of problems of one shape is one batch, or several where memory or a prompt answer
    asks for that, and solutions are handed out as batches finish.

    Parameters
    ----------
    solver : Solver
        How each is solved.
    problems : sequence of Problem
        What to solve; data, hyper-parameters, seeds and what is known may all differ.
    device : {"auto", "cpu", "gpu"}
        Where.
    watch : Watch
        Shows progress and may end the run early; it must have been entered.

    Yields
    ------
    Solved

    Raises
    ------
    ResourceError
        When not even one problem fits in memory; nothing is allocated then.
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
