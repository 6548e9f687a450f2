"""Layers of a DAG for pictures without the page: causes above effects, and few crossings."""

import math
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_SWEEPS = 12
_ASPECT = 1.2  # ratio of width to height of a drawing, in nodes


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of the nodes of a DAG.

    ``x`` increases from left to right, and neighbours in a layer are 1 apart. Layers are numbered
    0, 1, … from the top, and every arc leads to a later layer.
    """

    x: NDArray[np.float64]
    layer: NDArray[np.intp]


def layered_layout(edges: sparse.coo_array) -> Layout:
    """Place the nodes of a DAG in rows, each node near the mean of its neighbours.

    Rows are the generations of the graph, divided where they are wide, and nodes without arcs come
    last. Each row is sorted by the mean place of the neighbours above, or below, in turn.

    >>> chain = sparse.coo_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> layered_layout(chain).layer.tolist()
    [0, 1, 2]
    """
    d = edges.shape[0]
    joined = nx.DiGraph(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    alone = np.setdiff1d(np.arange(d), np.array(joined.nodes, int))
    most = max(4, math.ceil(math.sqrt(d * _ASPECT)))
    generations = [np.array(nodes) for nodes in nx.topological_generations(joined)]
    rows = [
        nodes[first : first + most]
        for nodes in (*generations, alone)
        for first in range(0, len(nodes), most)
    ]
    x, layer = np.zeros(d), np.zeros(d, np.intp)
    for place, row in enumerate(rows):
        layer[row] = place
        _set_side_by_side(x, row, np.arange(len(row)) - (len(row) - 1) / 2)
    below = sparse.csr_array((np.ones(edges.nnz), (edges.row, edges.col)), shape=(d, d))
    above = sparse.csr_array(below.T)
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        for row in rows if is_down else reversed(rows):
            near = (above if is_down else below)[row]
            counts = np.diff(near.indptr)
            means = near @ x / np.maximum(counts, 1)
            _set_side_by_side(x, row, np.where(counts > 0, means, x[row]))
    return Layout(x - (x.min(initial=0.0) + x.max(initial=0.0)) / 2, layer)


def _set_side_by_side(
    x: NDArray[np.float64], row: NDArray[np.intp], wanted: NDArray[np.floating]
) -> None:
    """Set the places of a row 1 apart, in the order of the wanted ones and around their mean."""
    order = np.argsort(wanted, kind="stable")
    x[row[order]] = np.arange(len(row)) - (len(row) - 1) / 2 + wanted.mean()
