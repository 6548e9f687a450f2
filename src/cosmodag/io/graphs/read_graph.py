"""Graphs from files, models, networkx graphs, matrices and tables of arcs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.graph.texts import GraphFormat, counted
from cosmodag.io.columns.names import numbered_names
from cosmodag.io.files import read_model, read_text
from cosmodag.io.files.reading import check_file, given_file
from cosmodag.io.graphs.digraph import Graph, from_networkx, graph_from_names
from cosmodag.io.graphs.formats import TEXTS, checked_format, format_of_path, format_of_text
from cosmodag.io.graphs.formats.csv_text import END_NAMES, is_edge_list

_GRAPH_OF_FIT = "graph.graphml"

GraphLike = Any
"""A `Graph`, a fitted model, a ``networkx.DiGraph``, a DoWhy model, a square matrix, a table of
arcs (``model.arcs_``), a mapping of nodes to their parents, a text, or the path of a file or of a
folder that ``cosmodag fit`` wrote."""


def read_graph(path: str | os.PathLike[str], format: GraphFormat | None = None) -> Graph:
    """Read a directed graph from a file, or from the folder of a fit.

    Parameters
    ----------
    path : path-like
        A file in one of the formats of `write_graph` that hold a directed graph, in UTF-8,
        optionally compressed (``.gz``); a saved model (``.safetensors``); a folder that
        ``cosmodag fit`` wrote; or ``-`` for standard input, whose format is detected from its
        beginning.
    format : str, optional
        As for `write_graph`. A ``.csv`` whose first line names both ends of an arc (``source``
        and ``target``, ``cause`` and ``effect``, ``from`` and ``to`` or ``parent`` and ``child``)
        is an edge list; any other is an adjacency matrix. The nodes of a square matrix without
        names are called ``x0, x1, …``.

    Returns
    -------
    Graph
        Names and weights; an arc without a weight weighs 1.

    Raises
    ------
    DataError
        If the file cannot be read as a directed graph.
    """
    if format is None and Path(path).is_dir():
        if not (Path(path) / _GRAPH_OF_FIT).is_file():
            raise DataError(
                f"'{path}' holds no {_GRAPH_OF_FIT}: give the folder that 'cosmodag fit' wrote to, "
                "or a file."
            )
        return read_graph(Path(path) / _GRAPH_OF_FIT)
    if format is None and Path(path).suffix.lower() == ".safetensors":
        return _graph_of_model(Path(path))
    with given_file(path) as (file, source):
        check_file(file, source)
        is_pipe = file != Path(path)  # without a file extension
        unpacked = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        named = checked_format(format) if is_pipe else format_of_path(unpacked, format)
        if named is not None and named not in TEXTS:  # a picture, or edges without a direction
            raise DataError(
                f"{source} holds a graph as {named}, which cannot be read as a directed graph: "
                f"give one of {', '.join(TEXTS)}."
            )
        text = read_text(file, source)
    if format is None and named == "tetrad" and format_of_text(text) != "edges":
        named = None  # a .txt file may hold any format that is known by its beginning
    return _parsed(text, source, named, is_named=format is not None)


def _parsed(text: str, source: str, format: str | None = None, *, is_named: bool = False) -> Graph:
    """Read a text, whose format is detected from its beginning if it is not known."""
    chosen = format or format_of_text(text)
    if not is_named and chosen == "edges" and not is_edge_list(text):
        chosen = "adjacency"
    return TEXTS[chosen][0](text, source)


def _graph_of_model(path: Path) -> Graph:
    """Read the names and weights of a saved model, without importing its learner."""
    arrays, facts = read_model(path)
    try:
        d, listed = len(arrays["order"]), facts["names"]
        names = numbered_names(d) if listed is None else list(map(str, listed))
        if "adjacency_" in arrays:
            return Graph(names, arrays["adjacency_"])
        places = (arrays["adjacency_.tails"], arrays["adjacency_.heads"])
        return Graph(names, sparse.csr_array((arrays["adjacency_.data"], places), shape=(d, d)))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from error


def as_graph(graph: GraphLike) -> Graph:
    """Convert a graph of any supported type to a `Graph`.

    Parameters
    ----------
    graph : object
        A `Graph`; a fitted model; a ``networkx.DiGraph`` (graphs of pgmpy are), or a DoWhy model
        that has one; a mapping of nodes to lists of their parents; a text such as
        ``"dag { rain -> wet }"`` (DAGitty, DOT, JSON, …); a square array, data
        frame or sparse matrix of weights, u → v at [u, v]; a data frame of arcs such as
        ``model.arcs_``; or the path of a file that `read_graph` reads,
        or of a folder that ``cosmodag fit`` wrote.

    Returns
    -------
    Graph
        Nodes without names are called ``x0, x1, …``.

    Raises
    ------
    DataError
        If ``graph`` is none of these, or has edges without a direction.

    Examples
    --------
    >>> import networkx as nx
    >>> as_graph(nx.DiGraph([("rain", "wet")])).named_arcs()
    [('rain', 'wet', 1.0)]
    >>> as_graph([[0, 2.0], [0, 0]]).named_arcs()
    [('x0', 'x1', 2.0)]
    >>> as_graph({"wet": ["rain"]}) == as_graph("dag { wet rain -> wet }")
    True
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, Mapping):
        return _of_parents(graph)
    if isinstance(graph, str) and ("{" in graph or "\n" in graph):
        return _parsed(graph, "the text of the graph")
    if isinstance(graph, str | os.PathLike):
        return read_graph(graph)
    if is_model(graph):
        edges = graph.edges_  # a model that is not fitted raises ``NotFittedError`` here
        return Graph(graph.fitted_.texts, sparse.csr_array(edges))
    for held in (graph, getattr(graph, "graph", None)):
        if hasattr(held, "is_directed"):
            return from_networkx(held)
    if hasattr(graph, "undirected") or hasattr(graph, "marks"):
        raise DataError(
            f"a {type(graph).__name__} may have edges without a direction: give the fitted model "
            "or a directed graph, or write it with write_graph to a .txt, .dot or .graphml file."
        )
    if hasattr(graph, "columns"):
        return _of_frame(graph)
    if sparse.issparse(graph) or isinstance(graph, np.ndarray | list | tuple):
        matrix = graph if sparse.issparse(graph) else np.asarray(graph)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise DataError(f"a matrix of weights is square, not of shape {matrix.shape}.")
        return Graph(numbered_names(matrix.shape[0]), matrix)
    raise DataError(
        f"an object of type {type(graph).__name__} is not a graph: give a fitted model, a "
        "networkx.DiGraph, a square matrix of weights, a file, or the folder of a fit."
    )


def arcs_among(graph: GraphLike, names: Sequence[str]) -> NDArray[np.bool_]:
    """Mark the arcs of a graph between named columns of a table: (d, d).

    A graph without names, such as an array, has the order of the columns.
    """
    found = as_graph(graph)
    is_matrix = sparse.issparse(graph) or isinstance(graph, np.ndarray | list | tuple)
    is_named = list(found.names) != numbered_names(len(found.names))
    if is_named or (not is_matrix and set(found.names) <= set(names)):
        return found.aligned(names).mask()
    if len(found.names) != len(names):
        raise DataError(
            f"The graph has {counted(len(found.names), 'node')} without names, but the table has "
            f"{counted(len(names), 'column')}: give one node for each."
        )
    return found.mask()


def is_model(graph: GraphLike) -> bool:
    """Whether an object is a learner, fitted or not."""
    return hasattr(type(graph), "edges_") and hasattr(type(graph), "arrow_basis_")


def _of_parents(parents: Mapping[Any, Any]) -> Graph:
    """Convert a mapping of nodes to their parents."""
    arcs = []
    for node, causes in parents.items():
        if isinstance(causes, str) or not isinstance(causes, Iterable):
            raise DataError(
                f"the parents of {node!r} are {causes!r}: give a list, such as {{{node!r}: ['a']}}."
            )
        arcs += [(str(cause), str(node), 1.0) for cause in causes]
    ends = [name for cause, node, _ in arcs for name in (node, cause)]
    return graph_from_names(list(dict.fromkeys([*map(str, parents), *ends])), arcs, "the mapping")


def _of_frame(frame: Any) -> Graph:
    """Convert a data frame: a list of arcs, or a square matrix with names along both axes."""
    columns = [str(name) for name in frame.columns]
    for cause, effect in END_NAMES:
        if cause in columns and effect in columns:
            ends = [list(map(str, np.asarray(frame[end]))) for end in (cause, effect)]
            weights = np.asarray(frame["weight"]) if "weight" in frame else np.ones(len(ends[0]))
            arcs = list(zip(*ends, weights.tolist(), strict=True))
            nodes = list(dict.fromkeys(name for *pair, _ in arcs for name in pair))
            return graph_from_names(nodes, arcs, "the data frame")
    rows = [str(name) for name in getattr(frame, "index", columns)]
    numbers = [str(place) for place in range(len(rows))]
    if len(rows) != len(columns) or rows not in (columns, numbers):
        raise DataError(
            "a data frame is a graph if its rows and columns have the same names in the same "
            "order, or if its columns 'cause' and 'effect' list arcs."
        )
    names = numbered_names(len(columns)) if columns == numbers else columns
    return Graph(names, np.asarray(frame))
