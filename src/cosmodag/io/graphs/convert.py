"""Conversion of graphs for other libraries, each imported only when it is needed.

Everywhere in this package ``weights[u, v]`` belongs to the arc u → v: rows are causes, columns
are effects. Other libraries have other conventions:

=============  ===========================================================================
library        the arc u → v
=============  ===========================================================================
networkx       edge ``(u, v)`` of a ``DiGraph``, its weight the attribute ``weight``
pgmpy          edge ``(u, v)`` of a ``pgmpy.base.DAG``, with the attribute ``weight``
causal-learn   ``graph[v, u] = 1`` (arrowhead at v) and ``graph[u, v] = -1`` (tail at u)
LiNGAM         ``B[v, u]``, since its model is x = Bx + e: the transpose of ``weights``
DoWhy          edge ``(u, v)`` of the ``DiGraph`` inside a structural causal model
=============  ===========================================================================
"""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError, name_list
from cosmodag.io.graphs.digraph import Graph, networkx_of
from cosmodag.io.graphs.read_graph import GraphLike, as_graph, is_model

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: GraphLike) -> "nx.DiGraph":
    """Convert to a ``networkx.DiGraph``: names as nodes, in order, and ``weight`` on each edge.

    Like all conversions here, it accepts whatever `as_graph` does: a `Graph`, a fitted model, a
    matrix, a file, the folder of a fit. The result for a model is its ``graph_``.

    Examples
    --------
    >>> graph = to_networkx(Graph(["rain", "wet"], [[0, 0.5], [0, 0]]))
    >>> list(graph.edges(data="weight"))
    [('rain', 'wet', 0.5)]
    """
    return graph.graph_ if is_model(graph) else networkx_of(as_graph(graph))


def to_pgmpy(graph: GraphLike) -> Any:
    """Convert to a ``pgmpy.base.DAG`` with ``weight`` on each edge; the graph must be acyclic."""
    graph = _acyclic(graph, "pgmpy")
    dag = _imported("pgmpy.base", "pgmpy").DAG()
    dag.add_nodes_from(list(graph.names))
    for source, target, weight in graph.named_arcs():
        dag.add_edge(source, target, weight=weight)
    return dag


def to_causallearn(graph: GraphLike) -> Any:
    """Convert to a causal-learn ``Dag``; weights are dropped, and the graph must be acyclic.

    The matrix of a ``Dag`` marks the ends of edges: for u → v, ``graph[v, u]`` is 1 and
    ``graph[u, v]`` is -1.
    """
    graph = _acyclic(graph, "causal-learn")
    node_class = _imported("causallearn.graph.GraphNode", "causal-learn").GraphNode
    nodes = {name: node_class(name) for name in graph.names}
    dag = _imported("causallearn.graph.Dag", "causal-learn").Dag(list(nodes.values()))
    for source, target, _ in graph.named_arcs():
        dag.add_directed_edge(nodes[source], nodes[target])
    return dag


def to_lingam(graph: GraphLike) -> NDArray[np.float64]:
    """Convert to LiNGAM's matrix B of x = Bx + e: ``B[v, u]`` is the weight of u → v.

    B is the transpose of ``weights``, and comparable with the ``adjacency_matrix_`` of a model of
    the ``lingam`` package, which need not be installed.

    Examples
    --------
    >>> to_lingam(Graph(["rain", "wet"], [[0, 0.5], [0, 0]]))
    array([[0. , 0. ],
           [0.5, 0. ]])
    """
    return np.ascontiguousarray(as_graph(graph).dense().T)


def to_dowhy(graph: GraphLike) -> Any:
    """Convert to a ``dowhy.gcm.StructuralCausalModel`` without mechanisms; it must be acyclic.

    Continue with ``dowhy.gcm.auto.assign_causal_mechanisms`` and ``dowhy.gcm.fit``. The attribute
    ``graph`` of the result is the ``DiGraph`` that ``dowhy.CausalModel(graph=…)`` takes.
    """
    known = _acyclic(graph, "DoWhy")
    return _imported("dowhy.gcm", "dowhy").StructuralCausalModel(networkx_of(known))


def _acyclic(graph: GraphLike, library: str) -> Graph:
    import networkx as nx

    known = as_graph(graph)
    try:
        cycle = nx.find_cycle(networkx_of(known))
    except nx.NetworkXNoCycle:
        return known
    nodes = name_list([str(source) for source, _ in cycle])
    raise DataError(f"{library} accepts only acyclic graphs, and this one has a cycle: {nodes}.")


def _imported(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DataError(
            f"this conversion needs {package}: install it (pip install {package})."
        ) from error
