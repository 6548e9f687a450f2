"""A partial ancestral graph with names: what a table determines if causes may be hidden."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Marks, check_marks
from cosmodag.graph.texts import counted, dot_text, tetrad_text

if TYPE_CHECKING:
    import networkx as nx

# Marks at the first and the second end; the symbol of the edge, and its spelling by Tetrad.
_SYMBOLS = {
    (TAIL, ARROW): ("→", "-->"),
    (CIRCLE, ARROW): ("∘→", "o->"),
    (ARROW, ARROW): ("↔", "<->"),
    (CIRCLE, CIRCLE): ("∘–∘", "o-o"),
    (TAIL, TAIL): ("—", "---"),
    (TAIL, CIRCLE): ("—∘", "--o"),
}
_WORDS = {CIRCLE: "circle", ARROW: "arrow", TAIL: "tail"}


@dataclass(frozen=True, eq=False)
class PartialAncestralGraph:
    """The graphs with hidden common causes that a table cannot distinguish, as one graph.

    An arrowhead at v of an edge u–v means that v is not a cause of u. A tail at u means that u is a
    cause of v, directly or through other variables. A circle means that the mark is undetermined.
    So ``u → v`` is a cause, ``u ↔ v`` a hidden common cause, ``u ∘→ v`` one or both of these, and
    ``u ∘–∘ v`` undetermined. Two variables that are not joined are independent given some others.

    Attributes
    ----------
    names : tuple
        Names of the variables.
    marks : (d, d) array
        The mark at v of the edge u–v at [u, v]: 0 not joined, 1 circle, 2 arrowhead, 3 tail.
    basis : str
        The source of the graph.

    Examples
    --------
    >>> marks = np.array([[0, 0, 2, 0], [0, 0, 2, 0], [1, 1, 0, 2], [0, 0, 3, 0]])
    >>> graph = PartialAncestralGraph(("a", "b", "c", "d"), marks)
    >>> graph
    <PartialAncestralGraph of 4 variables: 2 ∘→, 1 →>
    >>> graph.edges()
    [('a', '∘→', 'c'), ('b', '∘→', 'c'), ('c', '→', 'd')]
    >>> print(graph.text())
    Graph Nodes:
    a;b;c;d
    <BLANKLINE>
    Graph Edges:
    1. a o-> c
    2. b o-> c
    3. c --> d
    """

    names: tuple[Any, ...]
    marks: Marks
    basis: str = ""

    def __post_init__(self) -> None:
        marks = check_marks(self.marks)
        marks.setflags(write=False)
        object.__setattr__(self, "marks", marks)

    def edges(self) -> list[tuple[Any, str, Any]]:
        """List the edges as (name, symbol, name), with the effect of → and ∘→ last.

        Symbols are ``→``, ``∘→``, ``↔``, ``∘–∘`` and, under selection bias, ``—`` and ``—∘``.
        """
        return self._written(0)

    def number_of(self, symbol: str) -> int:
        """Count the edges with a symbol of :meth:`edges`."""
        return sum(found == symbol for _, found, _ in self.edges())

    @property
    def open_marks(self) -> int:
        """Number of circles."""
        return int((self.marks == CIRCLE).sum())

    def text(self) -> str:
        """Write the graph as Tetrad's graph text: ``a o-> b``, one edge per line."""
        return tetrad_text(self.names, self._written(1))

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """Convert to networkx: one arc per edge, in the order of :meth:`edges`.

        The attributes of an arc are ``kind``, the symbol, and ``tail_mark`` and ``head_mark``, the
        words ``circle``, ``arrow`` or ``tail`` for its two ends.
        """
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for u, v in self._pairs():
            at_u, at_v = self._ends(u, v)
            graph.add_edge(
                self.names[u],
                self.names[v],
                kind=_SYMBOLS[at_u, at_v][0],
                tail_mark=_WORDS[at_u],
                head_mark=_WORDS[at_v],
            )
        return graph

    def to_dot(self) -> str:
        """Write the graph for Graphviz."""
        shapes = {CIRCLE: "odot", ARROW: "normal", TAIL: "none"}
        arcs = []
        for u, v in self._pairs():
            at_u, at_v = self._ends(u, v)
            ends = f"dir=both, arrowtail={shapes[at_u]}, arrowhead={shapes[at_v]}"
            arcs.append((self.names[u], self.names[v], ends))
        return dot_text(self.names, arcs)

    def __repr__(self) -> str:
        counts = [(self.number_of(symbol), symbol) for symbol, _ in _SYMBOLS.values()]
        most_first = sorted(counts, key=lambda pair: -pair[0])
        listed = ", ".join(f"{count} {symbol}" for count, symbol in most_first if count)
        variables = counted(len(self.names), "variable")
        return f"<PartialAncestralGraph of {variables}: {listed or 'no edges'}>"

    def _written(self, spelling: int) -> list[tuple[Any, str, Any]]:
        symbols = ((u, _SYMBOLS[self._ends(u, v)][spelling], v) for u, v in self._pairs())
        return [(self.names[u], symbol, self.names[v]) for u, symbol, v in symbols]

    def _pairs(self) -> list[tuple[int, int]]:
        """List the edges as pairs, each in the direction in which its symbol is written."""
        found = np.argwhere(np.triu(self.marks != 0)).tolist()
        return [(u, v) if self._ends(u, v) in _SYMBOLS else (v, u) for u, v in found]

    def _ends(self, u: int, v: int) -> tuple[int, int]:
        return int(self.marks[v, u]), int(self.marks[u, v])
