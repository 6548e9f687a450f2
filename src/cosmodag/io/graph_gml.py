"""GML, a nested list of keys and values; characters outside ASCII travel as ``&#code;``."""

import re
from html.entities import name2codepoint
from typing import Any

from cosmodag.errors import DataError
from cosmodag.io.digraph import Graph
from cosmodag.io.named_arcs import graph_from_names, number

__all__ = ["dump_gml", "parse_gml"]

_TO_ESCAPE = re.compile('[^ -~]|[&"]')
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]\w*));")
_TOKEN = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*)
      | (?P<text>"[^"]*")
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<open>\[) | (?P<close>\])
      | (?P<key>[A-Za-z]\w*)""",
    re.VERBOSE,
)

_Pairs = list[tuple[str, Any]]


def dump_gml(graph: Graph) -> str:
    """Write a graph as GML, names as labels and weights as ``weight``."""
    rows, columns, values = (part.tolist() for part in graph.arcs())
    lines = [
        "graph [",
        "  directed 1",
        *[
            f'  node [ id {index} label "{_escaped(name)}" ]'
            for index, name in enumerate(graph.names)
        ],
        *[
            f"  edge [ source {row} target {column} weight {_real(value)} ]"
            for row, column, value in zip(rows, columns, values, strict=True)
        ],
        "]",
        "",
    ]
    return "\n".join(lines)


def _escaped(name: str) -> str:
    return _TO_ESCAPE.sub(lambda match: f"&#{ord(match.group())};", name)


def _real(value: float) -> str:
    """Write a float as GML wants it, always with a point: 1.0E-05, not 1e-05."""
    mantissa, e, exponent = repr(value).upper().partition("E")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def parse_gml(text: str, source: str) -> Graph:
    """Read a directed GML graph; an edge without a weight weighs 1."""
    graphs = [value for key, value in _pairs(text, source) if key == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0], list):
        raise DataError(f"{source} does not hold one GML graph: check that it starts 'graph ['.")
    pairs: _Pairs = graphs[0]
    if dict(pairs).get("directed") != "1":
        raise DataError(f"{source} holds an undirected graph: it needs 'directed 1'.")
    nodes = [_fields(value, "node", ("id",), source) for key, value in pairs if key == "node"]
    edges = [
        _fields(value, "edge", ("source", "target"), source)
        for key, value in pairs
        if key == "edge"
    ]
    return graph_from_names(
        [node["id"] for node in nodes],
        [edge["source"] for edge in edges],
        [edge["target"] for edge in edges],
        [number(edge.get("weight", "1"), source) for edge in edges],
        source,
        [node.get("label", node["id"]) for node in nodes],
    )


def _fields(value: Any, kind: str, needed: tuple[str, ...], source: str) -> dict[str, str]:
    """Give the plain values of a node or an edge by key."""
    pairs = value if isinstance(value, list) else []
    fields = {key: item for key, item in pairs if isinstance(item, str)}
    for name in needed:
        if name not in fields:
            raise DataError(f"{source} has a GML {kind} without '{name}': write it again.")
    return fields


def _pairs(text: str, source: str) -> _Pairs:
    """Parse GML into nested (key, value) pairs, with a stack rather than by recursion."""
    stack: list[_Pairs] = [[]]
    key: str | None = None
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind = match.lastgroup if match else None
        fits = kind == "blank" or (kind in ("key", "close")) == (key is None)
        if match is None or not fits or (kind == "close" and len(stack) == 1):
            line = text.count("\n", 0, position) + 1
            raise DataError(f"{source} is not well-formed GML at line {line}: write it again.")
        token, position = match.group(), match.end()
        if kind == "key":
            key = token
        elif kind == "close":
            stack.pop()
        elif key is not None and kind == "open":
            inner: _Pairs = []
            stack[-1].append((key, inner))
            stack.append(inner)
            key = None
        elif key is not None and kind in ("text", "number"):
            stack[-1].append((key, _unescaped(token[1:-1]) if kind == "text" else token))
            key = None
    if len(stack) > 1 or key is not None:
        raise DataError(f"{source} ends in the middle of its GML: write it again.")
    return stack[0]


def _unescaped(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    decimal, hexadecimal, entity = match.groups()
    if entity:
        code = name2codepoint.get(entity, 39 if entity == "apos" else -1)
    else:
        code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 <= code <= 0x10FFFF else match.group()
