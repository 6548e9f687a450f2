"""Graph formats of single programs: BIF (Bayesian networks), Tetrad's text, Cytoscape JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from cosmodag.errors import DataError
from cosmodag.graph.texts import tetrad_text
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number

_BIF_NAME = re.compile(r"[\w.-]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|(\Z))", re.DOTALL)
_VARIABLE = re.compile(r'\bvariable\s+("[^"\n]*"|[^\s{]+)\s*\{')
_TABLE = re.compile(r"\bprobability\s*\(([^(){}]*)\)")
_WEIGHT = re.compile(r"\bproperty\s+weight\s+([\w.-]+)\s+([\w.+-]+)\s+([^\s;]+)\s*;")


def dump_bif(graph: Graph) -> str:
    """Write the structure of a graph as BIF, with placeholders for the states and tables."""
    for name in graph.names:
        if not _BIF_NAME.fullmatch(name):
            raise DataError(
                f"the node name {name!r} has characters other than letters, digits, '.', '_' and "
                "'-', which BIF excludes: rename it, or write GraphML."
            )
    parents: dict[str, list[tuple[str, float]]] = {name: [] for name in graph.names}
    for source, target, weight in graph.named_arcs():
        parents[target].append((source, weight))
    lines = ["// Structure only: every variable has one state as a placeholder."]
    lines.append("network cosmodag {\n}")
    for name, causes in parents.items():
        lines += [f"variable {name} {{", "  type discrete [ 1 ] { any };"]
        lines += [f"  property weight {cause} {name} {weight!r} ;" for cause, weight in causes]
        lines.append("}")
    for name, causes in parents.items():
        given = f" | {', '.join(cause for cause, _ in causes)}" if causes else ""
        row = f"({', '.join('any' for _ in causes)}) 1.0;" if causes else "table 1.0;"
        lines.append(f"probability ( {name}{given} ) {{\n  {row}\n}}")
    return "\n".join([*lines, ""])


def parse_bif(text: str, source: str) -> Graph:
    """Read the structure of a BIF file; an arc weighs 1 unless a property gives its weight."""
    # An unterminated comment matches up to the end of the text, so that the end of a comment is not
    # searched for again from each "/*".
    if any(comment[1] is not None for comment in _COMMENT.finditer(text)):
        raise DataError(f"{source} is not a BIF file: a comment has no end, '*/'.")
    text = _COMMENT.sub(" ", text)
    nodes = [name.strip('"') for name in _VARIABLE.findall(text)]
    if not nodes:
        raise DataError(f"{source} is not a BIF file: it declares no variable.")
    weights = {(u, v): number(value, source) for u, v, value in _WEIGHT.findall(text)}
    arcs = []
    for inside in _TABLE.findall(text):
        # 'child | parents', or in old files 'child parents'
        names = [name.strip('"') for name in re.split(r"[\s,|]+", inside.strip()) if name]
        if not names:
            raise DataError(f"{source} has a probability without a variable: save it again.")
        child, *parents = names
        arcs += [(parent, child, weights.get((parent, child), 1.0)) for parent in parents]
    return graph_from_names(nodes, arcs, source)


_NODES = re.compile(r"^\s*graph nodes:\s*$", re.IGNORECASE)
_EDGES = re.compile(r"^\s*graph edges:\s*$", re.IGNORECASE)
_EDGE = re.compile(r"^\s*(?:\d+\.\s+)?(\S+)\s+([-<o]-[->o])\s+(\S+)")


def dump_tetrad(graph: Graph) -> str:
    """Write a graph as Tetrad's text, without weights."""
    for name in graph.names:
        if re.search(r"[\s;,]", name):
            raise DataError(
                f"the node name {name!r} has a space, comma or semicolon, which separate names in "
                "Tetrad's text: rename it, or write GraphML."
            )
    arcs = ((source, "-->", target) for source, target, _ in graph.named_arcs())
    return tetrad_text(graph.names, arcs) + "\n"


def parse_tetrad(text: str, source: str) -> Graph:
    """Read Tetrad's text of a graph whose edges are all directed; every arc weighs 1."""
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
        arcs.append(_tetrad_arc(line, source))
    return graph_from_names([name for name in listed if name], arcs, source)


def _tetrad_arc(line: str, source: str) -> tuple[str, str, float]:
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


def dump_cyjs(graph: Graph) -> str:
    """Write a graph as Cytoscape JSON: nodes with ``name``, arcs with ``weight``."""
    rows, columns, weights = (part.tolist() for part in graph.arcs())
    elements = cyjs_elements(graph.names, rows, columns, [{"weight": one} for one in weights])
    return json.dumps({"format_version": "1.0", "elements": elements}, ensure_ascii=False) + "\n"


def cyjs_elements(
    names: Sequence[str], tails: Iterable[int], heads: Iterable[int], facts: Iterable[Any]
) -> dict[str, list[Any]]:
    """Return nodes and arcs in the form of Cytoscape; ``facts`` are the attributes of each arc."""
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
