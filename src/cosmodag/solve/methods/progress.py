"""Progress of a batch through a sequence of sub-problems; problems may end at different times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.later import jax
from cosmodag.model.structure import Parameters
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.minimisers.base import Mask, Minimised
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.trees import lane_of

__all__ = ["Progress", "exactly", "of_each", "replace_where"]


def replace_where(mask: Mask, new: Parameters, old: Parameters) -> Parameters:
    """Combine stacked parameters: `new` for the problems of the mask, `old` for the others."""

    def pick(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, old)


def of_each(parameters: Parameters, k: int) -> list[Parameters]:
    """Split stacked parameters into those of k problems."""
    return [lane_of(parameters, lane) for lane in range(k)]


@contextmanager
def exactly(batch: Batch, parameters: Parameters) -> Iterator[None]:
    """Context in which JAX uses the device of a batch and the precision of its parameters."""
    is_double = parameters["arcs"].dtype == np.float64
    with jax.enable_x64(is_double), jax.default_device(jax_device(batch.device)):
        yield


def _finite(found: Minimised) -> Mask:
    """Mark problems with finite parameters and, if they ended, a finite objective."""
    finite = np.isfinite(found.loss) | (found.stopped is not None)
    for leaf in jax.tree.leaves(found.parameters):
        finite = finite & np.isfinite(leaf.reshape(len(leaf), -1)).all(axis=1)
    return np.asarray(finite)


@dataclass
class Progress:
    """State of every problem of a batch between sub-problems.

    Attributes
    ----------
    parameters
        Accepted parameters, stacked, in NumPy.
    active
        Which problems are not finished.
    converged
        Which of the finished problems converged.
    cut_short
        Which problems were active when the run was stopped.
    rounds_per_pass
        Rounds of training per pass over the data.
    iterations
        Rounds (or iterations) run in all sub-problems so far.
    stopped
        Why the run ended early, or None; applies to the problems active then.
    diverged_at
        (k,) iterations at the start of the sub-problem in which a problem diverged, −1 for the
        others.
    histories
        One record for each sub-problem of each problem.
    """

    parameters: Parameters
    active: Mask
    converged: Mask
    cut_short: Mask
    rounds_per_pass: int = 1
    iterations: int = 0
    stopped: str | None = None
    diverged_at: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    histories: list[list[dict[str, float]]] = field(default_factory=list)

    @classmethod
    def of(cls, batch: Batch) -> Progress:
        """Create the initial progress of all problems, in the precision of their data."""
        started = batch.start().parameters
        parameters = jax.tree.map(lambda a: np.asarray(a).astype(batch.dtype), started)
        k = batch.size
        return cls(
            parameters,
            active=np.ones(k, bool),
            converged=np.zeros(k, bool),
            cut_short=np.zeros(k, bool),
            rounds_per_pass=batch.passes.rounds,
            diverged_at=np.full(k, -1, np.int64),
            histories=[[] for _ in range(k)],
        )

    @property
    def goes_on(self) -> bool:
        """Whether a problem is active and the run was not stopped."""
        return bool(self.active.any()) and self.stopped is None

    def count(self, found: Minimised) -> Mask:
        """Add the iterations of a sub-problem; return the active problems that are not finite."""
        self.iterations += found.iterations
        self.stopped = found.stopped
        self.cut_short = self.active & (found.stopped is not None)
        return self.active & ~_finite(found)

    def drop(self, diverged: Mask) -> None:
        """End problems that diverged; they keep their last good parameters."""
        self.diverged_at[diverged] = self.iterations
        self.active &= ~diverged

    def record(self, **values: Any) -> None:
        """Add a record to the history of every active problem."""
        k = len(self.active)
        for lane in np.flatnonzero(self.active):
            self.histories[lane].append(
                {"round": self.iterations, "epoch": self.iterations / self.rounds_per_pass}
                | {name: float(np.broadcast_to(v, k)[lane]) for name, v in values.items()}
            )

    def solutions(self, recipe: Recipe) -> list[Solution]:
        """Split the batch into solutions; `recipe` describes their parameters."""
        return [
            Solution(
                parameters=parameters,
                recipe=recipe,
                iterations=self.iterations,
                stopped=self.stopped if self.cut_short[lane] else None,
                diverged_at=int(self.diverged_at[lane]) if self.diverged_at[lane] >= 0 else None,
                history=self.histories[lane],
                converged=bool(self.converged[lane] and not self.cut_short[lane]),
            )
            for lane, parameters in enumerate(of_each(self.parameters, len(self.active)))
        ]
