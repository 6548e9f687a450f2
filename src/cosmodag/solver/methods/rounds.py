"""Batches whose problems are solved in several rounds, each problem at its own pace."""

from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.solver.problems import Batch, Solution
from cosmodag.structure import Parameters

__all__ = ["Lanes", "select", "take_apart", "with_settings"]

Mask = NDArray[np.bool_]


def with_settings(batch: Batch, **values: Any) -> Batch:
    """Give a batch other settings: a number for all problems, or an array with one for each."""
    dtype = batch.tables.dtype
    arrays = {
        name: np.array(np.broadcast_to(value, batch.size), dtype) for name, value in values.items()
    }
    return replace(batch, settings={**batch.settings, **arrays})


def select(mask: Mask, chosen: Parameters, others: Parameters) -> Parameters:
    """Stacked parameters: `chosen` in the lanes of the mask, `others` elsewhere."""

    def pick(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.where(mask.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)

    selected: Parameters = jax.tree.map(pick, chosen, others)
    return selected


def take_apart(parameters: Parameters, k: int) -> list[Parameters]:
    """Parameters of each of k problems, from stacked ones."""
    return [jax.tree.map(lambda leaf, lane=lane: leaf[lane], parameters) for lane in range(k)]


@dataclass
class Lanes:
    """What every problem of a batch has reached, between rounds.

    Attributes
    ----------
    parameters
        Accepted so far, stacked, in NumPy.
    active
        Which problems are not finished.
    epochs
        Epochs (or iterations) run in all rounds so far.
    stopped
        Why the rounds ended early, or None.
    diverged_at
        (k,) epoch at the start of the round in which a problem ceased to be finite, or −1.
    histories
        One record a round for each problem.
    """

    parameters: Parameters
    active: Mask
    epochs: int = 0
    stopped: str | None = None
    diverged_at: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    histories: list[list[dict[str, float]]] = field(default_factory=list)

    @classmethod
    def of(cls, batch: Batch) -> "Lanes":
        """All problems at their start, in the precision of their data."""
        started = batch.start().parameters
        parameters = jax.tree.map(lambda a: np.asarray(a).astype(batch.tables.dtype), started)
        k = batch.size
        return cls(
            parameters, np.ones(k, bool), 0, None, np.full(k, -1, np.int64), [[] for _ in range(k)]
        )

    def drop_diverged(self, parameters: Parameters) -> None:
        """End the problems whose new parameters are not finite; they keep the last good ones."""
        finite = np.ones(len(self.active), bool)
        for leaf in jax.tree.leaves(parameters):
            finite &= np.isfinite(leaf.reshape(len(leaf), -1)).all(axis=1)
        self.diverged_at[self.active & ~finite] = self.epochs
        self.active &= finite

    def record(self, mask: Mask, **values: Any) -> None:
        """Add a record to the history of every lane of the mask."""
        for lane in np.flatnonzero(mask):
            self.histories[lane].append(
                {"epoch": self.epochs}
                | {name: float(np.broadcast_to(v, len(mask))[lane]) for name, v in values.items()}
            )

    def solutions(self) -> list[Solution]:
        """Take the batch apart."""
        return [
            Solution(
                parameters=parameters,
                epochs=self.epochs,
                stopped=self.stopped,
                diverged_at=int(self.diverged_at[lane]) if self.diverged_at[lane] >= 0 else None,
                history=self.histories[lane],
            )
            for lane, parameters in enumerate(take_apart(self.parameters, len(self.active)))
        ]
