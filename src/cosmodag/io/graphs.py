"""Graphs to and from files: GraphML, GML, DOT, DAGitty, edge list, adjacency matrix and JSON."""

import os
import re
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
from cosmodag.io.standard_input import given_file

__all__ = ["Graph", "GraphFormat", "dump_graph", "graph_suffix", "read_graph", "write_graph"]

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
_BEGINNINGS = {
    "graphml": r"<",
    "json": r"\{",
    "gml": r"(?i)(creator\b[^\n]*\s+)?graph\s*\[",
    "dot": r"(?i)(strict\s+)?[a-z]+\b[^,;\n]*\{",
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
        A file in one of the formats of `write_graph`, in UTF-8, perhaps compressed (``.gz``), or
        ``-`` for standard input, whose format is told by how it begins.
    format : str, optional
        As for `write_graph`; a ``.csv`` whose first line names both ends of an arc (``source``
        and ``target``, ``cause`` and ``effect``, ``from`` and ``to`` or ``parent`` and ``child``)
        is an edge list, any other an adjacency matrix. A square matrix of numbers alone has nodes
        called ``x0, x1, …``.

    Returns
    -------
    Graph
        Names and weights; an arc without a weight weighs 1.

    Raises
    ------
    DataError
        In one sentence, when the file cannot be read as a directed graph.
    """
    with given_file(path) as (file, source):
        is_pipe = file != Path(path)  # and has no name whose end could tell
        unpacked = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        named = _checked(format) if is_pipe else _format(unpacked, format)
        text = read_text(file, source)
    chosen = named or _format_of(text)
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
    dump, _ = _FORMATS[_checked(format) or "edges"]
    return dump(graph)


def graph_suffix(format: GraphFormat) -> str:
    """Return how the names of files in a format end, ``.csv`` for an adjacency matrix too."""
    return next((end for end, known in _SUFFIXES.items() if known == format), ".csv")


def _format_of(text: str) -> str:
    """Tell a format by how the text begins; what begins like no other is CSV."""
    first = re.sub(r"(#|//).*", "", text[:2000]).lstrip()
    return next(
        (name for name, beginning in _BEGINNINGS.items() if re.match(beginning, first)), "edges"
    )


def _checked(format: str | None) -> str | None:
    if format is not None and format not in _FORMATS:
        raise DataError(
            f"the graph format {format!r} is not known: choose one of {', '.join(_FORMATS)}."
        )
    return format


def _format(path: Path, format: str | None) -> str:
    chosen = _checked(format) or _SUFFIXES.get(path.suffix.lower())
    if chosen is None:
        raise DataError(
            f"the format of '{path}' cannot be told: end its name in one of "
            f"{', '.join(_SUFFIXES)}, or give a format ({', '.join(_FORMATS)})."
        )
    return chosen
