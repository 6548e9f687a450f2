"""Checks of graphs and matrices to be scored, and matching of their variables."""

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.texts import counted
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.read_graph import as_graph, is_model

Matrix = Any  # an array, a data frame or any SciPy sparse matrix
Nodes = NDArray[np.int64]


class Labelled(NamedTuple):
    """A checked matrix, dense or CSR, and the names of its variables, or None."""

    matrix: Matrix
    names: list[Hashable] | None


def labelled_matrix(matrix: Matrix, label: str) -> Labelled:
    """Check a matrix, and read the names of its variables from the labels of a data frame.

    Columns are reordered to match the rows. If only the rows are numbered 0, 1, …, the names are
    those of the columns; if the columns are numbered, there are no names.
    """
    names: list[Hashable] | None = None
    if hasattr(matrix, "columns"):
        columns = list(getattr(matrix, "column_names", matrix.columns))  # Arrow has both
        rows = list(getattr(matrix, "index", columns))
        matrix = np.asarray(matrix)
        numbers: list[Hashable] = list(range(len(rows)))
        if columns != numbers:
            names = columns if rows == numbers else rows
            matrix = _square(matrix, label)[
                :, _places(columns, names, f"The columns of the {label}")
            ]
    return Labelled(_square(matrix, label), names)


def aligned_matrix(truth: Labelled, estimate: Labelled) -> Matrix:
    """Return the estimate with its variables in the order of the truth, if both have names."""
    if truth.matrix.shape != estimate.matrix.shape:
        raise DataError(
            f"The truth has shape {truth.matrix.shape} and the weights {estimate.matrix.shape}: "
            "score an estimate of the same variables."
        )
    if truth.names is None or estimate.names is None or truth.names == estimate.names:
        return estimate.matrix
    places = _places(estimate.names, truth.names, "The rows of the weights")
    return estimate.matrix[places][:, places]


def _places(given: Sequence[Hashable], wanted: Sequence[Hashable], what: str) -> Nodes:
    """Return the position of each wanted name among the given ones."""
    place = {name: index for index, name in enumerate(given)}
    unknown = [name for name in wanted if name not in place]
    if unknown or len(place) < len(given):
        missing = f"{unknown[0]!r} is missing" if unknown else "a name is repeated"
        raise DataError(
            f"{what} do not have the labels of the rows they are compared with ({missing}): give "
            "both the same names, each once."
        )
    return np.array([place[name] for name in wanted], dtype=np.int64)


def _square(matrix: Matrix, label: str) -> Matrix:
    is_sparse = sparse.issparse(matrix)
    if not is_sparse:
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise DataError(f"The {label} must be a square matrix, but its shape is {matrix.shape}.")
    if matrix.dtype.kind not in "buif":
        raise DataError(f"Entries of the {label} must be real numbers, not {matrix.dtype}.")
    entries = matrix.data if is_sparse else matrix
    if matrix.dtype.kind == "f" and not np.all(np.isfinite(entries)):
        raise DataError(f"Entries of the {label} are not finite: replace them by numbers.")
    if not is_sparse:
        return matrix
    rows = sparse.csr_array(matrix)
    if not rows.has_canonical_format:  # an entry may be stored as several that add up
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def arcs_of(graph: Matrix) -> tuple[Nodes, Nodes]:
    """Return the tails and heads of the non-zero entries."""
    tails, heads = graph.nonzero()
    return tails.astype(np.int64), heads.astype(np.int64)


def stored_entries(weights: sparse.csr_array) -> sparse.csr_array:
    """Mark the stored entries of a sparse matrix, which may be zero."""
    marked = np.ones(weights.nnz, np.bool_)
    return sparse.csr_array((marked, weights.indices, weights.indptr), shape=weights.shape)


def is_graph(thing: Any) -> bool:
    """Whether the argument is a graph (a model, a path, a networkx graph), not a matrix."""
    kinds = isinstance(thing, Graph | str | os.PathLike)
    return kinds or is_model(thing) or hasattr(thing, "is_directed")


def matched_graphs(
    truth: Any, estimate: Any, labels: tuple[str, str] = ("the truth", "the estimate")
) -> tuple[Graph, Graph, str]:
    """Convert two graphs so that they have the same nodes in the same order.

    A node that only the larger one has is isolated in the other. The nodes of a matrix without
    names are x0, x1, … if the other graph has these names, in whatever order, and otherwise those
    of the other graph, by position. Messages name the graphs by `labels`. Both results are sparse,
    and every arc of the truth has weight 1. The third result is a note about nodes that one of them
    does not mention; it is empty if there are none.
    """
    true_graph, graph = _named_alike(as_graph(truth), as_graph(estimate))
    names, note = _common_names(true_graph, graph, labels)
    true_graph, graph = true_graph.aligned(names), graph.aligned(names)
    sources, targets, _ = true_graph.arcs()  # the weight of a true arc may be zero
    return Graph.from_arcs(names, sources, targets, np.ones(len(sources))), graph, note


def _named_alike(true_graph: Graph, graph: Graph) -> tuple[Graph, Graph]:
    """Copy names to a nameless graph from the other one, if both have the same size."""
    one, other = set(true_graph.names), set(graph.names)
    if one != other and len(one) == len(other):
        if _is_nameless(graph):
            return true_graph, replace(graph, names=true_graph.names)
        if _is_nameless(true_graph):
            return replace(true_graph, names=graph.names), graph
    return true_graph, graph


def _is_nameless(graph: Graph) -> bool:
    """Whether the names are x0, x1, …, the default for a matrix without names."""
    return list(graph.names) == [f"x{index}" for index in range(len(graph.names))]


def _common_names(
    true_graph: Graph, graph: Graph, labels: tuple[str, str]
) -> tuple[list[str], str]:
    """Return the names of the larger graph, which must include all names of the other."""
    wider, narrower = (true_graph, labels[0]), (graph, labels[1])
    if len(graph.names) > len(true_graph.names):
        wider, narrower = narrower, wider
    known = set(wider[0].names)
    stray = [name for name in narrower[0].names if name not in known]
    if stray and (_is_nameless(narrower[0]) or _is_nameless(wider[0])):
        raise DataError(
            f"{labels[0]} has {counted(len(true_graph.names), 'node')} and {labels[1]} "
            f"{len(graph.names)}, and one of them has no names: use the same nodes in both, or "
            "name the nodes of both."
        )
    if stray:
        raise DataError(
            f"{narrower[1]} has the node {stray[0]!r}, which {wider[1]} lacks: make the names "
            "agree, or list the node without arcs in that file."
        )
    isolated = len(known) - len(narrower[0].names)
    note = f"{narrower[1]} does not mention {isolated} of the {len(known)} nodes."
    return list(wider[0].names), note if isolated else ""
