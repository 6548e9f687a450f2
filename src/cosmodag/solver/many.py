"""Many problems at once: the one entry through which anything is solved."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import jax

from cosmodag.errors import DataError
from cosmodag.solver.problems import Batch, Problem, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch

__all__ = ["Solver", "device_named", "solve_many"]


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
        The place of a problem in `problems` and its solution, as batches finish.
    """
    place = device_named(device)
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, problem in enumerate(problems):
        groups.setdefault(problem.shape, []).append(index)
    for members in groups.values():
        batch = Batch.of(solver.recipe, [problems[index] for index in members], place)
        yield from zip(members, solver.solve(batch, watch), strict=True)
