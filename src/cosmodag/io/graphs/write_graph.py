"""Writing of graphs: GraphML, GML, DOT, DAGitty, CSV, JSON, Cytoscape, BIF, Tetrad, drawings."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from cosmodag.errors import DataError
from cosmodag.graph.equivalence import EquivalenceClass, essential_graph
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.graph.texts import GraphFormat
from cosmodag.io.files import write_text
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats import MARKED, PICTURES, TEXTS, checked_format, format_of_path
from cosmodag.io.graphs.formats.csv_text import adjacency_lines
from cosmodag.io.graphs.read_graph import GraphLike, as_graph

_MarkedGraph = EquivalenceClass | PartialAncestralGraph  # graphs with undirected or open edges


def write_graph(
    graph: GraphLike, path: str | os.PathLike[str], format: GraphFormat | None = None
) -> None:
    """Write a graph to a file, atomically.

    Parameters
    ----------
    graph : Graph, fitted model, networkx.DiGraph, or anything else that `as_graph` accepts
        ``Graph(names, weights)`` makes one, with ``weights[u, v]`` for the arc u → v. Also
        ``model.cpdag_`` or ``model.pag_``, to a ``.txt``, ``.dot`` or ``.graphml`` file.
    path : path-like
        The file to create or replace.
    format : str, optional
        ``"graphml"``, ``"gml"``, ``"dot"``, ``"dagitty"``, ``"edges"``, ``"adjacency"``,
        ``"json"``, ``"cyjs"`` (Cytoscape), ``"bif"`` (without probability tables) or ``"tetrad"``
        (Tetrad's text, without weights); ``"cpdag"`` or ``"pag"``, the text of the equivalence
        class, or of the partial ancestral graph of a fitted model; ``"pdf"``, ``"svg"`` or
        ``"png"``, a drawing. By default detected from the file extension; a ``.csv`` is an edge
        list.

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
    if format is None and isinstance(graph, _MarkedGraph):
        _write_marked(graph, path)
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
    """Return a graph as text, in one of the formats of `write_graph` that are not drawings.

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
        return _marked_graph(graph, chosen).text() + "\n"
    return TEXTS[chosen][1](as_graph(graph))


def check_names_for_formats(names: Sequence[str], formats: Sequence[GraphFormat]) -> None:
    """Refuse names that one of the formats cannot represent, before there is a graph."""
    for format in formats:
        if format not in (*MARKED, *PICTURES):
            dump_graph(Graph.from_arcs(names, [], []), format)


def _marked_graph(graph: GraphLike, format: str) -> _MarkedGraph:
    """Return the equivalence class (``"cpdag"``) or the partial ancestral graph (``"pag"``).

    Those of a fitted model respect knowledge and interventions.
    """
    if isinstance(graph, _MarkedGraph):
        return graph
    of_model: _MarkedGraph | None = getattr(graph, f"{format}_", None)
    if of_model is not None:
        return of_model
    if format == "pag":
        raise DataError(
            "a partial ancestral graph is learnt from data: give a fitted model, or run "
            "'cosmodag pag data.csv'."
        )
    known = as_graph(graph)
    sources, targets, _ = known.arcs()
    weightless = Graph.from_arcs(known.names, sources, targets)
    return EquivalenceClass.of(known.names, essential_graph(weightless.weights))


def _write_marked(graph: _MarkedGraph, path: str | os.PathLike[str]) -> None:
    """Write an equivalence class or a partial ancestral graph, in the format of the extension."""
    import networkx as nx

    path = Path(path)
    writers: dict[str, Callable[[], str]] = {
        ".txt": lambda: graph.text() + "\n",
        ".dot": graph.to_dot,
        ".graphml": lambda: "\n".join(nx.generate_graphml(graph.to_networkx())) + "\n",
    }
    if path.suffix.lower() not in writers:
        raise DataError(
            f"'{path}' has no known format for a graph with undirected or open edges: give a file "
            f"that ends in {', '.join(writers)}."
        )
    write_text(path, writers[path.suffix.lower()]())
