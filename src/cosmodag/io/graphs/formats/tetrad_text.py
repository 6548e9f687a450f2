"""Tetrad's graph text, which keeps names and arrows but no weights."""

import re

from cosmodag.errors import DataError
from cosmodag.graph.texts import tetrad_text
from cosmodag.io.graphs.digraph import Graph, graph_from_names

__all__ = ["dump_tetrad", "parse_tetrad"]

_NODES = re.compile(r"^\s*graph nodes:\s*$", re.IGNORECASE)
_EDGES = re.compile(r"^\s*graph edges:\s*$", re.IGNORECASE)
_EDGE = re.compile(r"^\s*(?:\d+\.\s+)?(\S+)\s+([-<o]-[->o])\s+(\S+)")


def dump_tetrad(graph: Graph) -> str:
    """Write a graph as Tetrad's text; weights are left out."""
    for name in graph.names:
        if re.search(r"[\s;,]", name):
            raise DataError(
                f"the node name {name!r} has a space, comma or semicolon, which separate names in "
                "Tetrad's text: rename it, or write GraphML."
            )
    arcs = ((source, "-->", target) for source, target, _ in graph.named_arcs())
    return tetrad_text(graph.names, arcs) + "\n"


def parse_tetrad(text: str, source: str) -> Graph:
    """Read a graph of Tetrad whose edges all are arrows; every arc weighs 1."""
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if _NODES.match(line)), None)
    end = next((place for place, line in enumerate(lines) if _EDGES.match(line)), None)
    if start is None or end is None or end < start:
        raise DataError(
            f"{source} is not a graph of Tetrad: it has no lines 'Graph Nodes:' and 'Graph Edges:'."
        )
    listed = re.split(r"[;,\s]+", " ".join(lines[start + 1 : end]).strip())
    arcs: list[tuple[str, str, float]] = []
    for line in lines[end + 1 :]:
        if not line.strip():
            break  # attributes of the graph may follow
        arcs.append(_arc(line, source))
    return graph_from_names([name for name in listed if name], arcs, source)


def _arc(line: str, source: str) -> tuple[str, str, float]:
    found = _EDGE.match(line)
    if found is None:
        raise DataError(f"{source} has the edge {line.strip()[:60]!r}: write 'a --> b'.")
    first, mark, second = found.groups()
    if mark == "-->":
        return first, second, 1.0
    if mark == "<--":
        return second, first, 1.0
    raise DataError(
        f"{source} joins {first!r} and {second!r} by '{mark}', which has no single direction: a "
        "DAG with '-->' only is needed."
    )
