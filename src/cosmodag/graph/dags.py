"""Directed acyclic graphs as matrices: acyclicity test, orders, thresholding, removal of cycles.

An arc u → v is a non-zero entry ``matrix[u, v]``. Matrices are dense (anything NumPy can read) or
sparse (any SciPy format); results are dense for dense and CSR for sparse input. Arguments are not
modified.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from cosmodag.errors import DataError

Matrix: TypeAlias = Any
"""A (d, d) array or SciPy sparse matrix."""

DENSE_LIMIT = 5_000
"""Largest number of variables for which graphs are dense matrices; larger ones are sparse."""

# Bits per word in the table of reachable vertices, and arcs that are tested at a time.
_WORD, _CHUNK = 64, 1024


class _Arcs(NamedTuple):
    """The non-zero entries of a (d, d) matrix, row by row."""

    d: int
    tails: NDArray[np.intp]
    heads: NDArray[np.intp]
    weights: NDArray[Any]


def is_dag(adjacency: Matrix) -> bool:
    """Whether a directed graph has no cycle; a loop u → u is a cycle.

    A graph is a DAG if every strongly connected component is a single vertex without a loop. The
    components are found in time linear in the numbers of vertices and arcs.

    >>> is_dag([[0, 1], [0, 0]])
    True
    >>> is_dag([[0, 1], [1, 0]])
    False
    """
    arcs = _arcs_of(adjacency)
    if np.any(arcs.tails == arcs.heads):
        return False
    return bool(_components(arcs).max(initial=-1) + 1 == arcs.d)


def topological_order(adjacency: Matrix) -> NDArray[np.intp]:
    """Order the vertices of a DAG so that every arc points forward.

    Kahn's algorithm, with ties broken by the lowest index, so that the order depends only on the
    graph. A `DataError` is raised if the graph has a cycle.

    >>> topological_order([[0, 0, 0], [1, 0, 0], [1, 1, 0]]).tolist()
    [2, 1, 0]
    """
    arcs = _arcs_of(adjacency)
    starts = np.searchsorted(arcs.tails, np.arange(arcs.d + 1))
    waiting_for = np.bincount(arcs.heads, minlength=arcs.d)
    ready: list[int] = np.flatnonzero(waiting_for == 0).tolist()
    order = []
    while ready:
        vertex = heapq.heappop(ready)
        order.append(vertex)
        children = arcs.heads[starts[vertex] : starts[vertex + 1]]
        waiting_for[children] -= 1
        for child in children[waiting_for[children] == 0].tolist():
            heapq.heappush(ready, child)
    if len(order) < arcs.d:
        raise DataError(
            f"The graph has no topological order, because {arcs.d - len(order)} of its {arcs.d} "
            "vertices lie on a cycle or downstream of one: drop arcs first, for instance with "
            "drop_cycles."
        )
    return np.asarray(order, dtype=np.intp)


def order_of(priorities: ArrayLike) -> NDArray[np.intp]:
    """Causal order of a priority vector: causes (low p) first, ties by index.

    This total order refines the partial order of Equation 2 of the paper for every shift ε.

    >>> order_of([0.3, -1.0, 0.3]).tolist()
    [1, 0, 2]
    """
    return np.argsort(np.asarray(priorities), kind="stable")


def agreeing(weights: Matrix, order: ArrayLike) -> Matrix:
    """Keep only the arcs that point forward in an order (causes first); the result is a DAG.

    >>> agreeing([[5, 1], [2, 5]], order=[1, 0]).tolist()
    [[0, 0], [2, 0]]
    """
    weights = _square(weights)
    positions = _positions(order, weights.shape[0])
    if not sparse.issparse(weights):
        return _where(positions[:, None] < positions, weights)
    arcs = _arcs_of(weights)
    return _keep(weights, arcs, positions[arcs.tails] < positions[arcs.heads])


def above(weights: Matrix, threshold: float) -> Matrix:
    """Keep only the arcs whose absolute weight exceeds a threshold.

    >>> above([[0, -0.5], [0.3, 0]], threshold=0.3).tolist()
    [[0.0, -0.5], [0.0, 0.0]]
    """
    weights = _square(weights)
    if not sparse.issparse(weights):
        return _where((weights > threshold) | (weights < -threshold), weights)
    arcs = _arcs_of(weights)
    return _keep(weights, arcs, np.abs(arcs.weights) > threshold)


def drop_cycles(weights: Matrix) -> tuple[Matrix, int]:
    """Make a graph acyclic: insert arcs by decreasing weight, skipping those that close a cycle.

    Arcs are sorted by absolute weight, with ties broken by index, row by row. An arc between two
    strongly connected components lies on no cycle and is always kept. Within a component, a row of
    bits per vertex stores the vertices that it reaches, so that one bit decides about an arc.

    Returns the weights of the arcs that were kept, and the number of dropped arcs, including loops
    u → u.

    >>> acyclic, n_dropped = drop_cycles([[0, 3, 0], [0, 0, -2], [1, 0, 0]])
    >>> acyclic.tolist(), n_dropped
    ([[0, 3, 0], [0, 0, -2], [0, 0, 0]], 1)
    """
    arcs = _arcs_of(weights)
    component = _components(arcs)
    contested = component[arcs.tails] == component[arcs.heads]
    keep = ~contested
    strongest_first = np.argsort(-np.abs(arcs.weights[contested]), kind="stable")
    candidates = np.flatnonzero(contested)[strongest_first]
    keep[candidates] = _insert(arcs.tails[candidates], arcs.heads[candidates])
    return _keep(weights, arcs, keep), int(np.count_nonzero(~keep))


def _insert(tails: NDArray[np.intp], heads: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Insert arcs one after another unless they close a cycle; mark the inserted ones."""
    vertices, renamed = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    tails, heads = np.split(renamed, 2)
    # Without arcs, a vertex reaches only itself: row u has bit u set.
    reaches = np.zeros((len(vertices), -(-len(vertices) // _WORD)), dtype=np.uint64)
    rows = np.arange(len(vertices))
    reaches[rows, rows // _WORD] = np.uint64(1) << (rows % _WORD).astype(np.uint64)
    inserted = np.ones(len(tails), dtype=bool)
    for start in range(0, len(tails), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        # Reachability only grows: an arc that at the start of the chunk closes a cycle, or makes no
        # further vertex reachable, still does so when its turn comes.
        inserted[chunk] = ~_bits(reaches, heads[chunk], tails[chunk])
        is_undecided = inserted[chunk] & ~_bits(reaches, tails[chunk], heads[chunk])
        for index in (start + np.flatnonzero(is_undecided)).tolist():
            inserted[index] = _insert_one(reaches, tails[index], heads[index])
    return inserted


def _insert_one(reaches: NDArray[np.uint64], tail: np.intp, head: np.intp) -> bool:
    if _bits(reaches, head, tail):
        return False
    every = slice(None)
    grows = _bits(reaches, every, tail) & ~_bits(reaches, every, head)
    reaches[grows] |= reaches[head]
    return True


def _bits(words: NDArray[np.uint64], row: Any, position: Any) -> Any:
    shift = (position % _WORD).astype(np.uint64)
    return (words[row, position // _WORD] >> shift & np.uint64(1)).astype(bool)


def _components(arcs: _Arcs) -> NDArray[np.int32]:
    """Strongly connected component of each vertex."""
    ones = np.ones(len(arcs.tails))
    graph = sparse.csr_array((ones, (arcs.tails, arcs.heads)), shape=(arcs.d, arcs.d))
    return connected_components(graph, directed=True, connection="strong")[1]


def _square(matrix: Matrix) -> Matrix:
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"A graph must be a square matrix, but this one has shape {matrix.shape}.")
    return matrix


def _arcs_of(matrix: Matrix) -> _Arcs:
    matrix = _square(matrix)
    if sparse.issparse(matrix):
        rows = sparse.csr_array(matrix, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        entries = rows.tocoo()
        tails, heads = entries.row.astype(np.intp), entries.col.astype(np.intp)
        return _Arcs(matrix.shape[0], tails, heads, entries.data)
    tails, heads = np.nonzero(matrix)
    return _Arcs(matrix.shape[0], tails, heads, matrix[tails, heads])


def _keep(matrix: Matrix, arcs: _Arcs, keep: NDArray[np.bool_]) -> Matrix:
    where = (arcs.tails[keep], arcs.heads[keep])
    if sparse.issparse(matrix):
        return sparse.csr_array((arcs.weights[keep], where), shape=(arcs.d, arcs.d))
    kept = np.zeros((arcs.d, arcs.d), dtype=arcs.weights.dtype)
    kept[where] = arcs.weights[keep]
    return kept


def _where(keep: NDArray[np.bool_], weights: NDArray[Any]) -> NDArray[Any]:
    """Keep some entries of a dense matrix: a mask takes a tenth of the time of lists of arcs."""
    kept = np.zeros_like(weights)
    np.copyto(kept, weights, where=keep)
    return kept


def _positions(order: ArrayLike, d: int) -> NDArray[np.intp]:
    order = np.asarray(order)
    if order.shape != (d,) or not np.array_equal(np.sort(order), np.arange(d)):
        raise DataError(
            f"An order of {d} vertices must list each of 0 … {d - 1} exactly once; the given one, "
            f"of shape {order.shape}, does not."
        )
    return np.argsort(order)


def respecting(order: ArrayLike, before: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Rearrange an order so that u comes before v wherever ``before[u, v]``.

    The next variable is the earliest, in the given order, of those that may come next.

    >>> before = np.zeros((3, 3), bool)
    >>> before[2, 0] = True
    >>> respecting([0, 1, 2], before).tolist()
    [1, 2, 0]
    """
    given = np.array(order, np.int64)
    return given if before is None else given[topological_order(before[np.ix_(given, given)])]
