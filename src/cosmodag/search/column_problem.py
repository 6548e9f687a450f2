"""Score and constraints of an order search, and its state, as arrays for compiled code."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import growing_penalty, most_parents
from cosmodag.search.kernel import climb_state as slot
from cosmodag.search.kernel.climb_state import State
from cosmodag.search.moments import Moments

# Maximum number of variables listed as mentioning one variable; with more, gains are estimates.
WIDTH = 2048
# Initial length of paths for which work space is allocated.
FIRST_ROOM = 64
# Initial size of the pool of records; size from which unused records are deleted instead of
# enlarging it; size of each worker's part, which must hold the records of one variable's trials.
FIRST_POOL, LARGEST_POOL, WORKER_POOL = 1 << 18, 1 << 26, 1 << 20


@dataclass(frozen=True, eq=False)
class OrderProblem:
    """Correlations, settings and constraints of an order search, which do not change during it.

    The arrays are those of `cosmodag.search.kernel.climb_state.State`.
    """

    correlations: NDArray[Any]
    settings: NDArray[np.float64]
    rules: NDArray[np.uint8]
    before: NDArray[np.uint8]
    near: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    table: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    scales: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return int(self.settings.shape[1])

    def with_setting(self, number: int, value: float | NDArray[np.float64]) -> "OrderProblem":
        """Copy the problem with another value, or one for each variable, of a setting."""
        settings = self.settings.copy()
        settings[number] = value
        return replace(self, settings=settings)


def problem_of(
    moments: Moments,
    penalty: float,
    constraints: Constraints = NO_CONSTRAINTS,
    precision: NDArray[np.float64] | None = None,
) -> OrderProblem:
    """Prepare the arrays of a search.

    If the moments hold a table, the score is that of `cosmodag.search.entropy.score`. ``precision``
    (d,) is the variance of each variable divided by the common noise variance, if there is one. The
    score of v is then −(n/2) · precision · s with the residual share s of the variance, instead of
    −(n/2) · log s.
    """
    d = moments.variables
    half = 0.5 * moments.own_rows
    settings = np.empty((8, d))
    settings[slot.HALF_ROWS] = half
    settings[slot.LEAST_GAIN] = -np.expm1(-growing_penalty(penalty, d) / half)
    settings[slot.LEAST_RISE] = np.expm1(penalty / half)
    settings[slot.PENALTY] = penalty
    settings[slot.PRECISION] = -1.0 if precision is None else precision
    settings[slot.LONGEST] = np.minimum(most_parents(moments.own_rows), d)
    settings[slot.GROUP] = moments.group
    settings[slot.UNIT] = moments.unit
    empty: NDArray[np.float64] = np.zeros((0, 0))
    table, scales = empty, empty
    if moments.table is not None:
        table, scales = moments.table, moments.scales
        # The shape of residuals can be estimated only from several times as many rows as parents.
        settings[slot.LONGEST] = np.clip(moments.own_rows // 3, moments.own_rows > 2, d)
    none = np.zeros((0, 0), np.uint8)
    rules = none if constraints.are_none else constraints.rules(d)
    before = constraints.precedence
    order_rules = none if before is None else np.ascontiguousarray(before, np.uint8)
    correlations = np.ascontiguousarray(moments.correlations)
    return OrderProblem(correlations, settings, rules, order_rules, table=table, scales=scales)


def new_state(problem: OrderProblem, order: NDArray[np.int64], width: int = WIDTH) -> State:
    """Create the state of an order without records.

    With a ``width`` of 0, records have no blockers, which suffices to choose parents on one order.
    """
    d = problem.variables
    if len(problem.near):  # only the candidates of x can mention x
        width = min(width, int(np.diff(problem.near[: d + 1]).max()))
    pool = max(FIRST_POOL, 200 * d)
    shared = np.zeros((4, d), np.int64)
    shared[slot.RECORD] = -1
    shared[slot.IS_DUE] = 1
    own = np.zeros((7, d), np.int64)
    own[slot.NEWEST] = -1
    counters = np.zeros(8, np.int64)
    counters[slot.END], counters[slot.TO] = pool, d
    room = min(FIRST_ROOM, d)
    state = State(
        problem.correlations,
        problem.settings,
        problem.rules,
        problem.before,
        np.empty(pool, np.int32),
        np.empty(pool),
        np.empty((d, min(d, width)), np.int32),
        shared,
        own,
        np.zeros((3, d)),
        counters,
        *work_space(d, room),
        problem.near,
        problem.table,
        problem.scales,
        np.empty(problem.table.shape[1]),
    )
    set_order(state, order)
    return state


def work_space(
    d: int, room: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Allocate ``work``, ``factor`` and ``ints`` for paths of up to ``room`` of d variables."""
    return np.empty((room + 4, d)), np.empty((2 * room + 1, room)), np.zeros((4, d), np.int64)


def set_order(state: State, order: NDArray[np.int64]) -> None:
    """Set the order and the positions; records are not renewed."""
    state.shared[slot.ORDER] = order
    state.keys[slot.POSITION, order] = np.arange(len(order))


def make_room(state: State) -> State:
    """Enlarge the space that was too small; if the pool is large, delete unused records instead."""
    too_small = state.counters[slot.TOO_SMALL]
    state.counters[slot.TOO_SMALL] = 0
    if too_small == slot.PATH_SPACE:
        return _with_longer_paths(state)
    if state.counters[slot.END] < LARGEST_POOL:
        return _with_larger_pool(state)
    used = int(state.counters[slot.FREE])
    old_notes, old_reals = state.notes[:used].copy(), state.reals[:used].copy()
    free = 0
    state.own[slot.NEWEST] = -1
    for v, record in enumerate(state.shared[slot.RECORD]):
        if record >= 0:
            path, blockers = old_notes[record + slot.PATH], old_notes[record + slot.BLOCKERS]
            size = slot.HEADER + int(path) + int(blockers)
            state.notes[free : free + size] = old_notes[record : record + size]
            state.reals[free : free + size] = old_reals[record : record + size]
            state.notes[free] = -1
            state.own[slot.NEWEST, v] = state.shared[slot.RECORD, v] = free
            free += size
    state.counters[slot.FREE] = free
    return _with_larger_pool(state) if 2 * free > state.counters[slot.END] else state


def _with_larger_pool(state: State) -> State:
    state.counters[slot.END] *= 2
    return _with_space(state, int(state.counters[slot.END]))


def with_worker_pools(state: State, workers: int) -> State:
    """Enlarge the space for the records of workers if it is too small for their number."""
    size = int(state.counters[slot.END]) + workers * WORKER_POOL
    return state if len(state.notes) >= size else _with_space(state, size)


def _with_space(state: State, size: int) -> State:
    notes, reals = np.empty(size, np.int32), np.empty(size)
    used = int(state.counters[slot.FREE])
    notes[:used], reals[:used] = state.notes[:used], state.reals[:used]
    return state._replace(notes=notes, reals=reals)


def _with_longer_paths(state: State) -> State:
    room, d = state.work.shape[0] - 4, state.work.shape[1]
    work, factor, ints = work_space(d, min(2 * room, d))
    return state._replace(work=work, factor=factor, ints=ints)


def new_worker(state: State, number: int) -> State:
    """Create a state that evaluates moves on one thread, with its own part of the pool."""
    counters = np.zeros(8, np.int64)
    start = state.counters[slot.END] + number * WORKER_POOL
    counters[slot.FREE] = counters[slot.START] = start
    counters[slot.END] = counters[slot.FREE] + WORKER_POOL
    d = state.work.shape[1]
    own = np.zeros_like(state.own)
    own[slot.NEWEST] = -1
    work, factor, ints = work_space(d, state.work.shape[0] - 4)
    return state._replace(
        own=own,
        keys=np.zeros((3, d)),
        counters=counters,
        work=work,
        factor=factor,
        ints=ints,
        noise=np.empty_like(state.noise),
    )


def make_worker_room(worker: State) -> State:
    """Enlarge a worker's space for paths, or delete the worker's records if its pool is full."""
    too_small = worker.counters[slot.TOO_SMALL]
    worker.counters[slot.TOO_SMALL] = 0
    if too_small == slot.PATH_SPACE:
        return _with_longer_paths(worker)
    worker.own[slot.NEWEST] = -1
    worker.counters[slot.FREE] = worker.counters[slot.START]
    return worker
