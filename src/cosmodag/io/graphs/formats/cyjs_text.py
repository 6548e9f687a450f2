"""Cytoscape JSON (``.cyjs``), which Cytoscape and Cytoscape.js open."""

import json

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number

__all__ = ["dump_cyjs", "parse_cyjs"]


def dump_cyjs(graph: Graph) -> str:
    """Write a graph as Cytoscape JSON: nodes with ``name``, arcs with ``weight``."""
    rows, columns, weights = (part.tolist() for part in graph.arcs())
    nodes = [{"data": {"id": str(place), "name": name}} for place, name in enumerate(graph.names)]
    arcs = [
        {"data": {"id": f"{u}-{v}", "source": str(u), "target": str(v), "weight": weight}}
        for u, v, weight in zip(rows, columns, weights, strict=True)
    ]
    document = {"format_version": "1.0", "elements": {"nodes": nodes, "edges": arcs}}
    return json.dumps(document, ensure_ascii=False) + "\n"


def parse_cyjs(text: str, source: str) -> Graph:
    """Read Cytoscape JSON; a node without ``name`` is named by its ``id``."""
    try:
        elements = json.loads(text)["elements"]
        nodes = [node["data"] for node in elements["nodes"]]
        arcs = [arc["data"] for arc in elements.get("edges", [])]
        ids = [str(node["id"]) for node in nodes]
        names = [str(node.get("name", node["id"])) for node in nodes]
        ends = [(str(arc["source"]), str(arc["target"]), arc.get("weight", 1)) for arc in arcs]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"{source} is not a graph of Cytoscape: it needs 'elements' with 'nodes' and 'edges', "
            "each with 'data'."
        ) from error
    weighted = [(start, end, number(str(weight), source)) for start, end, weight in ends]
    return graph_from_names(ids, weighted, source, names)
