"""State of an order search: the arrays of the compiled code, and the names of their entries."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows of ``settings``, with one entry for each variable: half the number of rows; the smallest gain
# with which a parent is added and the smallest rise with which it is kept, both as shares of the
# residual variance; penalty per arc; precision (negative: scale-free score); maximum length of a
# path; group; unit of the correlations.
HALF_ROWS, LEAST_GAIN, LEAST_RISE, PENALTY, PRECISION, LONGEST, GROUP, UNIT = range(8)
# Rows of ``shared``: order; current record; number of variables that mention x; whether the moves
# of the variable remain to be tried.
ORDER, RECORD, MENTIONS, IS_DUE = range(4)
# Rows of ``own``: newest record; number of the last trial that moved the variable, and of the last
# that listed it; variables that move; variables that change; tails and heads of the arcs to try.
NEWEST, MOVED_IN, LISTED_IN, MOVED, CHANGED, TAILS, HEADS = range(7)
# Rows of ``keys``: position; position before a trial; bound of the gain.
POSITION, OLD_POSITION, BOUND = range(3)
# Entries of ``counters``: first free place and end of the pool; work done; which space was too
# small (`PATH_SPACE`, `POOL_SPACE` or 0); number of the trial; start of a worker's part of the
# pool; first position whose record is renewed, and the position after the last.
FREE, END, WORK, TOO_SMALL, TRIAL, START, FROM, TO = range(8)
PATH_SPACE, POOL_SPACE = 1, 2

# A record in ``notes``: place of the next older record, numbers of parents, of members of the path
# and of blockers; then the members of the path, parents first, and the blockers. In ``reals``:
# score, residual variance given the parents, residual variance given the path, one unused; then the
# weight of each parent, and for each blocker an estimate of what it would add to the score.
PARENTS, PATH, BLOCKERS = 1, 2, 3
RESIDUAL, PATH_RESIDUAL = 1, 2
HEADER = 4
# Maximum number of records of a variable that are compared, the newest first.
MOST_COMPARED = 64


class State(NamedTuple):
    """All arrays that compiled code reads and writes; few of them, since each costs compile time.

    Threads that only evaluate moves share the arrays up to ``shared``; each thread writes new
    records to its own part of the pool.
    """

    correlations: NDArray[Any]  # (groups, d, d): float64, or int32 times the setting `UNIT`
    settings: NDArray[np.float64]  # (8, d)
    rules: NDArray[np.uint8]  # (d, d) or empty: [v, x] 0 if x → v is forbidden, 2 required, else 1
    before: NDArray[np.uint8]  # (d, d) or empty: [x, v] whether x must come before v
    notes: NDArray[np.int32]  # pool of records: integers
    reals: NDArray[np.float64]  # pool of records: numbers
    mentioned_by: NDArray[np.int32]  # (d, width): variables whose current record mentions x, at [x]
    shared: NDArray[np.int64]  # (4, d)
    own: NDArray[np.int64]  # (7, d)
    keys: NDArray[np.float64]  # (3, d)
    counters: NDArray[np.int64]  # (8,)
    work: NDArray[np.float64]  # (room + 4, d): for `grow`
    factor: NDArray[np.float64]  # (2 room + 1, room): for `grow` and `shrink`
    ints: NDArray[np.int64]  # (4, d): for `grow` and `shrink`
    near: NDArray[np.int32]  # empty, or d + 1 offsets into it, then the candidates of each variable
    table: NDArray[np.float64]  # empty, or (d + groups, n): columns, and row weights, for entropies
    scales: NDArray[np.float64]  # (groups, d): standard deviations of the columns
    noise: NDArray[np.float64]  # (n,): for `entropy_score`
