"""GraphML, the XML format that networkx, igraph, Gephi, Cytoscape and yEd share.

Written as text, which is several times faster than building a tree of elements first; read as
a stream of events, with document types refused, since entities declared there can expand without
bound or name other files.
"""

import re
from typing import Any
from xml.parsers import expat

from cosmodag.errors import DataError
from cosmodag.io.digraph import Graph
from cosmodag.io.named_arcs import graph_from_names, number

__all__ = ["dump_graphml", "parse_graphml"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {
    # A parser turns a bare one of these into a space within an attribute.
    character: f"&#{ord(character)};"
    for character in "\t\n\r"
}
_TO_ESCAPE = re.compile('[&<>"\t\n\r]')


def dump_graphml(graph: Graph) -> str:
    """Write a graph as GraphML, node names as ids and weights as the edge attribute ``weight``."""
    nodes = [_attribute(name) for name in graph.names]
    rows, columns, values = (part.tolist() for part in graph.arcs())
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
        '<graph edgedefault="directed">',
        *[f'<node id="{node}"/>' for node in nodes],
        *[
            f'<edge source="{nodes[row]}" target="{nodes[column]}">'
            f'<data key="weight">{value!r}</data></edge>'
            for row, column, value in zip(rows, columns, values, strict=True)
        ],
        "</graph>",
        "</graphml>",
        "",
    ]
    return "\n".join(lines)


def _attribute(name: str) -> str:
    if _NOT_XML.search(name):
        raise DataError(
            f"the node name {name!r} holds a control character, which GraphML cannot: rename it, "
            "or write JSON."
        )
    return _TO_ESCAPE.sub(lambda match: _ESCAPES[match.group()], name)


def parse_graphml(text: str, source: str) -> Graph:
    """Read a directed GraphML graph; an edge without a weight weighs 1."""
    events = _Events(source)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = events.doctype
    parser.StartElementHandler = events.start
    parser.EndElementHandler = events.end
    parser.CharacterDataHandler = events.text
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise DataError(
            f"{source} is not well-formed GraphML at line {error.lineno} "
            f"({expat.ErrorString(error.code)}): write it again."
        ) from error
    return events.graph()


class _Events:
    """What has been seen of a GraphML file so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.graphs = 0
        self.directed = True
        self.keys: dict[str, tuple[str, str]] = {}  # id → (node or edge, attribute name)
        self.defaults: dict[str, str] = {}  # key id → default value
        self.node_names: dict[str, str] = {}  # node id → its name or label attribute
        self.nodes: list[str] = []
        self.sources: list[str] = []
        self.targets: list[str] = []
        self.weights: list[str | None] = []
        self.key = ""
        self.inside = ""
        self.collected: list[str] | None = None

    def doctype(self, *_: Any) -> None:
        raise DataError(
            f"{self.source} declares a document type, which is not read for safety: remove the "
            "<!DOCTYPE …> from it."
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        if tag == "graph":
            self.graphs += 1
            self.directed = attributes.get("edgedefault", "directed") == "directed"
        elif tag == "node":
            self.inside = "node"
            self.nodes.append(self._needed(attributes, "id", tag))
        elif tag == "edge":
            self._start_edge(attributes)
        elif tag == "key":
            self.key = self._needed(attributes, "id", tag)
            self.keys[self.key] = (
                attributes.get("for", "all"),
                attributes.get("attr.name", self.key),
            )
        elif tag in ("data", "default"):
            self.key = attributes.get("key", self.key)
            self.collected = []
        elif tag == "hyperedge" or self.graphs > 1:
            raise DataError(f"{self.source} holds a <{tag}>, which is not an arc: remove it.")

    def _start_edge(self, attributes: dict[str, str]) -> None:
        directed = attributes.get("directed", "true" if self.directed else "false")
        ends = (
            self._needed(attributes, "source", "edge"),
            self._needed(attributes, "target", "edge"),
        )
        if directed == "false":
            raise DataError(
                f"{self.source} has an undirected edge between {ends[0]!r} and {ends[1]!r}: "
                "give every edge a direction."
            )
        self.inside = "edge"
        self.sources.append(ends[0])
        self.targets.append(ends[1])
        self.weights.append(None)

    def end(self, tag: str) -> None:
        tag = tag.rpartition(" ")[2]
        if tag in ("node", "edge"):
            self.inside = ""
        if tag not in ("data", "default") or self.collected is None:
            return
        value, self.collected = "".join(self.collected), None
        attribute = self.keys.get(self.key, ("", ""))[1]
        if tag == "default":
            self.defaults[self.key] = value
        elif self.inside == "edge" and attribute == "weight":
            self.weights[-1] = value
        elif self.inside == "node" and attribute in ("name", "label"):
            self.node_names[self.nodes[-1]] = value

    def text(self, characters: str) -> None:
        if self.collected is not None:
            self.collected.append(characters)

    def _needed(self, attributes: dict[str, str], name: str, tag: str) -> str:
        if name not in attributes:
            raise DataError(f"{self.source} has a <{tag}> without '{name}': write it again.")
        return attributes[name]

    def graph(self) -> Graph:
        if self.graphs != 1:
            raise DataError(f"{self.source} holds {self.graphs} graphs: give a file with one.")
        default = next(
            (
                value
                for key, value in self.defaults.items()
                if self.keys[key][0] in ("edge", "all") and self.keys[key][1] == "weight"
            ),
            "1",
        )
        values = [
            number(default if weight is None else weight, self.source) for weight in self.weights
        ]
        # igraph and yEd number the ids and keep the names in an attribute.
        if len(self.node_names) == len(self.nodes) == len(set(self.node_names.values())):
            names = [self.node_names[node] for node in self.nodes]
        else:
            names = self.nodes
        return graph_from_names(self.nodes, self.sources, self.targets, values, self.source, names)
