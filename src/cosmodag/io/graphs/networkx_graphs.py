"""Graphs to and from ``networkx.DiGraph``."""

from typing import TYPE_CHECKING

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_networkx", "networkx_of"]


def networkx_of(graph: Graph) -> "nx.DiGraph":
    """Make a ``networkx.DiGraph``: names as nodes, in order, and ``weight`` on each edge."""
    import networkx as nx

    made = nx.DiGraph()
    made.add_nodes_from(graph.names)
    made.add_weighted_edges_from(graph.named_arcs())
    return made


def from_networkx(graph: "nx.DiGraph") -> Graph:
    """Make a `Graph` of a ``networkx.DiGraph``; an edge without ``weight`` weighs 1.

    Nodes that are not strings are named by ``str``.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise DataError(f"a networkx.DiGraph is needed, not a {type(graph).__name__}.")
    arcs = list(graph.edges(data="weight", default=1.0))
    return graph_from_names(list(graph), arcs, "the graph", [str(node) for node in graph])
