"""Graphs as text: names of file formats, Tetrad and Graphviz text, numbers with nouns."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

GraphFormat = Literal[
    "graphml",
    "gml",
    "dot",
    "dagitty",
    "edges",
    "adjacency",
    "json",
    "cyjs",
    "bif",
    "tetrad",
    "cpdag",
    "pag",
    "pdf",
    "svg",
    "png",
]
"""File formats of graphs; those after ``tetrad`` cannot be read as directed graphs."""


def tetrad_text(names: Sequence[Any], edges: Iterable[tuple[Any, str, Any]]) -> str:
    """Write a graph as Tetrad does; edges are (name, marks, name), with marks such as ``-->``.

    >>> print(tetrad_text(["a", "b"], [("a", "-->", "b")]))
    Graph Nodes:
    a;b
    <BLANKLINE>
    Graph Edges:
    1. a --> b
    """
    lines = [f"{number}. {u} {mark} {v}" for number, (u, mark, v) in enumerate(edges, start=1)]
    head = ["Graph Nodes:", ";".join(str(name) for name in names), "", "Graph Edges:"]
    return "\n".join([*head, *lines])


def dot_text(names: Iterable[Any], arcs: Iterable[tuple[Any, Any, str]]) -> str:
    r"""Write a graph for Graphviz; arcs are (name, name, attributes).

    >>> print(dot_text(['a "b"'], [('a "b"', 'a "b"', "dir=none")]), end="")
    digraph {
      "a \"b\"";
      "a \"b\"" -> "a \"b\"" [dir=none];
    }
    """
    lines = [f"  {_quoted(name)};" for name in names]
    for u, v, attributes in arcs:
        shown = f" [{attributes}]" if attributes else ""
        lines.append(f"  {_quoted(u)} -> {_quoted(v)}{shown};")
    return "\n".join(["digraph {", *lines, "}", ""])


def _quoted(name: Any) -> str:
    escaped = str(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun, in the plural except for 1.

    >>> counted(1, "arc"), counted(1200, "arc"), counted(0, "entry", "entries")
    ('1 arc', '1,200 arcs', '0 entries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
