"""Files of graphs whose edges need not have a direction: Tetrad's text, DOT and GraphML."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosmodag.errors import DataError
from cosmodag.graph.equivalence import EquivalenceClass, essential_graph
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.files import write_text
from cosmodag.io.graphs.any import as_graph

__all__ = ["marked_graph", "write_marked"]

MarkedGraph = EquivalenceClass | PartialAncestralGraph


def marked_graph(graph: Any, format: str) -> MarkedGraph:
    """Find the equivalence class (``"cpdag"``) or partial ancestral graph (``"pag"``) of a graph.

    That of a fitted model respects knowledge and interventions. The class of any other graph holds
    all graphs with the same conditional independences; its partial ancestral graph is not known,
    since it depends on data.
    """
    if isinstance(graph, EquivalenceClass | PartialAncestralGraph):
        return graph
    of_model: MarkedGraph | None = getattr(graph, f"{format}_", None)
    if of_model is not None:
        return of_model
    if format == "pag":
        raise DataError(
            "a partial ancestral graph is learnt from data: give a fitted model, or run "
            "'cosmodag pag data.csv'."
        )
    known = as_graph(graph)
    sources, targets, _ = known.arcs()
    weightless = type(known).from_arcs(known.names, sources, targets)
    return EquivalenceClass.of(known.names, essential_graph(weightless.weights))


def write_marked(graph: MarkedGraph, path: str | os.PathLike[str]) -> None:
    """Write an equivalence class or a partial ancestral graph, in the format of the extension.

    Parameters
    ----------
    graph : EquivalenceClass or PartialAncestralGraph
    path : path
        Ends in ``.txt`` (Tetrad's graph text), ``.dot`` (Graphviz) or ``.graphml``, where the
        attributes of an edge hold the marks at its two ends, or whether it has a direction.

    Raises
    ------
    DataError
        If the extension is none of these.
    """
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
