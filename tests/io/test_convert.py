"""The arc u → v has the same meaning in every other library."""

import sys

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.io import Graph
from cosmodag.io.graphs.convert import to_causallearn, to_dowhy, to_lingam, to_networkx, to_pgmpy
from cosmodag.io.graphs.digraph import from_networkx

GRAPH = Graph(["rain", "wet ground", "slip", "alone"],
              [[0, 2.0, 0, 0], [0, 0, -0.5, 0], [0, 0, 0, 0], [0, 0, 0, 0]])  # fmt: skip
ARCS = [("rain", "wet ground"), ("wet ground", "slip")]


def test_networkx_keeps_order_names_and_weights():
    made = to_networkx(GRAPH)
    assert list(made) == list(GRAPH.names)
    assert list(made.edges(data="weight")) == [
        ("rain", "wet ground", 2.0),
        ("wet ground", "slip", -0.5),
    ]
    assert from_networkx(made) == GRAPH


def test_networkx_keeps_an_arc_of_weight_zero():
    graph = Graph.from_arcs(["a", "b"], [0], [1], [0.0])
    assert to_networkx(graph).has_edge("a", "b")
    assert from_networkx(to_networkx(graph)) == graph


def test_from_networkx_names_by_str_and_weighs_one():
    assert from_networkx(nx.DiGraph([(1, 2)])).named_arcs() == [("1", "2", 1.0)]
    with pytest.raises(DataError, match="DiGraph"):
        from_networkx(nx.Graph([(1, 2)]))


def test_lingam_is_transposed():
    # LiNGAM's model is x = Bx + e, so that x = (I - B)^-1 e; ours is xᵀ = eᵀ (I - W)^-1.
    noise = np.random.default_rng(0).normal(size=4)
    ours = noise @ np.linalg.inv(np.eye(4) - GRAPH.dense())
    theirs = np.linalg.inv(np.eye(4) - to_lingam(GRAPH)) @ noise
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)  # the terms are summed in another order
    assert to_lingam(GRAPH)[1, 0] == 2.0
    as_sparse = Graph(GRAPH.names, sparse.csr_array(GRAPH.weights))
    np.testing.assert_array_equal(to_lingam(as_sparse), to_lingam(GRAPH))


@pytest.mark.optional
def test_pgmpy():
    base = pytest.importorskip("pgmpy.base", reason="pgmpy is not installed")
    made = to_pgmpy(GRAPH)
    assert isinstance(made, base.DAG)
    assert list(made.nodes()) == list(GRAPH.names)
    assert list(made.edges()) == ARCS
    assert made.get_parents("slip") == ["wet ground"]
    assert made["rain"]["wet ground"]["weight"] == 2.0


@pytest.mark.optional
def test_causallearn():
    pytest.importorskip("causallearn.graph.Dag", reason="causal-learn is not installed")
    made = to_causallearn(GRAPH)
    nodes = made.get_nodes()
    assert [node.get_name() for node in nodes] == list(GRAPH.names)
    assert made.is_parent_of(nodes[0], nodes[1])
    assert not made.is_parent_of(nodes[1], nodes[0])
    assert made.graph[1, 0] == 1
    assert made.graph[0, 1] == -1
    assert made.get_num_edges() == 2


@pytest.mark.optional
def test_dowhy():
    pytest.importorskip("dowhy.gcm", reason="dowhy is not installed")
    made = to_dowhy(GRAPH)
    assert list(made.graph.edges) == ARCS
    assert list(made.graph.predecessors("slip")) == ["wet ground"]


@pytest.mark.parametrize(
    ("convert", "module"),
    [
        (to_pgmpy, "pgmpy.base"),
        (to_causallearn, "causallearn.graph.Dag"),
        (to_dowhy, "dowhy.gcm"),
    ],
)
class TestRefusals:
    def test_a_cycle(self, convert, module):
        with pytest.raises(DataError, match="cycle: 'a', 'b'"):
            convert(Graph(["a", "b"], [[0, 1], [1, 0]]))

    def test_a_library_that_is_not_there(self, convert, module, monkeypatch):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(DataError, match="install"):
            convert(GRAPH)
