"""Passes over the data, divided into rounds of bounded length.

A pass visits every row once, in a new order. A pass over many rows is divided into rounds of at
most `LONGEST` steps; settings change, and a run can be interrupted, between rounds. Annealing thus
depends on the number of steps: a table with a thousand times as many rows is not annealed in a
thousand times fewer stages.
"""

import math
from typing import Any, NamedTuple

from cosmodag.later import jnp

__all__ = ["LONGEST", "Passes"]

LONGEST = 64
"""Largest number of steps in a round."""


class Passes(NamedTuple):
    """Division of passes over n rows into rounds.

    Examples
    --------
    >>> Passes.over(1000, 64)
    Passes(rows=1000, size=64, steps=16, rounds=1)
    >>> Passes.over(20_000, 64)
    Passes(rows=20000, size=64, steps=63, rounds=5)
    """

    rows: int  # n
    size: int  # rows per step
    steps: int  # per round; the last round of a pass may have fewer
    rounds: int  # per pass

    @classmethod
    def over(cls, rows: int, batch_size: int | None) -> "Passes":
        """Divide passes over `rows` rows, `batch_size` per step (None for all)."""
        size = rows if batch_size is None else min(batch_size, rows)
        batches = math.ceil(rows / size)
        rounds = math.ceil(batches / LONGEST)
        return cls(rows, size, math.ceil(batches / rounds), rounds)

    def steps_from(self, begin: Any) -> Any:
        """Return the number of steps of the round that begins at a position; it may be traced.

        If a pass is one round, the number is static, so that a GPU needs no synchronisation with
        the host after each step.
        """
        if self.rounds == 1:
            return self.steps
        return jnp.minimum(self.steps, -((begin - self.rows) // self.size))

    def rounds_of(self, *, steps: int) -> int:
        """Return the number of rounds that take at least this many steps."""
        per_pass = math.ceil(self.rows / self.size)
        return max(1, math.ceil(steps * self.rounds / per_pass))
