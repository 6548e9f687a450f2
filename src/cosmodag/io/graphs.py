"""Graphs to and from files: GraphML, GML, DOT, DAGitty, edge list, adjacency matrix and JSON."""

import os
from collections.abc import Callable
from pathlib import Path

from cosmodag.io.digraph import Graph
from cosmodag.io.files import given_file, read_text, write_text
from cosmodag.io.graph_formats.csv_text import (
    dump_adjacency,
    dump_edges,
    is_edge_list,
    parse_adjacency,
    parse_edges,
)
from cosmodag.io.graph_formats.dot_text import dump_dagitty, dump_dot, parse_dot
from cosmodag.io.graph_formats.names import (
    GraphFormat,
    checked_format,
    format_of_path,
    format_of_text,
    graph_suffix,
)
from cosmodag.io.graph_formats.networkx_text import (
    dump_gml,
    dump_graphml,
    dump_json,
    parse_gml,
    parse_graphml,
    parse_json,
)

__all__ = [
    "Graph",
    "GraphFormat",
    "dump_graph",
    "dump_graphml",
    "graph_suffix",
    "read_graph",
    "write_graph",
]


def write_graph(
    graph: Graph, path: str | os.PathLike[str], format: GraphFormat | None = None
) -> None:
    """Write a graph to a file, atomically.

    Parameters
    ----------
    graph : Graph
        The graph; ``Graph(names, weights)`` makes one, ``weights[u, v]`` for the arc u → v.
    path : path-like
        The file to create or replace.
    format : str, optional
        ``"graphml"``, ``"gml"``, ``"dot"``, ``"dagitty"``, ``"edges"``, ``"adjacency"`` or
        ``"json"``; by default from the file extension, an edge list for ``.csv``.

    Raises
    ------
    DataError
        If the format cannot represent a name or an arc of weight zero.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.dot"
    >>> write_graph(Graph(["rain", "wet"], [[0, 0.5], [0, 0]]), path)
    >>> print(path.read_text(), end="")
    digraph {
    "rain"
    "wet"
    "rain" -> "wet" [beta="0.5", label="0.5"]
    }
    >>> read_graph(path).named_arcs()
    [('rain', 'wet', 0.5)]
    """
    dump, _ = _FORMATS[format_of_path(Path(path), format)]
    write_text(path, dump(graph))


def read_graph(path: str | os.PathLike[str], format: GraphFormat | None = None) -> Graph:
    """Read a directed graph from a file.

    Parameters
    ----------
    path : path-like
        A file in one of the formats of `write_graph`, in UTF-8, optionally compressed (``.gz``),
        or ``-`` for standard input, whose format is detected from its beginning.
    format : str, optional
        As for `write_graph`; a ``.csv`` whose first line names both ends of an arc (``source``
        and ``target``, ``cause`` and ``effect``, ``from`` and ``to`` or ``parent`` and ``child``)
        is an edge list, any other an adjacency matrix. The nodes of a square matrix without names
        are called ``x0, x1, …``.

    Returns
    -------
    Graph
        Names and weights; an arc without a weight weighs 1.

    Raises
    ------
    DataError
        If the file cannot be read as a directed graph.
    """
    with given_file(path) as (file, source):
        is_pipe = file != Path(path)  # without a file extension
        unpacked = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        named = checked_format(format) if is_pipe else format_of_path(unpacked, format)
        text = read_text(file, source)
    chosen = named or format_of_text(text)
    if format is None and chosen == "edges" and not is_edge_list(text):
        chosen = "adjacency"
    _, parse = _FORMATS[chosen]
    return parse(text, source)


def dump_graph(graph: Graph, format: GraphFormat) -> str:
    """Write a graph as text in one of the formats of `write_graph`.

    Examples
    --------
    >>> print(dump_graph(Graph(["rain", "wet"], [[0, 0.5], [0, 0]]), "edges"), end="")
    source,target,weight
    rain,wet,0.5
    """
    dump, _ = _FORMATS[checked_format(format) or "edges"]
    return dump(graph)


_FORMATS: dict[str, tuple[Callable[[Graph], str], Callable[[str, str], Graph]]] = {
    "graphml": (dump_graphml, parse_graphml),
    "gml": (dump_gml, parse_gml),
    "dot": (dump_dot, parse_dot),
    "dagitty": (dump_dagitty, parse_dot),
    "edges": (dump_edges, parse_edges),
    "adjacency": (dump_adjacency, parse_adjacency),
    "json": (dump_json, parse_json),
}
