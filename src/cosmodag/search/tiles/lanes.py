"""Growing of the paths of many children in one compiled program, each lane on one child at a time.

In each step every lane has one column y. One matrix product of all candidates with these columns,
w = X Yᵀ, gives what all lanes need next:

- For a lane that begins a child, y is the child itself: w is the covariance of every candidate with
  it (``along``), and the variance of every candidate (``left``) is 1.
- For a lane that has just added a candidate, y is the part z of the candidate that is orthogonal to
  the path, scaled to length one: left −= w² and along −= b w, where b is the covariance of z and
  the child.

The gain of a candidate is along² / left, as in `grow`. A lane whose best gain is not worth the
penalty ends its child and begins the next child in the queue, so that no column of a product is
wasted on finished children.

In single precision ``left`` and ``along`` are estimates, good enough to choose a candidate. Before
it is added, z, b and the residual of the child are recomputed from the columns, and the candidate
is rejected if its gain turns out too small. If the best candidate adds next to nothing new, or
would leave next to nothing of the child, the estimates are too coarse: the child is cut off, to be
repeated in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosmodag.runtime.later import jax, jitted, jnp, lax
from cosmodag.search.gaussian_scores import NEGLIGIBLE

# TF32 products, the default on GPUs, gave 3.5 % false arcs.
_EXACT = "highest"
# Number of rejected candidates after which a child ends: further gains are rounding errors.
_REFUSALS = 16
# Value of ``left`` for candidates that were added or rejected.
_TAKEN = -1.0
# Single precision is too coarse if a candidate adds a smaller share of its variance than the first
# number, or leaves a smaller share of the child's than the second.
_LITTLE_NEW, _LITTLE_LEFT = 1e-5, 1e-6


class Queue(NamedTuple):
    """Constant inputs: candidates in causal order, a queue of children, and limits."""

    columns: jax.Array  # (candidates, n), of length one or zero; padded with zeros
    children: jax.Array  # (q,) positions in the order
    share: jax.Array  # smallest gain that is worth an arc, as a share of the residual variance
    limit: jax.Array  # maximum number of parents


class Lanes(NamedTuple):
    """State of the children in progress, and the paths of finished ones."""

    along: jax.Array  # (candidates, lanes)
    left: jax.Array  # (candidates, lanes); negative if added or rejected
    basis: jax.Array  # (lanes, capacity, n): z of each step; later entries are of earlier children
    residual: jax.Array  # (lanes, n)
    column: jax.Array  # y, (lanes, n)
    loading: jax.Array  # b
    is_new: jax.Array  # whether the lane begins a child
    tried: jax.Array  # candidate of the last step, or −1
    row: jax.Array  # place of the child in the queue; the length of the queue for idle lanes
    length: jax.Array  # of the path so far
    refusals: jax.Array  # number of rejected candidates
    next_row: jax.Array  # place in the queue of the next child to begin
    paths: jax.Array  # (q, capacity): positions of the candidates on each path
    lengths: jax.Array  # (q,); −1 if not finished, capacity + 1 if cut off


@jitted(static_argnames=("lanes", "capacity"))
def begin(queue: Queue, lanes: int, capacity: int) -> Lanes:
    """Give each lane its first child."""
    candidates, n = queue.columns.shape
    count = len(queue.children)
    kind = queue.columns.dtype
    row = jnp.minimum(jnp.arange(lanes, dtype=jnp.int32), count)
    column = _first_column(queue, row)
    return Lanes(
        jnp.zeros((candidates, lanes), kind),
        jnp.zeros((candidates, lanes), kind),
        jnp.zeros((lanes, capacity, n), kind),
        column,
        jnp.copy(column),
        jnp.zeros(lanes, kind),
        jnp.ones(lanes, bool),
        jnp.full(lanes, -1, jnp.int32),
        row,
        jnp.zeros(lanes, jnp.int32),
        jnp.zeros(lanes, jnp.int32),
        jnp.asarray(min(lanes, count), jnp.int32),
        jnp.zeros((count, capacity), jnp.int32),
        jnp.full(count, -1, jnp.int32),
    )


@jitted(static_argnames="tile", donate_argnames="lanes")
def advance(queue: Queue, lanes: Lanes, steps: int, *, tile: int) -> Lanes:
    """Run a number of steps, or fewer if the queue ends first."""
    count = len(queue.children)

    def goes_on(carry: tuple[Any, Lanes]) -> Any:
        done, lanes = carry
        return (done < steps) & jnp.any(lanes.row < count)

    def step(carry: tuple[Any, Lanes]) -> tuple[Any, Lanes]:
        done, lanes = carry
        lanes, best, gain = _choose(queue, lanes, tile)
        return done + 1, _end(queue, *_take(queue, lanes, best, gain))

    return lax.while_loop(goes_on, step, (jnp.int32(0), lanes))[1]


def _places(queue: Queue, row: jax.Array) -> jax.Array:
    """Position in the order of each lane's child; 0, without predecessors, for idle lanes."""
    return jnp.where(row < len(queue.children), queue.children.at[row].get(mode="clip"), 0)


def _first_column(queue: Queue, row: jax.Array) -> jax.Array:
    return jnp.where((row < len(queue.children))[:, None], queue.columns[_places(queue, row)], 0)


def _choose(queue: Queue, lanes: Lanes, tile: int) -> tuple[Lanes, jax.Array, jax.Array]:
    """Update ``along`` and ``left``; return each lane's best candidate and its gain."""
    places = _places(queue, lanes.row)
    # Candidates after the last child in progress are not needed.
    tiles = (jnp.max(places) + tile - 1) // tile
    lanes = _update(queue, lanes, tile, tiles)
    # A separate loop: if one loop both updates the arrays and chooses, XLA copies them entirely for
    # each tile.
    best, gain = _best(lanes, places, tile, tiles)
    return lanes, best, gain


def _update(queue: Queue, lanes: Lanes, tile: int, tiles: jax.Array) -> Lanes:
    """Update ``along`` and ``left`` in the first tiles of candidates by each lane's column."""

    def visit(number: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        along, left = carry
        first = number * tile
        columns = lax.dynamic_slice_in_dim(queue.columns, first, tile)
        shared = lax.dot_general(columns, lanes.column, (((1,), (1,)), ((), ())), precision=_EXACT)
        here = lax.dynamic_slice_in_dim(along, first, tile)
        here = jnp.where(lanes.is_new, shared, here - lanes.loading * shared)
        own = lax.dynamic_slice_in_dim(left, first, tile)
        own = jnp.where(own < 0, _TAKEN, jnp.maximum(own - shared * shared, 0))
        index = _indices(first, tile)
        own = jnp.where(lanes.is_new, 1, jnp.where(index == lanes.tried, _TAKEN, own))
        return (
            lax.dynamic_update_slice_in_dim(along, here, first, 0),
            lax.dynamic_update_slice_in_dim(left, own.astype(left.dtype), first, 0),
        )

    along, left = lax.fori_loop(0, tiles, visit, (lanes.along, lanes.left))
    return lanes._replace(along=along, left=left)


def _best(
    lanes: Lanes, places: jax.Array, tile: int, tiles: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Find each lane's predecessor of largest gain (of equals, the first), and that gain."""
    kind = lanes.along.dtype
    # Smallest variance of a candidate that ``left`` can distinguish from rounding errors.
    floor = NEGLIGIBLE if kind == jnp.float64 else 1e-6

    def visit(number: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        best, gain = carry
        first = number * tile
        along = lax.dynamic_slice_in_dim(lanes.along, first, tile)
        left = lax.dynamic_slice_in_dim(lanes.left, first, tile)
        index = _indices(first, tile)
        gains = along * along / jnp.maximum(left, floor)
        gains = jnp.where((index < places) & (left >= 0), gains, 0)
        most = jnp.max(gains, axis=0)
        # On CPUs XLA vectorises this, but not an argmax.
        here = jnp.min(jnp.where(gains == most, index, len(lanes.along)), axis=0)
        return jnp.where(most > gain, here, best), jnp.maximum(most, gain)

    none = jnp.zeros(places.shape, jnp.int32), jnp.zeros(places.shape, kind)
    found: tuple[jax.Array, jax.Array] = lax.fori_loop(0, tiles, visit, none)
    return found


def _indices(first: jax.Array, tile: int) -> jax.Array:
    return jnp.arange(tile, dtype=jnp.int32)[:, None] + first


def _take(
    queue: Queue, lanes: Lanes, best: jax.Array, gain: jax.Array
) -> tuple[Lanes, jax.Array, jax.Array]:
    """Add each lane's best candidate if it is worth an arc.

    Also returns whether the child of each lane ends, and whether it is cut off.
    """
    capacity = lanes.basis.shape[1]
    variance = jnp.sum(lanes.residual**2, axis=1)
    worth = (variance > NEGLIGIBLE) & (gain > variance * queue.share)
    worth &= (lanes.length < queue.limit) & (lanes.refusals < _REFUSALS)
    is_cut = worth & (lanes.length >= capacity)

    on_path = jnp.arange(capacity) < lanes.length[:, None]
    new = queue.columns[best]
    for _ in range(2):  # a single pass leaves rounding errors along the basis if little is new
        parts = jnp.einsum("lkn,ln->lk", lanes.basis, new, precision=_EXACT)
        parts = jnp.where(on_path, parts, 0)
        new = new - jnp.einsum("lkn,lk->ln", lanes.basis, parts, precision=_EXACT)
    own = jnp.sum(new**2, axis=1)
    new = new * jnp.where(own > 0, lax.rsqrt(jnp.maximum(own, 1e-30)), 0)[:, None]
    loading = jnp.sum(new * lanes.residual, axis=1)
    if own.dtype != jnp.float64:
        is_cut |= worth & ((own < _LITTLE_NEW) | (variance - loading**2 < _LITTLE_LEFT))
    worth &= ~is_cut
    taken = worth & (own > NEGLIGIBLE) & (loading**2 > variance * queue.share)

    column = jnp.where(taken[:, None], new, 0)
    loading = jnp.where(taken, loading, 0)
    lane = jnp.arange(len(best))
    slot = jnp.where(taken, lanes.length, capacity)  # beyond the last: nothing is written
    lanes = lanes._replace(
        basis=lanes.basis.at[lane, slot].set(column, mode="drop"),
        residual=lanes.residual - loading[:, None] * column,
        column=column,
        loading=loading,
        is_new=jnp.zeros_like(lanes.is_new),
        tried=jnp.where(worth, best, -1),
        length=lanes.length + taken,
        refusals=lanes.refusals + (worth & ~taken),
        paths=lanes.paths.at[jnp.where(taken, lanes.row, len(queue.children)), slot].set(
            best, mode="drop"
        ),
    )
    return lanes, ~worth, is_cut


def _end(queue: Queue, lanes: Lanes, ends: jax.Array, is_cut: jax.Array) -> Lanes:
    """Record the finished children, and assign the next children to their lanes."""
    count = len(queue.children)
    capacity = lanes.basis.shape[1]
    length = jnp.where(is_cut, capacity + 1, lanes.length)
    lengths = lanes.lengths.at[jnp.where(ends, lanes.row, count)].set(length, mode="drop")
    taking = ends & (lanes.row < count)
    row = lanes.next_row + jnp.cumsum(taking, dtype=jnp.int32) - 1
    row = jnp.where(taking, jnp.minimum(row, count), lanes.row)
    column = _first_column(queue, row)
    return lanes._replace(
        residual=jnp.where(taking[:, None], column, lanes.residual),
        column=jnp.where(taking[:, None], column, lanes.column),
        is_new=lanes.is_new | taking,
        tried=jnp.where(taking, -1, lanes.tried),
        row=row,
        length=jnp.where(taking, 0, lanes.length),
        refusals=jnp.where(taking, 0, lanes.refusals),
        next_row=jnp.minimum(lanes.next_row + jnp.sum(taking, dtype=jnp.int32), count),
        lengths=lengths,
    )
