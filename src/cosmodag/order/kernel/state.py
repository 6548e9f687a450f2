"""State of an order search: the arrays of compiled code, and the layout of records in them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A record in ``notes``: place of the next older record, numbers of parents, of members of the path
# and of blockers; then the members of the path, parents first, and the blockers. In ``reals``:
# score, residual variance given the parents, residual variance given the path, one unused; then the
# weight of each parent, and for each blocker an estimate of what it would add to the score.
HEADER = 4
# At most so many records of a variable are compared, the newest first.
LOOKED_AT = 64


class State(NamedTuple):
    """All arrays that compiled code reads and writes; few of them, since each costs compile time.

    Threads that only evaluate moves share the arrays up to ``shared``; each writes new records to
    its own part of the pool.
    """

    correlations: NDArray[Any]  # (groups, d, d): float64, or int32 in units of their own
    settings: NDArray[np.float64]  # (8, d): half rows, least share of a gain, least share of a
    # rise, penalty, precision (negative: scale-free), longest path, group, unit of correlations
    rules: NDArray[np.uint8]  # (d, d) or empty: [v, x] 0 if x → v is forbidden, 2 required, else 1
    before: NDArray[np.uint8]  # (d, d) or empty: [x, v] whether x must come before v
    notes: NDArray[np.int32]  # pool of records: integers
    reals: NDArray[np.float64]  # pool of records: numbers
    mentioned_by: NDArray[np.int32]  # (d, width): variables whose present record mentions x, at [x]
    shared: NDArray[np.int64]  # (4, d): order, present record, number of variables that mention x,
    # whether the moves of the variable are to be tried
    own: NDArray[np.int64]  # (7, d): newest record, moved in this trial, listed in this trial,
    # moved variables, changed variables, tails and heads of the arcs to try
    keys: NDArray[np.float64]  # (3, d): position, position before a trial, bound of the gain
    counters: NDArray[np.int64]  # (8,): first free place and end in the pool, work done, space that
    # was too small (1 paths, 2 pool), number of the trial, begin in the pool, first and last place
    # of the order whose records are renewed
    work: NDArray[np.float64]  # (room + 4, d): for `grow`
    factor: NDArray[np.float64]  # (2 room + 1, room): for `grow` and `shrink`
    ints: NDArray[np.int64]  # (4, d): for `grow` and `shrink`
    near: NDArray[np.int32]  # empty, or d + 1 places in it, then the candidates of each variable
    table: NDArray[np.float64]  # empty, or (d + groups, n): columns, and row weights, for entropies
    scales: NDArray[np.float64]  # (groups, d): standard deviations of the columns
    noise: NDArray[np.float64]  # (n,): for `entropy_score`
