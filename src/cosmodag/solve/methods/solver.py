"""The base class of all methods, and the progress of a batch through its sub-problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from cosmodag.errors import SettingsError
from cosmodag.solve.minimisers.minimiser import Mask, Minimised, Minimiser
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.trees import lane_of, leaves, map_arrays
from cosmodag.solve.watch import Watch


class Solver(ABC):
    """A method that solves a batch of problems of one shape, as a sequence of sub-problems."""

    recipe: Recipe  # of the last sub-problem
    minimisers: tuple[Minimiser, ...]  # candidates for the sub-problems, the preferred ones first
    has_fixed_length: ClassVar[bool] = False  # whether the setting "rounds" is the length of a run

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that a problem must have."""
        return self.settings_read

    @abstractmethod
    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve the problems of a batch."""

    def minimiser_of(self, recipe: Recipe) -> Minimiser:
        """Return the first minimiser, in order of preference, that implements a recipe."""
        for minimiser in self.minimisers:
            if minimiser.implements(recipe):
                return minimiser
        names = ", ".join(type(minimiser).__name__ for minimiser in self.minimisers)
        raise SettingsError(
            f"None of the minimisers ({names}) implements {recipe}: add Stochastic(), which "
            "implements everything."
        )

    @property
    def all_recipes(self) -> tuple[Recipe, ...]:
        """The recipes of all sub-problems, in order."""
        return (self.recipe,)

    @property
    def trained_recipes(self) -> tuple[Recipe, ...]:
        """The recipes of the sub-problems that are solved by training, in order."""
        return tuple(recipe for recipe in self.all_recipes if self.minimiser_of(recipe).trains)

    @property
    def working_copies(self) -> int:
        """Largest number of parameter-sized arrays of a minimiser that does not train."""
        return max(self.minimiser_of(recipe).working_copies for recipe in self.all_recipes)

    @property
    def settings_read(self) -> frozenset[str]:
        """Settings that the recipes and their minimisers read."""
        read = (recipe.needs | self.minimiser_of(recipe).needs for recipe in self.all_recipes)
        return frozenset[str]().union(*read)


def _is_finite(found: Minimised) -> Mask:
    """Whether each problem has finite parameters and, if it was not stopped, a finite objective."""
    finite = np.isfinite(found.loss) | (found.stopped is not None)
    for leaf in leaves(found.parameters):
        finite = finite & np.isfinite(leaf.reshape(len(leaf), -1)).all(axis=1)
    return np.asarray(finite)


class Progress:
    """State of all problems of a batch between sub-problems."""

    def __init__(self, batch: Batch) -> None:
        start = batch.start().parameters
        # Accepted parameters: stacked NumPy arrays in the precision of the data.
        self.parameters = map_arrays(lambda a: np.asarray(a).astype(batch.dtype), start)
        # Which problems are not finished, which have converged, and which were active when the run
        # was stopped.
        self.active: Mask = np.ones(batch.size, bool)
        self.converged: Mask = np.zeros(batch.size, bool)
        self.cut_short: Mask = np.zeros(batch.size, bool)
        # Iterations of all sub-problems so far, and their number when each problem diverged (−1 if
        # it did not).
        self.iterations = 0
        self.diverged_at = np.full(batch.size, -1, np.int64)
        self.stopped: str | None = None
        self.histories: list[list[dict[str, float]]] = [[] for _ in range(batch.size)]
        self._rounds_per_pass = batch.passes.rounds

    @property
    def is_running(self) -> bool:
        """Whether any problem is active and the run was not stopped."""
        return bool(self.active.any()) and self.stopped is None

    def minimise(self, minimiser: Minimiser, batch: Batch, watch: Watch) -> tuple[Minimised, Mask]:
        """Solve a sub-problem; return its result, and which active problems are not finite."""
        found = minimiser.minimise(batch, self.parameters, self.active, self.iterations, watch)
        self.iterations += found.iterations
        self.stopped = found.stopped
        self.cut_short = self.active & (found.stopped is not None)
        return found, self.active & ~_is_finite(found)

    def drop(self, diverged: Mask) -> None:
        """Deactivate problems that diverged; they keep the parameters accepted last."""
        self.diverged_at[diverged] = self.iterations
        self.active &= ~diverged

    def record(self, **values: Any) -> None:
        """Add a record to the history of every active problem."""
        k = len(self.active)
        for lane in np.flatnonzero(self.active):
            self.histories[lane].append(
                {"round": self.iterations, "epoch": self.iterations / self._rounds_per_pass}
                | {name: float(np.broadcast_to(v, k)[lane]) for name, v in values.items()}
            )

    def solutions(self, recipe: Recipe) -> list[Solution]:
        """Split the batch into solutions; `recipe` is the recipe of their parameters."""
        return [
            Solution(
                parameters=lane_of(self.parameters, lane),
                recipe=recipe,
                iterations=self.iterations,
                stopped=self.stopped if self.cut_short[lane] else None,
                diverged_at=int(self.diverged_at[lane]) if self.diverged_at[lane] >= 0 else None,
                history=self.histories[lane],
                converged=bool(self.converged[lane] and not self.cut_short[lane]),
            )
            for lane in range(len(self.active))
        ]
