"""Text of graphs for other programs: Tetrad's graph text, and names quoted for Graphviz."""

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["quoted", "tetrad_text"]


def tetrad_text(names: Sequence[Any], edges: Iterable[tuple[Any, str, Any]]) -> str:
    """Write a graph as Tetrad does; edges are (name, ``-->``, name), or another pair of marks.

    Examples
    --------
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


def quoted(name: str) -> str:
    r"""Quote a name for Graphviz.

    Examples
    --------
    >>> print(quoted('the "dose"'))
    "the \"dose\""
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
