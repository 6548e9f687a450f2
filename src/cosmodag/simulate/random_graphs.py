"""Random directed acyclic graphs, as sparse adjacency matrices.

A graph is a (d, d) `scipy.sparse.csr_array` of Booleans whose entry ``[u, v]`` is the arc u → v.
All randomness comes from the generator that is passed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted

SparseMatrix = Any  # scipy ships no types


def erdos_renyi(nodes: int, edges: int, rng: np.random.Generator) -> SparseMatrix:
    """Draw an Erdős–Rényi directed acyclic graph with exactly `edges` arcs.

    A set of `edges` pairs is drawn uniformly from the d(d−1)/2 possible ones and oriented by a
    uniformly random order of the nodes.

    Parameters
    ----------
    nodes, edges : int
        The numbers of nodes d and of arcs; the paper's ``ERk`` means k·d arcs.
    rng : numpy.random.Generator

    Examples
    --------
    >>> graph = erdos_renyi(30, 120, np.random.default_rng(0))
    >>> graph.shape, graph.nnz
    ((30, 30), 120)
    """
    pairs = nodes * (nodes - 1) // 2
    _check_room(edges, pairs, nodes, "An acyclic graph")
    codes = rng.choice(pairs, size=edges, replace=False, shuffle=False)
    later, earlier = _unrank_pairs(codes)
    return _relabelled(earlier, later, nodes, rng)


def scale_free(nodes: int, attachments: int, rng: np.random.Generator) -> SparseMatrix:
    """Draw a scale-free graph by directed preferential attachment (Barabási and Albert).

    Nodes are added one by one; node i sends an arc to min(i, m) distinct older nodes, each chosen
    with probability proportional to its in-degree plus one. Arcs point new → old, so hubs are
    sinks with many parents. The graph has m·d − m(m+1)/2 arcs.

    Parameters
    ----------
    nodes, attachments : int
        The numbers d of nodes and m of arcs from each new node; the paper's ``SFk`` means m = k.
    rng : numpy.random.Generator

    Examples
    --------
    >>> graph = scale_free(40, 4, np.random.default_rng(0))
    >>> graph.nnz
    150
    """
    if not 1 <= attachments < nodes:
        raise DataError(
            f"A scale-free graph of {counted(nodes, 'node')} needs at least 1 and fewer than "
            f"{nodes} arcs per new node, not {attachments}: change k or d."
        )
    # The urn contains every node once, and once more for each arc it receives, so that a uniform
    # draw is proportional to in-degree plus one. Repeats are drawn again to keep targets distinct.
    urn = [0]
    sources: list[int] = []
    targets: list[int] = []
    for newcomer in range(1, nodes):
        chosen: list[int] = []
        while len(chosen) < min(newcomer, attachments):
            candidate = urn[rng.integers(len(urn))]
            if candidate not in chosen:
                chosen.append(candidate)
        urn.extend(chosen)
        urn.append(newcomer)
        sources.extend([newcomer] * len(chosen))
        targets.extend(chosen)
    return _relabelled(np.array(sources), np.array(targets), nodes, rng)


def bipartite(nodes: int, edges: int, rng: np.random.Generator) -> SparseMatrix:
    """Draw a two-layer graph with exactly `edges` arcs from the first layer to the second.

    As in the NOTEARS generator, the first layer has a fifth of the nodes, rounded down, and all
    sets of `edges` arcs are equally likely.

    Parameters
    ----------
    nodes, edges : int
        The numbers of nodes d and of arcs, of which there are at most ⌊d/5⌋·(d − ⌊d/5⌋).
    rng : numpy.random.Generator

    Examples
    --------
    >>> graph = bipartite(30, 60, np.random.default_rng(0))
    >>> graph.nnz, int((graph.sum(axis=1) > 0).sum()) <= 6
    (60, True)
    """
    top = nodes // 5
    bottom = nodes - top
    _check_room(edges, top * bottom, nodes, "A bipartite graph")
    codes = rng.choice(top * bottom, size=edges, replace=False, shuffle=False)
    return _relabelled(codes // bottom, top + codes % bottom, nodes, rng)


def random_weights(
    graph: SparseMatrix, rng: np.random.Generator, low: float = 0.5, high: float = 2.0
) -> SparseMatrix:
    """Draw a weight for each arc, with magnitude uniform on (low, high) and a random sign.

    The arcs are the non-zero entries of the graph, a dense or sparse matrix. The default range is
    the paper's. The result is a ``csr_array``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> weights = random_weights(erdos_renyi(10, 20, rng), rng)
    >>> bool((abs(weights.data) >= 0.5).all() and (abs(weights.data) <= 2).all())
    True
    """
    # Without a copy, the arrays of indices would be the caller's, and dropping zeros changes them.
    weights = sparse.csr_array(graph, dtype=np.float64, copy=True)
    weights.sum_duplicates()
    weights.eliminate_zeros()
    weights.data = signed_uniform(weights.nnz, rng, low, high)
    return weights


def signed_uniform(
    shape: int | tuple[int, ...], rng: np.random.Generator, low: float = 0.5, high: float = 2.0
) -> NDArray[np.float64]:
    """Draw numbers with magnitudes uniform on (low, high) and random signs."""
    magnitudes = rng.uniform(low, high, size=shape)
    return np.asarray(magnitudes * rng.choice([-1.0, 1.0], size=shape))


def generations(graph: SparseMatrix) -> list[NDArray[np.intp]]:
    """Split the nodes of an acyclic graph into layers whose parents all lie in earlier ones.

    The graph is sparse or dense. The concatenated layers are a topological order.

    >>> [layer.tolist() for layer in generations(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]]))]
    [[0, 1], [2]]
    """
    children = sparse.csr_array(graph != 0)
    nodes = children.shape[0]
    if children.shape != (nodes, nodes):
        raise DataError(
            f"A graph is a square matrix, with the arc u → v at [u, v], not one of shape "
            f"{children.shape}."
        )
    children.eliminate_zeros()
    missing_parents = np.bincount(children.indices, minlength=nodes)
    layers: list[NDArray[np.intp]] = []
    layer = np.flatnonzero(missing_parents == 0)
    while layer.size:
        layers.append(layer)
        reached, arcs = np.unique(children[layer].indices, return_counts=True)
        missing_parents[reached] -= arcs
        layer = reached[missing_parents[reached] == 0].astype(np.intp)
    if sum(layer.size for layer in layers) < nodes:
        raise DataError("The graph has a cycle, so it has no causal order: remove the cycle first.")
    return layers


def _unrank_pairs(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Map 0, 1, 2, … to the pairs (1, 0), (2, 0), (2, 1), (3, 0), … below the diagonal."""
    row = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    # The square root is rounded, so the row may be off by one either way for large codes.
    row -= row * (row - 1) // 2 > codes
    row += row * (row + 1) // 2 <= codes
    return row, codes - row * (row - 1) // 2


def _relabelled(
    sources: NDArray[np.int64], targets: NDArray[np.int64], nodes: int, rng: np.random.Generator
) -> SparseMatrix:
    """Build the adjacency matrix after a uniformly random permutation of the nodes."""
    label = rng.permutation(nodes)
    arcs = (label[sources], label[targets])
    graph = sparse.csr_array((np.ones(len(sources), dtype=np.bool_), arcs), shape=(nodes, nodes))
    graph.sort_indices()
    return graph


def _check_room(edges: int, room: int, nodes: int, kind: str) -> None:
    if nodes < 0:
        raise DataError(f"{kind} needs a number of nodes of at least 0, not {nodes}.")
    if not 0 <= edges <= room:
        raise DataError(
            f"{kind} of {counted(nodes, 'node')} has room for {counted(room, 'arc')}, not {edges}: "
            "use more nodes or fewer arcs."
        )
