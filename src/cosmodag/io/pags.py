"""Files of partial ancestral graphs: Tetrad's text, DOT and GraphML."""

import os
from collections.abc import Callable
from pathlib import Path

from cosmodag.errors import DataError
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.files import write_text

__all__ = ["write_pag"]


def write_pag(graph: PartialAncestralGraph, path: str | os.PathLike[str]) -> None:
    """Write a partial ancestral graph to a file, in the format of its extension.

    Parameters
    ----------
    graph : PartialAncestralGraph
    path : path
        Ends in ``.txt`` (Tetrad's graph text), ``.dot`` (Graphviz) or ``.graphml``, where the
        attributes of an edge hold the marks at its two ends.

    Raises
    ------
    DataError
        If the extension is none of these.
    """
    path = Path(path)
    writers: dict[str, Callable[[], str]] = {
        ".txt": lambda: graph.text() + "\n",
        ".dot": graph.to_dot,
        ".graphml": lambda: _graphml(graph),
    }
    if path.suffix.lower() not in writers:
        raise DataError(
            f"'{path}' has no known format for a partial ancestral graph: give a file that ends in "
            f"{', '.join(writers)}."
        )
    write_text(path, writers[path.suffix.lower()]())


def _graphml(graph: PartialAncestralGraph) -> str:
    import networkx as nx

    return "\n".join(nx.generate_graphml(graph.to_networkx())) + "\n"
