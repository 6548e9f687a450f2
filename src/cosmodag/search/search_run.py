"""How a search runs: random numbers, restarts, threads, when it stops, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cosmodag.runtime.devices import Host
    from cosmodag.runtime.later import jax


def never() -> bool:
    """Do not stop."""
    return False


def unreported(done: int, total: float) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Run:
    """Settings that every search takes, and that do not change what it looks for.

    Attributes
    ----------
    random : Generator
        Draws random starts, the order in which variables are tried, and perturbations.
    restarts : int, optional
        Maximum number of restarts from perturbed copies of the best order; by default a number by
        rule, which depends on the score.
    patience : int, optional
        Number of consecutive restarts without improvement after which a search ends; by default a
        number by rule.
    threads : int, optional
        Number of threads, by default one per core; it does not affect the result.
    should_stop : function
        Called about every second; once it returns True, the best result so far is returned.
    on_progress : function
        Called with the number of restarts and the best score, or with the numbers of tasks done and
        of all tasks.
    device : optional
        Where graphs too large for a matrix of correlations are pruned; by default JAX's first one.
    """

    random: np.random.Generator = field(default_factory=np.random.default_rng)
    restarts: int | None = None
    patience: int | None = None
    threads: int | None = None
    should_stop: Callable[[], bool] = never
    on_progress: Callable[[int, float], None] = unreported
    device: Host | jax.Device | None = None

    @classmethod
    def seeded(cls, seed: int) -> Run:
        """Create the settings of a search with a seed.

        Examples
        --------
        >>> int(Run.seeded(0).random.integers(100))
        85
        """
        return cls(np.random.default_rng(seed))

    def with_restarts(self, most: int | None) -> Run:
        """Change the maximum number of restarts; random numbers are drawn from the same source."""
        return replace(self, restarts=most)
