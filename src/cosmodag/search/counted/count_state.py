"""Arrays of the compiled search among categories, and the names of their entries."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows of ``settings``, with one entry for each variable: number of levels; index of the row weights
# of its equation; number of rows that count; weight of a row; penalty per cell; weight of the
# multinomial complexity; penalty per arc; score of the required parents alone.
LEVELS, GROUP, ROWS, SHARE, PER_CELL, COMPLEXITY, PER_ARC, FLOOR = range(8)
# Rows of ``numbers``: local score; number of combinations of the parents' levels; parents.
SCORE, COMBINATIONS, ARCS = range(3)
# Entries of ``counters``: work that may be done before the search returns to Python; whether it
# ended early for that, or because the memo is full; entries of the memo.
LEFT, IS_SHORT, USED = range(3)


class Counted(NamedTuple):
    """A table of categories, prices and constraints; none of them changes during a search."""

    codes: NDArray[np.uint16]  # (d, n): level of each variable in each different row
    weights: NDArray[np.int32]  # (groups, n): how often the row occurs where the variable counts
    settings: NDArray[np.float64]  # (8, d)
    logs: NDArray[np.float64]  # c log c of the counts 0, 1, …
    rules: NDArray[np.uint8]  # (d, d): at [v, u] 0 if u → v is forbidden, 2 required, else 1
    before: NDArray[np.uint8]  # (d, d): at [u, v] whether u must come before v
    words: NDArray[np.int64]  # (2, d, d + 1): random words; a key is the exclusive or of some
    pairs: NDArray[np.int64]  # (2, m): pairs of parents that may be added together
    pair_ends: NDArray[np.int64]  # (d + 1,): those of v are pair_ends[v], …, pair_ends[v + 1] − 1


class CountedGraph(NamedTuple):
    """An order, the parents chosen on it, and what is known of each variable given them."""

    order: NDArray[np.int64]  # (d,)
    position: NDArray[np.int64]  # (d,)
    parents: NDArray[np.uint8]  # (d, d): at [v, u] whether u is a parent of v
    numbers: NDArray[np.float64]  # (3, d)
    keys: NDArray[np.int64]  # (2, d): of the variable and its parents


class CountMemo(NamedTuple):
    """Log-likelihoods that were computed, by key, and work space.

    Two words of 64 bits identify a variable and its parents: with 10⁷ entries, two of them share
    both with a probability of 10⁻²⁵.
    """

    keys: NDArray[np.int64]  # (2, room): the room is a power of two; 0 for a free place
    likelihoods: NDArray[np.float64]  # (room,)
    counters: NDArray[np.int64]  # (3,)
    base: NDArray[np.int32]  # (n,): cell of each row in the table of the last parents
    base_key: NDArray[np.int64]  # (2,): of these parents
    cells: NDArray[np.int32]  # zero between two uses
    sums: NDArray[np.int32]  # (combinations,): zero between two uses
    touched: NDArray[np.int32]  # (n,)


def empty_graph(d: int) -> CountedGraph:
    """Create the arrays of a graph of d variables."""
    return CountedGraph(
        np.arange(d),
        np.arange(d),
        np.zeros((d, d), np.uint8),
        np.zeros((3, d)),
        np.zeros((2, d), np.int64),
    )


def new_memo(n: int, combinations: int, cells: int, room: int = 1 << 16) -> CountMemo:
    """Create an empty memo and the work space for n rows and so many combinations and cells."""
    ints: Any = np.int32
    return CountMemo(
        np.zeros((2, room), np.int64),
        np.zeros(room),
        np.zeros(3, np.int64),
        np.zeros(n, ints),
        np.zeros(2, np.int64),
        np.zeros(cells, ints),
        np.zeros(combinations, ints),
        np.zeros(n, ints),
    )


def with_room(memo: CountMemo, room: int) -> CountMemo:
    """Copy a memo to a larger one; each key is at the first free place after its own."""
    keys, likelihoods = np.zeros((2, room), np.int64), np.zeros(room)
    old = np.flatnonzero(memo.keys[0])
    while len(old):
        wanted = memo.keys[0, old] & (room - 1)
        while (taken := keys[0, wanted] != 0).any():
            wanted[taken] = (wanted[taken] + 1) & (room - 1)
        _, first = np.unique(wanted, return_index=True)
        keys[:, wanted[first]] = memo.keys[:, old[first]]
        likelihoods[wanted[first]] = memo.likelihoods[old[first]]
        old = np.delete(old, first)
    return memo._replace(keys=keys, likelihoods=likelihoods)
