"""Many problems at once: the one entry through which anything is solved."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import jax

from cosmodag.errors import DataError
from cosmodag.solver.kernels.backends import choose
from cosmodag.solver.memory import (
    available_bytes,
    check_fits,
    lane_bytes,
    lanes_that_fit,
    table_bytes,
)
from cosmodag.solver.problems import Batch, Problem, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch

__all__ = ["Solver", "device_named", "solve_many", "split"]

_SIDE_BY_SIDE = 32


class Solver(Protocol):
    """A way to solve a batch of problems of one shape."""

    @property
    def recipe(self) -> Recipe:
        """What is minimised."""
        ...

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve the problems of a batch."""
        ...


def device_named(name: str) -> jax.Device:
    """Find the device called ``"cpu"``, ``"gpu"`` or ``"auto"`` (a GPU where there is one)."""
    if name == "auto":
        return jax.devices()[0]
    try:
        return jax.devices(name)[0]
    except RuntimeError:
        raise DataError(
            f"device is {name!r}, but this machine offers only "
            f"{', '.join(sorted({device.platform for device in jax.devices()}))}: "
            "choose one of these or 'auto'."
        ) from None


def solve_many(
    solver: Solver,
    problems: Sequence[Problem],
    *,
    device: str = "auto",
    watch: Watch,
) -> Iterator[tuple[int, Solution]]:
    """Solve problems, those of one shape together.

    Each group of problems of one shape is one batch, or several where memory or a prompt answer
    asks for that, and solutions are handed out as batches finish.

    Parameters
    ----------
    solver : Solver
        How each is solved.
    problems : sequence of Problem
        What to solve; data, hyper-parameters and seeds may all differ.
    device : {"auto", "cpu", "gpu"}
        Where.
    watch : Watch
        Shows progress and may end the run early; it must have been entered.

    Yields
    ------
    (int, Solution)
        The place of a problem in `problems` and its solution.

    Raises
    ------
    ResourceError
        When not even one problem fits in memory; nothing is allocated then.
    """
    place = device_named(device)
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, problem in enumerate(problems):
        groups.setdefault(problem.shape, []).append(index)
    for members in groups.values():
        for part in split(solver.recipe, problems, members, place):
            batch = Batch.of(solver.recipe, [problems[index] for index in part], place)
            yield from zip(part, solver.solve(batch, watch), strict=True)


def split(
    recipe: Recipe, problems: Sequence[Problem], members: list[int], device: jax.Device
) -> Iterator[list[int]]:
    """Cut a group of problems of one shape into parts that fit in memory.

    On a CPU parts are small even where memory is not short: problems are solved side by side
    there, not in one program, so nothing is lost and solutions come sooner.
    """
    first = problems[members[0]]
    available = available_bytes(device)
    tables = len({id(problems[index].data) for index in members}) * table_bytes(first)
    backend = choose(Batch.of(recipe, [problems[index] for index in members[:2]], device))
    per_lane = lane_bytes(recipe, first, backend.working_copies)
    check_fits(per_lane + table_bytes(first), available, "One such problem")
    most = lanes_that_fit(per_lane, tables, available) or 1
    if device.platform == "cpu":
        most = min(most, _SIDE_BY_SIDE)
    for begin in range(0, len(members), most):
        yield members[begin : begin + most]
