"""Graphs to and from files: GraphML, GML, DOT, DAGitty, edge list, adjacency matrix and JSON."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cosmodag.errors import DataError
from cosmodag.io.digraph import Graph
from cosmodag.io.files import read_text, write_text
from cosmodag.io.graph_csv import (
    dump_adjacency,
    dump_edges,
    is_edge_list,
    parse_adjacency,
    parse_edges,
)
from cosmodag.io.graph_dot import dump_dagitty, dump_dot, parse_dot
from cosmodag.io.graph_networkx import (
    dump_gml,
    dump_graphml,
    dump_json,
    parse_gml,
    parse_graphml,
    parse_json,
)

__all__ = ["Graph", "GraphFormat", "read_graph", "write_graph"]

GraphFormat = Literal["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json"]

_FORMATS: dict[str, tuple[Callable[[Graph], str], Callable[[str, str], Graph]]] = {
    "graphml": (dump_graphml, parse_graphml),
    "gml": (dump_gml, parse_gml),
    "dot": (dump_dot, parse_dot),
    "dagitty": (dump_dagitty, parse_dot),
    "edges": (dump_edges, parse_edges),
    "adjacency": (dump_adjacency, parse_adjacency),
    "json": (dump_json, parse_json),
}
_SUFFIXES = {
    ".graphml": "graphml",
    ".gml": "gml",
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".csv": "edges",
    ".json": "json",
}


def write_graph(
    graph: Graph, path: str | os.PathLike[str], format: GraphFormat | None = None
) -> None:
    """Write a graph to a file, all of it or nothing.

    Parameters
    ----------
    graph : Graph
        The graph; ``Graph(names, weights)`` makes one, ``weights[u, v]`` for the arc u → v.
    path : path-like
        The file to make or replace.
    format : str, optional
        ``"graphml"``, ``"gml"``, ``"dot"``, ``"dagitty"``, ``"edges"``, ``"adjacency"`` or
        ``"json"``; by default what the end of the path says, a ``.csv`` being an edge list.

    Raises
    ------
    DataError
        When a name, or an arc of weight zero, would not survive the format.

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
    dump, _ = _FORMATS[_format(Path(path), format)]
    write_text(path, dump(graph))


def read_graph(path: str | os.PathLike[str], format: GraphFormat | None = None) -> Graph:
    """Read a directed graph from a file.

    Parameters
    ----------
    path : path-like
        A file in one of the formats of `write_graph`, in UTF-8.
    format : str, optional
        As for `write_graph`; a ``.csv`` whose first line names both ends of an arc (``source``
        and ``target``, ``cause`` and ``effect``, ``from`` and ``to`` or ``parent`` and ``child``)
        is an edge list, any other an adjacency matrix.

    Returns
    -------
    Graph
        Names and weights; an arc without a weight weighs 1.

    Raises
    ------
    DataError
        In one sentence, when the file cannot be read as a directed graph.
    """
    path = Path(path)
    chosen = _format(path, format)
    text = read_text(path)
    if format is None and chosen == "edges" and not is_edge_list(text):
        chosen = "adjacency"
    _, parse = _FORMATS[chosen]
    return parse(text, f"'{path}'")


def _format(path: Path, format: str | None) -> str:
    if format is not None and format not in _FORMATS:
        raise DataError(
            f"the graph format {format!r} is not known: choose one of {', '.join(_FORMATS)}."
        )
    chosen = format or _SUFFIXES.get(path.suffix.lower())
    if chosen is None:
        raise DataError(
            f"the format of '{path}' cannot be told: end its name in one of "
            f"{', '.join(_SUFFIXES)}, or give a format ({', '.join(_FORMATS)})."
        )
    return chosen
