"""Cytoscape JSON (``.cyjs``), which Cytoscape and Cytoscape.js open."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number

__all__ = ["cyjs_elements", "dump_cyjs", "parse_cyjs"]


def dump_cyjs(graph: Graph) -> str:
    """Write a graph as Cytoscape JSON: nodes with ``name``, arcs with ``weight``."""
    rows, columns, weights = (part.tolist() for part in graph.arcs())
    elements = cyjs_elements(graph.names, rows, columns, [{"weight": one} for one in weights])
    return json.dumps({"format_version": "1.0", "elements": elements}, ensure_ascii=False) + "\n"


def cyjs_elements(
    names: Sequence[str], tails: Iterable[int], heads: Iterable[int], facts: Iterable[Any]
) -> dict[str, list[Any]]:
    """Nodes and arcs in the form of Cytoscape; ``facts`` are the attributes of each arc."""
    nodes = [{"data": {"id": str(place), "name": name}} for place, name in enumerate(names)]
    arcs = [
        {"data": {"id": f"{u}-{v}", "source": str(u), "target": str(v), **fact}}
        for u, v, fact in zip(tails, heads, facts, strict=True)
    ]
    return {"nodes": nodes, "edges": arcs}


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
