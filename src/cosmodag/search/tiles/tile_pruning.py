"""Pruning of graphs too large for a matrix of all correlations, a block of children at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.runtime.compiled import compiled
from cosmodag.runtime.devices import Host, device_named, jax_device, on_device, refuse_after_fork
from cosmodag.runtime.later import jax, jnp
from cosmodag.runtime.memory import available_bytes
from cosmodag.runtime.threads import available_threads, mapper
from cosmodag.search.column_problem import work_space
from cosmodag.search.constraints import checked_order
from cosmodag.search.gaussian_scores import default_penalty, growing_penalty, most_parents
from cosmodag.search.kernel.grow_and_shrink import grow, shrink, wide
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import never
from cosmodag.search.tiles.lanes import Queue, advance, begin
from cosmodag.search.tiles.tile_columns import Columns

# Number of variables beyond which tiles are used: on CPUs because of memory (1.2 GB of
# correlations), on GPUs because of time.
TILED_BEYOND = {"gpu": 2_000, "cpu": 12_000}

# Initial capacity of a path, and the factor by which it grows. Children with longer paths are
# repeated in double precision, in queues whose length is a power of two and at least a minimum,
# because each combination of capacity and length is a program to compile.
FIRST_CAPACITY = 32
MORE = 4
LEAST_QUEUE = 64
# Children at a time, and candidates per product: enough to keep a GPU busy, few enough for a cache.
BLOCK = {"gpu": 1024, "cpu": 128}
TILE = {"gpu": 8192, "cpu": 512}
# Steps between two calls of `should_stop`, and the share of free memory that may be used.
STEPS = 32
USABLE = 0.6
# Children that one thread finishes at a time.
TOGETHER = 512


def tiles_are_better(d: int, device: Host | jax.Device | None = None) -> bool:
    """Whether pruning d variables is better done from columns than from correlations."""
    if d <= min(TILED_BEYOND.values()):  # avoid importing JAX
        return False
    return d > TILED_BEYOND[_platform(device_named("auto") if device is None else device)]


def prune_in_tiles(
    X: ArrayLike | Columns,
    order: ArrayLike,
    *,
    penalty: float | None = None,
    device: Host | jax.Device | None = None,
    block: int | None = None,
    double: bool = False,
    should_stop: Callable[[], bool] = never,
    threads: int | None = None,
) -> RegressionGraph:
    """Choose the parents of each variable among its predecessors, with memory O(n d + arcs).

    The graph is that of `choose_parents`, but no matrix of all correlations is stored, and a GPU
    may be used. The paths of ``block`` children are grown at a time (`lanes`). Their matrix
    products are in single precision (not in the lower precision that is the default on GPUs), or in
    double precision for the few children with long paths or nearly collinear candidates. The
    parents of a child and their weights are then computed in double precision from the columns, by
    the same grow–shrink among the few candidates on its path.

    There are fewer children at a time if memory is short. With `double`, all products are in double
    precision. The device is by default JAX's first one. Once `should_stop` returns True, the
    remaining variables get no parents.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> y = 2 * x + random.normal(size=500)
    >>> z = random.normal(size=500) - y
    >>> prune_in_tiles(np.column_stack([z, y, x]), [2, 1, 0]).matrix().toarray().round(1)
    array([[ 0.,  0.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  2.,  0.]])
    """
    columns = X if isinstance(X, Columns) else Columns.of(X)
    d, n = columns.standard.shape
    checked = checked_order(order, d)
    if penalty is None:
        penalty = default_penalty(n, d)
    device = device_named("auto") if device is None else device
    refuse_after_fork()
    growth = _Growth(
        columns,
        checked,
        penalty,
        device,
        BLOCK[_platform(device)] if block is None else block,
        should_stop,
    )
    starts, steps = growth.paths(double)
    return _finished(columns, checked, penalty, starts, steps, available_threads(threads))


def _platform(device: Host | jax.Device) -> str:
    return "cpu" if device.platform == "cpu" else "gpu"


@dataclass(frozen=True, eq=False)
class _Growth:
    """Growing of the paths of all children of one call."""

    columns: Columns
    order: NDArray[np.int64]
    penalty: float
    device: Host | jax.Device
    block: int
    should_stop: Callable[[], bool]

    @property
    def tile(self) -> int:
        """Number of candidates in one matrix product."""
        return min(TILE[_platform(self.device)], -(-len(self.order) // 8) * 8)

    def paths(self, double: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Grow all paths; return where the path of each position begins, and all candidates.

        Children and candidates are given by their positions in the order.
        """
        d = len(self.order)
        heads: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        tails: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        # Late children have the most candidates: if they are first, lanes are idle for less time.
        children: NDArray[np.int64] = np.arange(d - 1, -1, -1)
        capacity = min(FIRST_CAPACITY, d)
        while len(children):
            with jax.enable_x64(double), on_device(self.device):
                lengths, steps = self._run(double, children, capacity)
            complete = (lengths >= 0) & (lengths <= capacity)
            heads.append(np.repeat(children[complete], lengths[complete]))
            tails.append(steps[complete][np.arange(capacity) < lengths[complete, None]])
            children, capacity = children[lengths > capacity], min(MORE * capacity, d)
            double = True
            if len(children) and self.should_stop():
                break
        found = np.concatenate(heads), np.concatenate(tails)
        counts = np.bincount(found[0], minlength=d)
        return np.concatenate([[0], np.cumsum(counts)]), found[1][np.lexsort(found[::-1])]

    def _run(
        self, double: bool, children: NDArray[np.int64], capacity: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Grow the paths of some children; return the lengths and candidates of the paths."""
        count = len(children)
        # The queue is padded with position 0, which has no candidates.
        longer = max(LEAST_QUEUE, 1 << (count - 1).bit_length())
        room = count if count == len(self.order) else longer
        queue = self._queue(double, np.pad(children, (0, room - count)))
        lanes = begin(queue, self._lanes(queue, capacity), capacity)
        while True:
            lanes = advance(queue, lanes, STEPS, tile=self.tile)
            if not np.any(np.asarray(lanes.row) < room) or self.should_stop():
                return np.asarray(lanes.lengths)[:count], np.asarray(lanes.paths)[:count]

    def _queue(self, double: bool, children: NDArray[np.int64]) -> Queue:
        """Copy the columns, in causal order, and some children to the device."""
        d, n = self.columns.standard.shape
        kind = np.float64 if double else np.float32
        # A slightly smaller penalty, so that rounding excludes no candidate: `_finished` decides.
        growing = 0.99 * growing_penalty(self.penalty, d)
        padded = np.zeros((-(-d // self.tile) * self.tile, n), kind)
        np.take(self.columns.standard, self.order, axis=0, out=padded[:d], mode="clip")
        return Queue(
            jax.device_put(padded, jax_device(self.device)),
            jnp.asarray(children, jnp.int32),
            jnp.asarray(-np.expm1(-2 * growing / n), kind),
            jnp.asarray(most_parents(n), jnp.int32),
        )

    def _lanes(self, queue: Queue, capacity: int) -> int:
        """Limit the children at a time by the number requested, the memory and the queue."""
        candidates, n = queue.columns.shape
        size = queue.columns.dtype.itemsize
        per_lane = size * (2 * candidates + 4 * self.tile + (capacity + 8) * n)
        available = available_bytes(self.device)
        fitting = self.block if available is None else int(USABLE * available // per_lane)
        return max(1, min(self.block, fitting, len(queue.children)))


def _finished(
    columns: Columns,
    order: NDArray[np.int64],
    penalty: float,
    starts: NDArray[np.int64],
    steps: NDArray[np.int64],
    threads: int,
) -> RegressionGraph:
    """Choose parents among the candidates of each path in double precision, and fit the weights."""
    d = len(order)
    residuals, scores = np.ones(d), np.zeros(d)
    candidates = order[steps]
    kept, values = np.zeros(len(steps), np.bool_), np.zeros(len(steps))

    def finish(first: int) -> None:
        last = min(first + TOGETHER, d)
        longest = max(1, int(np.diff(starts[first : last + 1]).max()))
        small = np.empty((longest + 1, longest + 1))
        _finish_some(
            columns.standard, order, first, last, starts, candidates, penalty,
            growing_penalty(penalty, d), residuals, scores, kept, values, small,
            *work_space(longest, longest),
        )  # fmt: skip

    with mapper(threads if d > TOGETHER else 1) as run:
        run(finish, range(0, d, TOGETHER))
    heads = np.repeat(order, np.diff(starts))[kept]
    return RegressionGraph.of(columns, candidates[kept], heads, values[kept], residuals, scores)


@compiled
def _finish_some(
    standard: Any,
    order: Any,
    first: int,
    last: int,
    starts: Any,
    candidates: Any,
    penalty: float,
    growing: float,
    residuals: Any,
    scores: Any,
    kept: Any,
    values: Any,
    small: Any,
    work: Any,
    factor: Any,
    ints: Any,
) -> None:
    """Grow and shrink the parents of order[first:last], each among the candidates of its path."""
    path, keep, weights = ints[2], ints[3], work[work.shape[0] - 1]
    half_rows = 0.5 * standard.shape[1]
    share, rise_share = -np.expm1(-growing / half_rows), np.expm1(penalty / half_rows)
    for at in range(first, last):
        v, begin, m = order[at], starts[at], starts[at + 1] - starts[at]
        for i in range(m + 1):
            own = standard[candidates[begin + i] if i < m else v]
            for j in range(i):
                small[i, j] = small[j, i] = _product(own, standard[candidates[begin + j]])
            small[i, i] = 1.0
        for i in range(m):
            ints[0, i] = i
        k, variance = grow(small, 1.0, m, wide(0), m, m, share, m, work, factor, ints)
        count, variance = shrink(k, wide(0), variance, rise_share, work, factor, ints)
        for i in range(k):
            if keep[i]:
                kept[begin + path[i]] = True
                values[begin + path[i]] = weights[i]
        residuals[v] = variance
        scores[v] = -half_rows * np.log(variance) - penalty * count


@compiled
def _product(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
