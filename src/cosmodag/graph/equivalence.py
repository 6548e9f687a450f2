"""Markov equivalence: which arrows of a DAG the distribution alone could have told.

DAGs that imply the same conditional independences form a class. Data without interventions, and
without assumptions on the mechanisms, can tell classes apart but not the DAGs within one. Matrices
are dense or SciPy sparse; what comes back is dense for dense and CSR for sparse.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.dags import Matrix, topological_order

__all__ = ["class_distance", "compelled", "essential_graph"]


def essential_graph(adjacency: Matrix) -> "NDArray[np.bool_] | sparse.csr_array":
    """Essential graph (CPDAG) of the DAGs that imply the same conditional independences.

    An arc of the DAG is *compelled* when every equivalent DAG has it, and *reversible* otherwise.

    Parameters
    ----------
    adjacency : (d, d) array or sparse matrix
        A DAG; any non-zero entry [u, v] is the arc u → v.

    Returns
    -------
    (d, d) array of bool, or csr_array of bool for a sparse DAG
        True at [u, v] alone for a compelled arc u → v, at [u, v] and [v, u] for a reversible one.

    Examples
    --------
    A collider is compelled, a chain is not:

    >>> essential_graph(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> essential_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    arcs = _by_head(adjacency)
    reversible = _pattern(arcs, ~_label(arcs))
    return _like(adjacency, _pattern(arcs, np.ones(arcs.nnz, np.bool_)) + reversible.T)


def compelled(adjacency: Matrix) -> "NDArray[np.bool_] | sparse.csr_array":
    """Arcs of a DAG that every DAG with the same conditional independences has.

    Parameters
    ----------
    adjacency : (d, d) array or sparse matrix
        A DAG; any non-zero entry [u, v] is the arc u → v.

    Returns
    -------
    (d, d) array of bool, or csr_array of bool for a sparse DAG
        True at [u, v] for a compelled arc u → v.

    Examples
    --------
    The collider 0 → 2 ← 1 compels its own arcs and the one that follows, 2 → 3:

    >>> int(compelled([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]).sum())
    3
    >>> bool(compelled([[0, 1], [0, 0]]).any())
    False
    """
    arcs = _by_head(adjacency)
    return _like(adjacency, _pattern(arcs, _label(arcs)))


def class_distance(first: Matrix, second: Matrix) -> int:
    """Structural Hamming distance between the essential graphs of two DAGs.

    One for each pair of nodes whose mark differs: not joined, joined by a reversible arc, or by a
    compelled arc one way or the other. It is zero exactly when the DAGs are equivalent.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> class_distance(chain, chain.T)
    0
    >>> class_distance(chain, [[0, 1, 0], [0, 0, 0], [0, 1, 0]])  # a collider
    2
    """
    classes = [sparse.csr_array(essential_graph(graph)) for graph in (first, second)]
    if classes[0].shape != classes[1].shape:
        raise DataError(
            f"The graphs have shapes {classes[0].shape} and {classes[1].shape}: compare graphs of "
            "the same variables."
        )
    differs = classes[0] != classes[1]
    return int((differs + differs.T).nnz) // 2


def _by_head(adjacency: Matrix) -> sparse.csc_array:
    """Arcs grouped by head: the parents of v are ``indices[indptr[v]:indptr[v + 1]]``."""
    arcs = adjacency if sparse.issparse(adjacency) else np.asarray(adjacency)
    arcs = sparse.csc_array(arcs, copy=True)
    arcs.sum_duplicates()
    arcs.eliminate_zeros()
    return arcs


def _label(arcs: sparse.csc_array) -> NDArray[np.bool_]:
    """Tell for each stored arc whether it is compelled, in time linear in vertices and arcs.

    Chickering (1995) labels arcs head by head in topological order, for one head the arcs from
    the latest tails first. The arc from the latest parent x into v settles all arcs into v: all are
    compelled if one into x is compelled from a node that is no parent of v, or if v has another
    parent that is none of x; otherwise exactly those are whose tail is compelled into x.
    """
    order = topological_order(arcs)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    is_compelled = np.zeros(arcs.nnz, np.bool_)
    marked = np.zeros(len(order), np.bool_)
    for head in order:
        into_head = slice(arcs.indptr[head], arcs.indptr[head + 1])
        parents = arcs.indices[into_head]
        if not len(parents):
            continue
        latest = parents[place[parents].argmax()]
        into_latest = slice(arcs.indptr[latest], arcs.indptr[latest + 1])
        grandparents = arcs.indices[into_latest]
        upstream = grandparents[is_compelled[into_latest]]
        others = parents[parents != latest]
        if _contains(marked, parents, upstream) and _contains(marked, grandparents, others):
            is_compelled[into_head] = _among(marked, upstream, parents)
        else:
            is_compelled[into_head] = True
    return is_compelled


def _contains(marked: NDArray[np.bool_], whole: NDArray[Any], part: NDArray[Any]) -> bool:
    return bool(_among(marked, whole, part).all())


def _among(marked: NDArray[np.bool_], whole: NDArray[Any], part: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which vertices of a part are in a whole; ``marked`` is blank paper, left blank."""
    marked[whole] = True
    found: NDArray[np.bool_] = marked[part]
    marked[whole] = False
    return found


def _pattern(arcs: sparse.csc_array, keep: NDArray[np.bool_]) -> sparse.csr_array:
    """Arcs that are to be kept, as a Boolean matrix."""
    heads = np.repeat(np.arange(arcs.shape[1]), np.diff(arcs.indptr))
    ones = np.ones(int(keep.sum()), np.bool_)
    return sparse.csr_array((ones, (arcs.indices[keep], heads[keep])), shape=arcs.shape)


def _like(adjacency: Matrix, found: sparse.csr_array) -> "NDArray[np.bool_] | sparse.csr_array":
    return found if sparse.issparse(adjacency) else found.toarray()
