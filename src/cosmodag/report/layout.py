"""Layered layout of a DAG: layers from top to bottom, few crossings, all arcs downwards."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import isotonic_regression

from cosmodag.graph.dags import topological_order

_SWEEPS = 12
_BEND = 0.25  # width of an arc in a layer that it passes, in widths of a node
_MOST_BENDS = 30_000  # graphs with more are laid out without bends
_SHARE = 0.5  # largest total width of the arcs that pass a layer, in widths of a full layer
_ASPECT = 1.2  # ratio of width to height of a drawing, in nodes


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of the nodes of a DAG.

    ``x`` increases from left to right, and neighbours in a layer are at least 1 apart. Layers are
    numbered 0, 1, … from the top, and every arc leads to a later layer.
    """

    x: NDArray[np.float64]
    layer: NDArray[np.intp]


def layered_layout(edges: sparse.coo_array) -> Layout:
    """Lay out a DAG in layers by Sugiyama's method, in time about linear in its arcs.

    The number of nodes per layer is limited, so that the drawing is not much wider than high. Arcs
    that pass a layer take some width in it. Within layers, nodes are moved to the mean of their
    neighbours, downwards and upwards in turn, but never closer together than 1: the least-squares
    solution of this problem is an isotonic regression. Nodes without arcs come last.

    >>> chain = sparse.coo_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> layered_layout(chain).layer.tolist()
    [0, 1, 2]
    """
    d = edges.shape[0]
    pattern = sparse.csr_array((np.ones(edges.nnz), (edges.row, edges.col)), shape=(d, d))
    joined = (np.diff(pattern.indptr) + np.bincount(edges.col, minlength=d)) > 0
    most = max(4, math.ceil(math.sqrt(d * _ASPECT)))
    layer = _layers(pattern, joined, most)
    passed = int((layer[edges.col] - layer[edges.row] - 1).sum())
    bent, levels = _with_bends(edges, layer) if passed <= _MOST_BENDS else (pattern, layer)
    rows = [np.flatnonzero(levels == k) for k in range(int(levels.max(initial=-1)) + 1)]
    most_bends = max((np.count_nonzero(row >= d) for row in rows), default=0)
    # All bends of a layer together take at most the width of half a full layer of nodes.
    room = np.where(np.arange(len(levels)) < d, 1.0, min(_BEND, _SHARE * most / max(most_bends, 1)))
    x = np.zeros(len(levels))
    for row in rows:
        x[row] = _without_overlaps(np.zeros(len(row)), room[row])
    above, below = sparse.csr_array(bent.T), bent
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            part = (above if downwards else below)[row]
            counts = np.diff(part.indptr)
            wanted = np.where(counts > 0, (part @ x) / np.maximum(counts, 1), x[row])
            x[row] = _without_overlaps(wanted, room[row])
    x = x[:d]
    return Layout(x - (x.min(initial=0.0) + x.max(initial=0.0)) / 2, layer)


def _with_bends(
    edges: sparse.coo_array, layer: NDArray[np.intp]
) -> tuple[sparse.csr_array, NDArray[np.intp]]:
    """Split arcs by a bend in each layer that they pass, so that every arc joins adjacent layers.

    Returns the arcs between nodes and bends, and the layers of all nodes, then of all bends.
    """
    d = len(layer)
    passed = layer[edges.col] - layer[edges.row] - 1
    last = np.cumsum(passed)
    bends = int(last[-1]) if len(last) else 0
    numbers = np.arange(bends) + d
    arc = np.repeat(np.arange(edges.nnz), passed)
    nth = np.arange(bends) - (last - passed)[arc]
    levels = np.concatenate([layer, layer[edges.row[arc]] + 1 + nth])
    is_first, is_last = nth == 0, nth == passed[arc] - 1
    direct = passed == 0
    tails = [edges.row[direct], edges.row[arc[is_first]], numbers[~is_last], numbers[is_last]]
    heads = [edges.col[direct], numbers[is_first], numbers[~is_first], edges.col[arc[is_last]]]
    places = (np.concatenate(tails), np.concatenate(heads))
    whole = sparse.csr_array((np.ones(len(places[0])), places), shape=(d + bends, d + bends))
    return whole, levels


def _layers(pattern: sparse.csr_array, joined: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Assign each node to the first layer below its parents that has room."""
    d = pattern.shape[0]
    lowest = np.zeros(d, np.intp)
    layer = np.zeros(d, np.intp)
    filled: list[int] = []
    for node in _deepest_first(pattern):
        if not joined[node]:
            continue
        place = int(lowest[node])
        while place < len(filled) and filled[place] >= most:
            place += 1
        filled.extend([0] * (place + 1 - len(filled)))
        filled[place] += 1
        layer[node] = place
        children = pattern.indices[pattern.indptr[node] : pattern.indptr[node + 1]]
        lowest[children] = np.maximum(lowest[children], place + 1)
    _pull_sources_down(pattern, layer, filled, most)
    alone = np.flatnonzero(~joined)
    layer[alone] = len(filled) + np.arange(len(alone)) // most
    return layer


def _deepest_first(pattern: sparse.csr_array) -> NDArray[np.intp]:
    """Sort nodes by decreasing length of the longest path below them: a topological order."""
    order = topological_order(pattern)
    height = np.zeros(len(order), np.intp)
    for node in order[::-1]:
        children = pattern.indices[pattern.indptr[node] : pattern.indptr[node + 1]]
        height[node] = 1 + height[children].max(initial=-1)
    return np.asarray(order[np.argsort(-height[order], kind="stable")])


def _pull_sources_down(
    pattern: sparse.csr_array, layer: NDArray[np.intp], filled: list[int], most: int
) -> None:
    """Move nodes without parents to the layer above their first child, if it has room."""
    has_parents = np.bincount(pattern.indices, minlength=len(layer)) > 0
    for node in np.flatnonzero(~has_parents & (np.diff(pattern.indptr) > 0)):
        children = pattern.indices[pattern.indptr[node] : pattern.indptr[node + 1]]
        place = int(layer[children].min()) - 1
        while place > layer[node] and filled[place] >= most:
            place -= 1
        filled[layer[node]] -= 1
        filled[place] += 1
        layer[node] = place


def _without_overlaps(
    wanted: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find the positions closest to the wanted ones, in the same order and without overlaps."""
    if not len(wanted):
        return wanted
    order = np.argsort(wanted, kind="stable")
    offsets = np.cumsum(room[order]) - room[order] / 2
    moved = np.empty(len(wanted))
    moved[order] = isotonic_regression(wanted[order] - offsets).x + offsets
    return moved
