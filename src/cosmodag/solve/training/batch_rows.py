"""The rows of every step: passes over the table, rounds of bounded length, and their random order.

A pass visits every row once, in an order that is a function of the seed and the pass: the same on
every device, in every batch of problems and after an interruption. The *swap-or-not* shuffle
(Hoang, Morris and Rogaway, 2012) needs neither a sort nor a stored permutation: it maps each
position independently by a few integer operations, and so vectorises on CPUs and accelerators.

A pass over many rows is divided into rounds of at most `LONGEST` steps. Settings change, and a run
can be interrupted, between rounds. The number of annealing stages thus depends on the number of
steps: it is not a thousand times smaller for a table with a thousand times as many rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cosmodag.runtime.compiled import compiled, inlined
from cosmodag.runtime.later import jax, jnp

LONGEST = 64
"""Largest number of steps in a round."""


class Passes(NamedTuple):
    """Division of passes over n rows into rounds.

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
    def over(cls, rows: int, batch_size: int | None) -> Passes:
        """Divide passes over `rows` rows, `batch_size` per step (None for all)."""
        size = rows if batch_size is None else min(batch_size, rows)
        batches = math.ceil(rows / size)
        rounds = math.ceil(batches / LONGEST)
        return cls(rows, size, math.ceil(batches / rounds), rounds)

    def steps_from(self, begin: Any) -> Any:
        """Return the number of steps of the round that begins at a position, which may be traced.

        If a pass is a single round, the number is static, so that a GPU needs no synchronisation
        with the host after each step.
        """
        if self.rounds == 1:
            return self.steps
        return jnp.minimum(self.steps, -((begin - self.rows) // self.size))

    def rounds_of(self, *, steps: int) -> int:
        """Return the number of rounds that take at least this many steps."""
        per_pass = math.ceil(self.rows / self.size)
        return max(1, math.ceil(steps * self.rounds / per_pass))


# Rounds of the shuffle: a little over 2·log₂(n) for tables of thousands of rows.
_ROUNDS = 24
_GOLDEN = 0x9E3779B9
_GOLDEN_WORD = np.uint32(_GOLDEN)
_16, _15, _ONE = np.uint32(16), np.uint32(15), np.uint32(1)
_FIRST, _SECOND = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)


def _mixer(unsigned: Any) -> Callable[[Any], Any]:
    """Make the function that hashes a 32-bit word, for one type of unsigned integers."""

    def mix(word: Any) -> Any:
        word = unsigned((word ^ (word >> _16)) * _FIRST)
        word = unsigned((word ^ (word >> _15)) * _SECOND)
        return unsigned(word ^ (word >> _16))

    return mix


_mix_jax = _mixer(lambda word: jnp.uint32(word))
_mix_numba = inlined(_mixer(np.uint32))


def rows_at(seed: Any, epoch: Any, positions: Any, n: int) -> jax.Array:
    """Rows that a pass visits at given positions: int32 values of a permutation of 0 … n−1.

    The seed and the epoch, both uint32, determine the permutation. Positions beyond the last one
    are treated as the last one. n must be below 2³¹.

    >>> order = rows_at(0, 3, np.arange(10), 10)
    >>> sorted(order.tolist()) == list(range(10))
    True
    """
    seed, epoch = jnp.asarray(seed, jnp.uint32), jnp.asarray(epoch, jnp.uint32)
    size = jnp.uint32(n)
    base = _mix_jax(_mix_jax(seed ^ jnp.uint32(_GOLDEN)) + epoch)
    position = jnp.minimum(jnp.asarray(positions), n - 1).astype(jnp.uint32)
    for r in range(1, _ROUNDS + 1):
        key = _mix_jax(base + jnp.uint32(r * _GOLDEN & 0xFFFFFFFF))
        partner = key % size + size - position
        partner = jnp.where(partner >= size, partner - size, partner)
        swap = _mix_jax(jnp.maximum(position, partner) ^ key) & jnp.uint32(1)
        position = jnp.where(swap == 1, partner, position)
    return position.astype(jnp.int32)


@compiled
def fill_rows(seed: Any, epoch: Any, begin: Any, n: Any, rows: Any) -> None:
    """Write :func:`rows_at` of positions begin, begin + 1, … into `rows`, a uint32 array."""
    size = np.uint32(n)
    base = _mix_numba(np.uint32(_mix_numba(np.uint32(seed) ^ _GOLDEN_WORD) + np.uint32(epoch)))
    for i in range(rows.shape[0]):
        rows[i] = np.uint32(begin + i)
    for r in range(1, _ROUNDS + 1):
        key = _mix_numba(np.uint32(base + np.uint32(r) * _GOLDEN_WORD))
        offset = np.uint32(key % size + size)
        for i in range(rows.shape[0]):
            position = rows[i]
            partner = np.uint32(offset - position)
            partner = np.uint32(partner - size) if partner >= size else partner
            swap = _mix_numba(max(position, partner) ^ key) & _ONE
            rows[i] = partner if swap else position
