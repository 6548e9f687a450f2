"""Graphs with names to be scored: their nodes matched by name, or by position without names."""

import os
from dataclasses import replace
from typing import Any

import numpy as np

from cosmodag.errors import DataError
from cosmodag.io.graphs.any import as_graph, is_model
from cosmodag.io.graphs.digraph import Graph

__all__ = ["is_graph", "matched"]


def is_graph(thing: Any) -> bool:
    """Whether something is a graph rather than a matrix: a model, a file, a networkx graph."""
    kinds = isinstance(thing, Graph | str | os.PathLike)
    return kinds or is_model(thing) or hasattr(thing, "is_directed")


def matched(
    truth: Any, estimate: Any, labels: tuple[str, str] = ("the truth", "the estimate")
) -> tuple[Graph, Graph, str]:
    """Give two graphs the same nodes in the same order.

    A node that only one of them has is isolated in the other. The nodes of a matrix without names
    are those of the other graph, by position. `labels` name the two graphs in messages.

    Returns
    -------
    Graph, Graph
        Sparse, with the same names; every arc of the truth weighs 1.
    str
        A note about nodes that one of them does not mention; empty if there are none.
    """
    true_graph, graph = _named_alike(as_graph(truth), as_graph(estimate))
    names, note = _common_names(true_graph, graph, labels)
    true_graph, graph = true_graph.aligned(names), graph.aligned(names)
    sources, targets, _ = true_graph.arcs()  # a true arc may weigh zero
    return Graph.from_arcs(names, sources, targets, np.ones(len(sources))), graph, note


def _named_alike(true_graph: Graph, graph: Graph) -> tuple[Graph, Graph]:
    """Copy names to a nameless graph from the other one, if both have the same size."""
    one, other = set(true_graph.names), set(graph.names)
    if one != other and len(one) == len(other):
        if _is_nameless(graph):
            return true_graph, replace(graph, names=true_graph.names)
        if _is_nameless(true_graph):
            return replace(true_graph, names=graph.names), graph
    return true_graph, graph


def _is_nameless(graph: Graph) -> bool:
    """Whether the names are x0, x1, … in this order, the default for a matrix without names."""
    return list(graph.names) == [f"x{index}" for index in range(len(graph.names))]


def _common_names(
    true_graph: Graph, graph: Graph, labels: tuple[str, str]
) -> tuple[list[str], str]:
    """Return the names of the larger graph, which must include all names of the other."""
    wider, narrower = (true_graph, labels[0]), (graph, labels[1])
    if len(graph.names) > len(true_graph.names):
        wider, narrower = narrower, wider
    known = set(wider[0].names)
    stray = [name for name in narrower[0].names if name not in known]
    if stray and (_is_nameless(narrower[0]) or _is_nameless(wider[0])):
        raise DataError(
            f"{labels[0]} has {len(true_graph.names)} nodes and {labels[1]} {len(graph.names)}, "
            "and one of them has no names: give both the same nodes, or give both names."
        )
    if stray:
        raise DataError(
            f"{narrower[1]} has the node {stray[0]!r}, which {wider[1]} lacks: make the names "
            "agree, or list the node without arcs in that file."
        )
    isolated = len(known) - len(narrower[0].names)
    note = f"{narrower[1]} does not mention {isolated} of the {len(known)} nodes."
    return list(wider[0].names), note if isolated else ""
