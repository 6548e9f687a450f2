"""Graphs from files: formats of graphs, saved models, and folders that ``cosmodag fit`` wrote."""

import os
from pathlib import Path

from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.io.columns.names import numbered_names
from cosmodag.io.files import read_model, read_text
from cosmodag.io.files.reading import given_file
from cosmodag.io.graphs.digraph import Graph
from cosmodag.io.graphs.formats import (
    TEXTS,
    GraphFormat,
    checked_format,
    format_of_path,
    format_of_text,
)
from cosmodag.io.graphs.formats.csv_text import is_edge_list

__all__ = ["read_graph"]

_GRAPH_OF_FIT = "graph.graphml"


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
    if format is None and Path(path).is_dir():
        return _graph_of_folder(Path(path))
    if format is None and Path(path).suffix.lower() == ".safetensors":
        return _graph_of_model(Path(path))
    with given_file(path) as (file, source):
        is_pipe = file != Path(path)  # without a file extension
        unpacked = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        named = checked_format(format) if is_pipe else format_of_path(unpacked, format)
        if named is not None and named not in TEXTS:  # a picture, or edges without a direction
            raise DataError(
                f"{source} holds a graph as {named}, which cannot be read as a directed graph: "
                f"give one of {', '.join(TEXTS)}."
            )
        text = read_text(file, source)
    chosen = named or format_of_text(text)
    if format is None and chosen == "edges" and not is_edge_list(text):
        chosen = "adjacency"
    return TEXTS[chosen][0](text, source)


def _graph_of_folder(folder: Path) -> Graph:
    if not (folder / _GRAPH_OF_FIT).is_file():
        raise DataError(
            f"'{folder}' holds no {_GRAPH_OF_FIT}: give the folder that 'cosmodag fit' wrote to, "
            "or a file."
        )
    return read_graph(folder / _GRAPH_OF_FIT)


def _graph_of_model(path: Path) -> Graph:
    """Read names and weights of a saved model, without its learner."""
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
