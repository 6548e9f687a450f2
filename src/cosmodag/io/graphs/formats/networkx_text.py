"""GraphML, GML and node-link JSON as text.

They are written and read by networkx, which silently accepts arcs at unlisted nodes, repeated
nodes, repeated arcs and undirected graphs: these are refused here.
"""

import io
import json
import math
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from cosmodag.errors import DataError
from cosmodag.io.graphs.digraph import Graph, graph_from_names, networkx_of, number
from cosmodag.runtime.warning_filters import ignoring

if TYPE_CHECKING:
    import networkx as nx

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dump_graphml(graph: Graph, attributes: Mapping[str, Sequence[Any]] | None = None) -> str:
    """Write a graph as GraphML, with names as ids of nodes and ``weight`` as an edge attribute.

    ``attributes`` are further attributes of the arcs, by name: numbers or text, in the order of
    ``graph.arcs()``. A number that is not finite is left out.
    """
    import networkx as nx

    wrong = next((name for name in graph.names if _NOT_XML.search(name)), None)
    if wrong is not None:
        raise DataError(
            f"the node name {wrong!r} has a control character, which GraphML excludes: rename it, "
            "or write JSON."
        )
    digraph = networkx_of(graph)
    for name, column in (attributes or {}).items():
        for (source, target, _), value in zip(graph.named_arcs(), column, strict=True):
            # networkx declares a NumPy number as another type than a number of Python.
            known = value if isinstance(value, str) else float(value)
            if isinstance(known, str) or math.isfinite(known):
                digraph[source][target][name] = known
    content = io.BytesIO()
    nx.write_graphml_xml(digraph, content, named_key_ids=True)
    return content.getvalue().decode()


def dump_gml(graph: Graph) -> str:
    """Write a graph as GML, with names as labels and weights as ``weight``."""
    import networkx as nx

    return "\n".join([*nx.generate_gml(networkx_of(graph)), ""])


def dump_json(graph: Graph) -> str:
    """Write a graph as JSON: ``{"directed": true, "nodes": [{"id": …}], "edges": […]}``."""
    import networkx as nx

    document = nx.node_link_data(networkx_of(graph), edges="edges")
    return json.dumps(document, allow_nan=False) + "\n"


def parse_graphml(text: str, source: str) -> Graph:
    """Read a directed GraphML graph; an edge without a weight weighs 1."""
    import networkx as nx

    if "<!DOCTYPE" in text:  # entities can expand without bound or refer to other files
        raise DataError(
            f"{source} declares a document type, which is refused for safety: remove the "
            "<!DOCTYPE …> from it."
        )
    reader = nx.GraphMLReader(force_multigraph=True)
    text = text.replace("<graphml>", f'<graphml xmlns="{_NAMESPACE}">')
    graphs = _parse_or_refuse("GraphML", source, lambda: list(reader(string=text)))
    if len(graphs) != 1:
        raise DataError(f"{source} holds {len(graphs)} GraphML graphs: give a file with one.")
    listed = [element.get("id") for element in reader.xml.iter(f"{{{_NAMESPACE}}}node")]
    if None in listed:
        raise DataError(f"{source} has a <node> without 'id': save it again.")
    default = graphs[0].graph["edge_default"].get("weight", 1)
    return _checked_graph(graphs[0], listed, source, default)


def parse_gml(text: str, source: str) -> Graph:
    """Read a directed GML graph; an edge without a weight weighs 1."""
    import networkx as nx

    graph = _parse_or_refuse("GML", source, lambda: nx.parse_gml(text, label=None))
    return _checked_graph(graph, list(graph), source)


def parse_json(text: str, source: str) -> Graph:
    """Read a directed graph in node-link form (``edges``, or ``links`` in old versions)."""
    import networkx as nx

    def refuse(constant: str) -> NoReturn:
        raise DataError(f"{source} holds {constant}: weights are finite numbers.")

    document = _parse_or_refuse("JSON", source, lambda: json.loads(text, parse_constant=refuse))
    try:
        listed = [node["id"] for node in document["nodes"]]
        edges = "edges" if "edges" in document else "links"
        directed = document.get("directed") is True
        graph = nx.node_link_graph(document, directed, multigraph=True, edges=edges)
    except (AttributeError, KeyError, TypeError, ValueError, nx.NetworkXError) as error:
        raise DataError(
            f"{source} is not a graph in node-link form: it needs 'directed', 'nodes' with 'id' "
            "and 'edges' with 'source' and 'target'."
        ) from error
    return _checked_graph(graph, listed, source)


def _parse_or_refuse(format: str, source: str, parse: Callable[[], Any]) -> Any:
    """Parse a file; convert any exception of the parser to a `DataError`."""
    import networkx as nx

    try:
        with ignoring(Warning):  # about parts of a format other than nodes and arcs
            return parse()
    except (DataError, MemoryError):
        raise
    except Exception as error:
        is_clear = isinstance(error, nx.NetworkXError | SyntaxError | ValueError)
        reason = f" ({' '.join(str(error).split()).rstrip('.')})" if is_clear else ""
        raise DataError(f"{source} is not well-formed {format}{reason}: save it again.") from error


def _checked_graph(
    graph: "nx.MultiDiGraph", listed: list[Any], source: str, default_weight: Any = 1
) -> Graph:
    """Check the graph that networkx read, and convert it to a `Graph`."""
    if not graph.is_directed():
        raise DataError(f"{source} holds an undirected graph: give every edge a direction.")
    for node in listed:
        if not isinstance(node, str | int | float) or isinstance(node, bool):
            raise DataError(f"{source} has a node named {reprlib.repr(node)}: names are text.")
    edges = graph.edges(data="weight", default=default_weight)
    arcs = [(start, end, number(str(weight), source)) for start, end, weight in edges]
    return graph_from_names(listed, arcs, source, _names(graph, listed))


def _names(graph: "nx.MultiDiGraph", listed: list[Any]) -> list[str]:
    """Return the names of nodes; igraph, yEd and GML keep them in an attribute of the node."""
    for attribute in ("name", "label"):
        named = graph.nodes(data=attribute)
        names = [str(named[node]) for node in listed if named[node] is not None]
        if names and len(names) == len(listed) == len(set(names)):
            return names
    return [str(node) for node in listed]
