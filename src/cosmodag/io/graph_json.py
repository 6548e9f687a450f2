"""Graphs as JSON, in the node-link form that networkx and D3 read."""

import json
from typing import Any, NoReturn

from cosmodag.errors import DataError
from cosmodag.io.digraph import Graph
from cosmodag.io.named_arcs import graph_from_names, number

__all__ = ["dump_json", "parse_json"]


def dump_json(graph: Graph) -> str:
    """Write ``{"directed": true, "nodes": [{"id": …}], "edges": [{"source": …}]}``."""
    document = {
        "directed": True,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": name} for name in graph.names],
        "edges": [
            {"source": source, "target": target, "weight": weight}
            for source, target, weight in graph.named_arcs()
        ],
    }
    return json.dumps(document, allow_nan=False) + "\n"


def parse_json(text: str, source: str) -> Graph:
    """Read a directed graph in node-link form (``edges``, or ``links`` as it once was)."""

    def refuse(constant: str) -> NoReturn:
        raise DataError(f"{source} holds {constant}: weights are finite numbers.")

    try:
        document = json.loads(text, parse_constant=refuse)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        line = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"{source} is not well-formed JSON{line}: write it again.") from error
    try:
        if document.get("directed") is not True:
            raise DataError(f'{source} holds an undirected graph: it needs "directed": true.')
        edges = document["edges"] if "edges" in document else document["links"]
        return graph_from_names(
            [_name(node["id"], source) for node in document["nodes"]],
            [_name(edge["source"], source) for edge in edges],
            [_name(edge["target"], source) for edge in edges],
            [number(str(edge.get("weight", 1.0)), source) for edge in edges],
            source,
        )
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise DataError(
            f"{source} is not a graph in node-link form: it needs 'directed', 'nodes' with 'id' "
            "and 'edges' with 'source' and 'target'."
        ) from error


def _name(value: Any, source: str) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise DataError(f"{source} has a node named {value!r}: names are text.")
    return str(value)
