"""The interchange format of Bayesian networks (BIF), of which the structure is read and written.

BIF describes discrete variables by tables of probabilities. A learnt graph has weights in place of
tables, so a file that is written has one state, ``any``, for each variable, and the weights as
properties, which other programs ignore. Of a file that is read, states and tables are ignored.
"""

import re

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names, number

__all__ = ["dump_bif", "parse_bif"]

_PLAIN = re.compile(r"[\w.-]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|(\Z))", re.DOTALL)
_VARIABLE = re.compile(r'\bvariable\s+("[^"\n]*"|[^\s{]+)\s*\{')
_TABLE = re.compile(r"\bprobability\s*\(([^(){}]*)\)")
_WEIGHT = re.compile(r"\bproperty\s+weight\s+([\w.-]+)\s+([\w.+-]+)\s+([^\s;]+)\s*;")


def dump_bif(graph: Graph) -> str:
    """Write the structure of a graph as BIF, with a placeholder in place of states and tables."""
    for name in graph.names:
        if not _PLAIN.fullmatch(name):
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
    # An open comment is matched to the end: else each "/*" would be searched for its end again.
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
            raise DataError(f"{source} has a probability without a variable: write it again.")
        child, *parents = names
        arcs += [(parent, child, weights.get((parent, child), 1.0)) for parent in parents]
    return graph_from_names(nodes, arcs, source)
