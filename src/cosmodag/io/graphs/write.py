"""Graphs to files: GraphML, GML, DOT, DAGitty, CSV, JSON, Cytoscape, BIF, Tetrad, pictures."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from cosmodag.errors import DataError
from cosmodag.graph.equivalence import EquivalenceClass
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.files import write_text
from cosmodag.io.graphs.any import GraphLike, as_graph
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats.bif_text import dump_bif
from cosmodag.io.graphs.formats.csv_text import adjacency_lines, dump_edges
from cosmodag.io.graphs.formats.cyjs_text import dump_cyjs
from cosmodag.io.graphs.formats.dot_text import dump_dagitty, dump_dot
from cosmodag.io.graphs.formats.names import (
    MARKED,
    PICTURES,
    GraphFormat,
    checked_format,
    format_of_path,
)
from cosmodag.io.graphs.formats.networkx_text import dump_gml, dump_graphml, dump_json
from cosmodag.io.graphs.formats.tetrad_text import dump_tetrad
from cosmodag.io.graphs.marked import marked_graph, write_marked

__all__ = ["check_names_for_format", "dump_graph", "write_graph"]


def write_graph(
    graph: GraphLike, path: str | os.PathLike[str], format: GraphFormat | None = None
) -> None:
    """Write a graph to a file, atomically.

    Parameters
    ----------
    graph : Graph, fitted model, networkx.DiGraph, or anything else that `as_graph` accepts
        ``Graph(names, weights)`` makes one, ``weights[u, v]`` for the arc u → v. Also
        ``model.cpdag_`` and ``model.pag_``, to a ``.txt``, ``.dot`` or ``.graphml`` file.
    path : path-like
        The file to create or replace.
    format : str, optional
        ``"graphml"``, ``"gml"``, ``"dot"``, ``"dagitty"``, ``"edges"``, ``"adjacency"``,
        ``"json"``, ``"cyjs"`` (Cytoscape), ``"bif"`` (structure only) or ``"tetrad"`` (Tetrad's
        text, without weights); ``"cpdag"`` or ``"pag"``, the text of the equivalence class, or of
        the partial ancestral graph of a fitted model; ``"pdf"``, ``"svg"`` or ``"png"``, a
        drawing. By default from the file extension, an edge list for ``.csv``.

    Raises
    ------
    DataError
        If the format cannot represent a name or an arc of weight zero.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cosmodag.io import read_graph
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
    if format is None and isinstance(graph, EquivalenceClass | PartialAncestralGraph):
        write_marked(graph, path)
        return
    chosen = format_of_path(Path(path), format)
    if chosen in PICTURES:
        from cosmodag.report.plots import save_drawing

        save_drawing(graph, path, chosen)
    elif chosen == "adjacency":
        write_text(path, adjacency_lines(as_graph(graph)))  # d² entries, never all in memory
    else:
        write_text(path, dump_graph(graph, cast(GraphFormat, chosen)))


def dump_graph(graph: GraphLike, format: GraphFormat) -> str:
    """Write a graph as text in one of the formats of `write_graph` that are not pictures.

    Examples
    --------
    >>> print(dump_graph(Graph(["rain", "wet"], [[0, 0.5], [0, 0]]), "edges"), end="")
    source,target,weight
    rain,wet,0.5
    """
    chosen = checked_format(format) or "edges"
    if chosen in PICTURES:
        raise DataError(f"a picture ({chosen}) is not text: write it to a file.")
    if chosen in MARKED:
        return marked_graph(graph, chosen).text() + "\n"
    return _DUMPS[chosen](as_graph(graph))


def check_names_for_format(names: Sequence[str], format: GraphFormat) -> None:
    """Refuse names that a format cannot hold, before there is a graph."""
    if format not in (*MARKED, *PICTURES):
        dump_graph(Graph.from_arcs(names, [], []), format)


_DUMPS: dict[str, Callable[[Graph], str]] = {
    "graphml": dump_graphml,
    "gml": dump_gml,
    "dot": dump_dot,
    "dagitty": dump_dagitty,
    "edges": dump_edges,
    "adjacency": lambda graph: "".join(adjacency_lines(graph)),
    "json": dump_json,
    "cyjs": dump_cyjs,
    "bif": dump_bif,
    "tetrad": dump_tetrad,
}
