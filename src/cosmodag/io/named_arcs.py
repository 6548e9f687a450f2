"""From arcs between named nodes, as files list them, to a `Graph`."""

import math
from collections.abc import Sequence

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.digraph import Graph

__all__ = ["graph_from_names", "number"]


def graph_from_names(
    nodes: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    values: Sequence[float],
    source: str,
    names: Sequence[str] | None = None,
) -> Graph:
    """Make a graph of ``nodes`` from arcs given by node, naming the file in every error.

    ``names`` are the nodes' names where a file tells nodes apart by something else.
    """
    position = {node: index for index, node in enumerate(nodes)}
    if len(position) < len(nodes):
        repeated = next(node for index, node in enumerate(nodes) if position[node] != index)
        raise DataError(f"{source} lists the node {repeated!r} more than once: keep one.")
    try:
        rows = np.fromiter((position[node] for node in sources), np.int64, len(sources))
        columns = np.fromiter((position[node] for node in targets), np.int64, len(targets))
    except KeyError as error:
        raise DataError(
            f"{source} has an arc at {error.args[0]!r}, which is not among its nodes: add the node."
        ) from error
    try:
        return Graph.from_arcs(nodes if names is None else names, rows, columns, values)
    except DataError as error:
        raise DataError(f"{source} cannot be used as a graph: {error}") from error


def number(text: str, source: str) -> float:
    """Read an arc weight, a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{source} gives an arc the weight {text!r}: weights are finite numbers.")
    return value
