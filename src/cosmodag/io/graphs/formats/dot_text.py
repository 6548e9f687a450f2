"""DOT (Graphviz) and DAGitty, whose syntax is that of DOT with ``dag`` instead of ``digraph``.

A weight is written as ``beta``, DAGitty's name for a path coefficient. Graphviz' own ``weight`` is
not suitable: it controls the layout and must not be negative.

pydot is not used to read DOT: it cannot read DAGitty, and took 85 times as long for 4,000 arcs
(7.6 s).
"""

import re
from typing import NamedTuple

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<operator><->|->|<-|--|@->|<-@|@-@|@--|--@)
      | (?P<word>-?(?:\d+(?:\.\d*)?|\.\d+)(?![\w.])|[\w.]+)
      | (?P<mark>[{}\[\]=;,:])""",
    re.VERBOSE | re.DOTALL,
)
_UNDIRECTED = {"graph", "pdag", "mag", "pag"}

# Maximum number of arcs given by lists of nodes: a file of n characters could define n² arcs.
_MAX_LISTED = 250_000


class _Token(NamedTuple):
    kind: str
    value: str
    position: int


def dump_dot(graph: Graph) -> str:
    """Write a graph as DOT, with each exact weight as ``beta`` and a rounded one as the label."""
    for name in graph.names:
        if "\\" in name or "\0" in name:
            raise DataError(
                f"the node name {name!r} contains a backslash or a null, which DOT would change: "
                "rename it, or write GraphML."
            )
    quoted = {name: '"' + name.replace('"', '\\"') + '"' for name in graph.names}
    return _dump("digraph", quoted, graph, ', label="{:.3g}"')


def dump_dagitty(graph: Graph) -> str:
    """Write a graph in DAGitty's syntax, with each weight as ``beta``."""
    for name in graph.names:
        if any(character in name for character in '"\\\n\r\0'):
            raise DataError(
                f"the node name {name!r} has a quote, a backslash or a line end, which DAGitty "
                "does not allow: rename it, or write GraphML."
            )
    return _dump("dag", {name: f'"{name}"' for name in graph.names}, graph, "")


def _dump(kind: str, quoted: dict[str, str], graph: Graph, label: str) -> str:
    arcs = [
        f'{quoted[source]} -> {quoted[target]} [beta="{weight!r}"{label.format(weight)}]'
        for source, target, weight in graph.named_arcs()
    ]
    return "\n".join([f"{kind} {{", *quoted.values(), *arcs, "}", ""])


def parse_dot(text: str, source: str) -> Graph:
    """Read a directed graph in DOT or DAGitty syntax.

    The weight of an arc is its ``beta``, otherwise its ``weight``, otherwise 1; ``edge [...]`` sets
    defaults for the arcs after it. Node lists in braces, ``{a b} -> c``, are supported; other
    subgraphs are not.
    """
    return _Reader(text, source).graph()


class _Reader:
    """A cursor over the tokens of a DOT file, and the graph read so far."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text
        self.tokens = _tokens(text, source)
        self.position = 0
        self.edge_defaults: dict[str, str] = {}
        self.nodes: dict[str, None] = {}
        self.arcs: list[tuple[str, str, float]] = []
        self.listed = 0

    def graph(self) -> Graph:
        self._header()
        while not self._skip("}"):
            self._statement()
        if self.now.kind != "end":
            raise self._unexpected()
        return graph_from_names(list(self.nodes), self.arcs, self.source)

    @property
    def now(self) -> _Token:
        return self.tokens[self.position]

    def _take(self) -> _Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def _skip(self, *marks: str) -> bool:
        """Return whether one of these marks is next, and move past it if so."""
        is_next = self.now.kind == "mark" and self.now.value in marks
        self.position += is_next
        return is_next

    def _unexpected(self) -> DataError:
        where = "at its end" if self.now.kind == "end" else f"from {self.now.value!r}"
        return DataError(
            f"{self.source} cannot be read at line {_line(self.text, self.now.position)}, "
            f"{where}: write plain nodes and arcs in braces."
        )

    def _header(self) -> None:
        kind = self._take().value.lower()
        if kind == "strict":
            kind = self._take().value.lower()
        if kind in _UNDIRECTED:
            raise DataError(
                f"{self.source} holds a {kind!r}, whose edges may have no direction: a 'digraph' "
                "or a 'dag' is needed."
            )
        if kind not in ("digraph", "dag"):
            raise DataError(f"{self.source} does not start with 'digraph' or 'dag': check it.")
        if self.now.kind in ("word", "quoted"):
            self.position += 1
        if not self._skip("{"):
            raise self._unexpected()

    def _statement(self) -> None:
        if self._skip(";", ","):
            return
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.now.kind in ("word", "quoted") and following.kind == "mark":
            if following.value == "=":
                self.position += 2
                self._identifier()
                return
            keyword = self.now.kind == "word" and self.now.value.lower()
            if keyword in ("graph", "node", "edge") and following.value == "[":
                self.position += 1
                attributes = self._attributes()
                if keyword == "edge":
                    self.edge_defaults |= attributes
                return
        self._arcs()

    def _arcs(self) -> None:
        """Read nodes joined by arrows, and the attributes of all these arcs."""
        left = self._ends()
        pairs: list[tuple[str, str]] = []
        while self.now.kind == "operator":
            arrow = self._take()
            right = self._ends()
            if arrow.value not in ("->", "<-"):
                line = _line(self.text, arrow.position)
                raise DataError(
                    f"{self.source} joins {left[0]!r} and {right[0]!r} by {arrow.value!r} at line "
                    f"{line}, which has no single direction: only '->' and '<-' are read."
                )
            if len(left) > 1 or len(right) > 1:
                self._count_listed(len(left) * len(right))
            forward = arrow.value == "->"
            pairs += [(u, v) if forward else (v, u) for u in left for v in right]
            left = right
        own = self._attributes()
        weight = _weight(own, _weight(self.edge_defaults, "1"))
        value = number(weight, self.source)
        self.arcs += [(*pair, value) for pair in pairs]

    def _count_listed(self, arcs: int) -> None:
        self.listed += arcs
        if self.listed > _MAX_LISTED:
            raise DataError(
                f"{self.source} has lists of nodes that define more than {_MAX_LISTED:,} arcs, "
                f"up to line {_line(self.text, self.now.position)}: write the arcs one by one."
            )

    def _ends(self) -> list[str]:
        """Read one node, or several in braces."""
        if not self._skip("{"):
            names = [self._node()]
        else:
            names = []
            while not self._skip("}"):
                if not self._skip(",", ";"):
                    names.append(self._node())
            if not names:
                raise self._unexpected()
        self.nodes.update(dict.fromkeys(names))
        return names

    def _node(self) -> str:
        if self.now.kind == "word" and self.now.value.lower() == "subgraph":
            raise self._unexpected()
        return self._identifier()

    def _identifier(self) -> str:
        if self.now.kind not in ("word", "quoted"):
            raise self._unexpected()
        return self._take().value

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._skip("["):
            while not self._skip("]"):
                if not self._skip(",", ";"):
                    key = self._identifier()
                    found[key] = self._identifier() if self._skip("=") else ""
        return found


def _weight(attributes: dict[str, str], default: str) -> str:
    return attributes.get("beta", attributes.get("weight", default))


def _tokens(text: str, source: str) -> list[_Token]:
    tokens = []
    expected = 0
    # Match, not search: a search would take n² steps if comments are unterminated.
    while (match := _TOKEN.match(text, expected)) is not None:
        expected = match.end()
        kind, value = str(match.lastgroup), match.group()
        if kind == "quoted":
            # DOT escapes only the quotation mark; any other backslash is part of the name.
            value = value[1:-1].replace('\\"', '"')
        if kind != "blank":
            tokens.append(_Token(kind, value, match.start()))
    if expected < len(text):
        raise DataError(
            f"{source} is not well-formed DOT at line {_line(text, expected)}, from "
            f"{text[expected]!r}: save it again."
        )
    return [*tokens, _Token("end", "", len(text))]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
