"""Graph files of other programs, and files that raise an error of one sentence."""

import gzip
import io
import sys

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.io import Graph, dump_graph, read_graph, to_networkx, write_graph
from processor_limits import processor_time_below

GRAPH = Graph(["a b", 'c"d', "é"], [[0, 1.5, -2e-9], [0, 0, 3.0], [0, 0, 0]])


@pytest.fixture
def read(tmp_path):
    def read(text, name, **options):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return read_graph(path, **options)

    return read


def same_as_networkx(graph):
    assert sorted(graph.nodes) == sorted(GRAPH.names)
    assert {(u, v): w for u, v, w in graph.edges(data="weight")} == {
        (u, v): w for u, v, w in GRAPH.named_arcs()
    }


class TestNetworkxAgrees:
    def test_it_reads_our_graphml(self, tmp_path):
        write_graph(GRAPH, tmp_path / "g.graphml")
        same_as_networkx(nx.read_graphml(tmp_path / "g.graphml"))

    def test_it_reads_our_gml(self, tmp_path):
        write_graph(GRAPH, tmp_path / "g.gml")
        same_as_networkx(nx.read_gml(tmp_path / "g.gml"))

    def test_it_reads_our_json(self, tmp_path):
        import json

        write_graph(GRAPH, tmp_path / "g.json")
        document = json.loads((tmp_path / "g.json").read_text())
        same_as_networkx(nx.node_link_graph(document, edges="edges"))

    def test_we_read_its_graphml(self, read):
        buffer = io.BytesIO()
        nx.write_graphml(to_networkx(GRAPH), buffer)
        assert read(buffer.getvalue().decode(), "g.graphml") == GRAPH

    def test_we_read_its_gml(self, read):
        assert read("\n".join(nx.generate_gml(to_networkx(GRAPH))), "g.gml") == GRAPH


def test_graphml_with_names_in_an_attribute(read):
    text = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
    <key id="v_name" for="node" attr.name="name" attr.type="string"/>
    <key id="w" for="edge" attr.name="weight" attr.type="double"><default>7</default></key>
    <graph id="G" edgedefault="directed">
    <node id="n0"><data key="v_name">rain</data></node>
    <node id="n1"><data key="v_name">wet &amp; cold</data></node>
    <edge source="n0" target="n1"/></graph></graphml>"""
    assert read(text, "g.graphml").named_arcs() == [("rain", "wet & cold", 7.0)]


def test_dot_by_hand(read):
    text = """// a comment
    strict digraph "the graph" {
      rankdir=LR; node [shape=box, color="red"]
      a -> b -> c [weight=2]; /* two
      lines */ "d e" [label="x"];
      a -> {c "d e"} [beta=-0.5]
    # a line for the preprocessor
    }"""
    graph = read(text, "g.dot")
    assert graph.names == ("a", "b", "c", "d e")
    assert graph.named_arcs() == [
        ("a", "b", 2.0), ("a", "c", -0.5), ("a", "d e", -0.5), ("b", "c", 2.0),
    ]  # fmt: skip


def test_dot_edge_defaults_hold_for_the_arcs_after_them(read):
    text = """digraph { a -> b; edge [weight=3, color=red]; b -> c; c -> d [beta=-1]
    edge [style=dotted] a -> d; EDGE [beta=4]; b -> d }"""
    assert {arc[:2]: arc[2] for arc in read(text, "g.dot").named_arcs()} == {
        ("a", "b"): 1.0, ("b", "c"): 3.0, ("c", "d"): -1.0, ("a", "d"): 3.0, ("b", "d"): 4.0,
    }  # fmt: skip


def test_dagitty_by_hand(read):
    text = """dag { bb="0,0,1,1"
    X [exposure,pos="-0.5,1.2"] Y [outcome]
    Z.1 -> X  Z.1 -> Y
    Y <- X [beta=".25"]
    {U V} -> Y }"""
    assert sorted(read(text, "g.dagitty").named_arcs()) == [
        ("U", "Y", 1.0), ("V", "Y", 1.0), ("X", "Y", 0.25), ("Z.1", "X", 1.0), ("Z.1", "Y", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "header", ['"Cause","Effect"', "from,to", "Source;Target", "parent\tchild"]
)
def test_edge_lists_by_other_names(read, header):
    separator = next(s for s in ",;\t" if s in header)
    text = "\n".join([header, f"a{separator}b", f"b{separator}c"])
    assert read(text, "g.csv").named_arcs() == [("a", "b", 1.0), ("b", "c", 1.0)]


def test_edge_list_with_further_columns(read):
    text = "source,probability,target,weight\na,0.9,b,-1\n"
    assert read(text, "g.csv").named_arcs() == [("a", "b", -1.0)]


@pytest.mark.parametrize(
    "text",
    [
        "source, target, weight\na, b, 2\n",
        "source , target,weight\n a,b , 2\n",
        'source, target, weight\n"a", "b", 2\n',
        "source;\ttarget; weight\na; b; 2\n",
    ],
)
def test_blanks_around_the_fields_of_an_edge_list_are_no_part_of_names(read, text):
    graph = read(text, "g.csv")
    assert graph.names == ("a", "b")
    assert graph.named_arcs() == [("a", "b", 2.0)]


def test_blanks_within_quotes_are_part_of_names(read):
    assert read('source,target\n" a","b "\n', "g.csv").names == (" a", "b ")


def test_matrix_without_row_names(read):
    assert read("a,b\n0,1\n0,0\n", "g.csv").named_arcs() == [("a", "b", 1.0)]


BAD = {
    "missing": (None, "none.gml", "does not exist"),
    "suffix": ("digraph {}", "g.abc", ".graphml, .gml"),
    "empty": ("", "g.gml", "is empty"),
    "entity bomb": (
        '<!DOCTYPE g [<!ENTITY a "xx"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>',
        "g.graphml", "document type"),
    "outside entity": (
        '<!DOCTYPE g SYSTEM "http://x/y"><graphml/>', "g.graphml", "document type"),
    "broken XML": ("<graphml><graph>", "g.graphml", "line 1"),
    "other XML": ("<html/>", "g.graphml", "0 GraphML graphs"),
    "two graphs": (
        '<graphml><graph edgedefault="directed"/><graph edgedefault="directed"/></graphml>',
        "g.graphml", "2 GraphML graphs"),
    "undirected GraphML": (
        '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/></graph></graphml>', "g.graphml", "undirected graph"),
    "undirected edge in GraphML": (
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b" directed="false"/></graph></graphml>',
        "g.graphml", "directed=false"),
    "GraphML weight": (
        '<graphml><key id="w" for="edge" attr.name="weight" attr.type="string"/>'
        '<graph edgedefault="directed"><node id="a"/><edge source="a" target="a">'
        '<data key="w">x</data></edge></graph></graphml>', "g.graphml", "weight 'x'"),
    "GraphML arc twice": (
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/><edge source="a" target="b"/></graph></graphml>',
        "g.graphml", "more than once"),
    "hyperedge": ("<graphml><graph><hyperedge/></graph></graphml>", "g.graphml", "hyperedge"),
    "no id": ("<graphml><graph><node/></graph></graphml>", "g.graphml", "without 'id'"),
    "unknown node": (
        '<graphml><graph edgedefault="directed"><node id="a"/>'
        '<edge source="a" target="b"/></graph></graphml>',
        "g.graphml", "'b', which is not among its nodes"),
    "node twice": (
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="a"/></graph></graphml>',
        "g.graphml",
        "'a' more than once"),
    "no nodes": (
        '<graphml><graph edgedefault="directed"/></graphml>', "g.graphml", "at least one node"),
    "GML in the middle": ('graph [ directed 1 node [ id 0 label "a" ]', "g.gml", "GML .*EOF"),
    "not GML": ("graph { }", "g.gml", "not well-formed GML"),
    "GML key without value": ("graph [ directed 1 ]\nnode", "g.gml", "not well-formed GML"),
    "undirected GML": ("graph [ node [ id 0 ] ]", "g.gml", "undirected"),
    "GML node without id": ('graph [ directed 1 node [ label "a" ] ]', "g.gml", "no 'id'"),
    "GML node not a list": ("graph [ directed 1 node 5 ]", "g.gml", "GML: save it again"),
    "GML arc twice": (
        "graph [ directed 1 node [ id 0 ] edge [ source 0 target 0 ] edge [ source 0 target 0 ] ]",
        "g.gml", "duplicated"),
    "undirected DOT": ("graph { a -- b }", "g.dot", "'graph'"),
    "undirected edge": ("digraph {\n a -- b }", "g.dot", "'--' at line 2"),
    "bidirected": ("dag { a <-> b }", "g.dagitty", "'<->'"),
    "open DOT": ("digraph { a -> b", "g.dot", "at its end"),
    "DOT subgraph": ("digraph { subgraph x { a -> b } }", "g.dot", "line 1"),
    "DOT subgraph of nodes": ("digraph { a -> subgraph { b c } }", "g.dot", "from 'subgraph'"),
    "DOT HTML": ("digraph { a [label=<b>] }", "g.dot", "line 1"),
    "after DOT": ("digraph { a } b", "g.dot", "'b'"),
    "not DOT": ("hello", "g.dot", "does not start"),
    "DOT weight": ("digraph { a -> b [beta=x] }", "g.dot", "weight 'x'"),
    "DOT arc twice": ("digraph { a -> b a -> b }", "g.dot", "more than once"),
    "edge weight": ("source,target,weight\na,b,high\n", "g.csv", "weight 'high'"),
    "edge twice": ("source,target\na,b\na,b\n", "g.csv", "more than once"),
    "edge from nowhere": ("source,target\n,b\n", "g.csv", "no name"),
    "ragged": ("source,target\na,b\nc\n", "g.csv", "row 3"),
    "not square": ("a,b,c\n0,1,0\n", "g.csv", "square"),
    "matrix of words": ("a,b\n0,x\n0,0\n", "g.csv", "'a'.*other than numbers"),
    "matrix labels": (",a,b\nb,0,1\na,0,0\n", "g.csv", "same names in the same order"),
    "infinite": ("a,b\n0,inf\n0,0\n", "g.csv", "finite weight"),
    "not JSON": ("{", "g.json", "line 1"),
    "deep JSON": ("[" * 100_000, "g.json", "JSON"),
    "JSON list": ("[]", "g.json", "node-link"),
    "JSON undirected": ('{"nodes": [], "edges": []}', "g.json", "undirected"),
    "JSON NaN": (
        '{"directed": true, "nodes": [{"id": "a"}], "edges": [NaN]}', "g.json", "NaN"),
    "JSON no edges": ('{"directed": true, "nodes": []}', "g.json", "node-link"),
    "JSON odd name": (
        '{"directed": true, "nodes": [{"id": null}], "edges": []}', "g.json", "node-link"),
    "JSON name of truth": (
        '{"directed": true, "nodes": [{"id": true}], "edges": []}', "g.json", "named True"),
    "JSON unknown node": (
        '{"directed": true, "nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "b"}]}',
        "g.json", "'b', which is not among its nodes"),
    "JSON arc twice": (
        '{"directed": true, "nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "a"}, '
        '{"source": "a", "target": "a"}]}', "g.json", "more than once"),
    "lone quote": ('source,"target\n' + "a,b\n" * 40_000, "g.csv", "never closed"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, read, case):
    text, name, message = BAD[case]
    with pytest.raises(DataError, match=message) as caught:
        read_graph(tmp_path / name) if text is None else read(text, name)
    assert name in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_unknown_format(tmp_path):
    with pytest.raises(DataError, match="'jpeg' is not known"):
        write_graph(GRAPH, tmp_path / "g.jpeg", "jpeg")


def test_a_refused_name_leaves_the_old_file(tmp_path):
    write_graph(GRAPH, tmp_path / "g.dot")
    before = (tmp_path / "g.dot").read_bytes()
    with pytest.raises(DataError, match="backslash"):
        write_graph(Graph(["a\\", "b"], np.zeros((2, 2))), tmp_path / "g.dot")
    assert (tmp_path / "g.dot").read_bytes() == before


class TestGraph:
    def test_dense_and_sparse_are_equal(self):
        assert Graph(GRAPH.names, sparse.csr_array(GRAPH.weights)) == GRAPH
        assert Graph(GRAPH.names, sparse.coo_matrix(GRAPH.weights)) == GRAPH
        assert Graph(GRAPH.names, GRAPH.weights.T) != GRAPH

    def test_a_stored_zero_is_an_arc(self):
        graph = Graph.from_arcs(["a", "b"], [0], [1], [0.0])
        assert graph.number_of_arcs == 1
        np.testing.assert_array_equal(graph.mask(), [[False, True], [False, False]])

    def test_booleans_weigh_one(self):
        assert Graph(["a", "b"], np.array([[0, 1], [0, 0]], dtype=bool)).named_arcs() == [
            ("a", "b", 1.0)
        ]

    def test_aligned_refuses_nodes_it_does_not_know(self):
        with pytest.raises(DataError, match="'é'"):
            GRAPH.aligned(["a b", 'c"d'])

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.zeros((2, 3)), "shape"),
            (np.array([[0, np.nan], [0, 0]]), "from 'a' to 'b'.*nan"),
            (np.array([["x", "y"], ["z", "w"]]), "real numbers"),
        ],
    )
    def test_refusals(self, weights, message):
        with pytest.raises(DataError, match=message):
            Graph(["a", "b"], weights)


def test_a_large_sparse_graph_is_never_made_dense(tmp_path):
    # A dense matrix would take 20 GB.
    rng = np.random.default_rng(0)
    nodes, arcs = 50_000, 20_000
    keys = np.unique(rng.integers(nodes * nodes, size=arcs))
    graph = Graph.from_arcs([f"v{index}" for index in range(nodes)], keys // nodes, keys % nodes)
    write_graph(graph, tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml") == graph


@pytest.mark.parametrize(
    "format", ["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json"]
)
def test_standard_input_is_told_by_how_it_begins(monkeypatch, format):
    plain = Graph(["a b", "c'd", "é"], GRAPH.weights)
    text = dump_graph(plain, format)
    for content in (text, "\ufeff" + text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert read_graph("-") == plain


def test_a_matrix_of_numbers_alone_is_a_graph(read):
    graph = read("0,1.5,0\n0,0,-2\n0,0,0\n", "w.csv")
    assert graph.named_arcs() == [("x0", "x1", 1.5), ("x1", "x2", -2.0)]
    assert read("0;1\n0;0\n", "w.csv").names == ("x0", "x1")
    # A row of numbers above a square matrix is a header of names.
    assert read("0,1\n0,1\n0,0\n", "w.csv").names == ("0", "1")


def test_compressed_graphs_are_read_and_not_written(tmp_path):
    plain = Graph(["a", "b"], [[0, 0.5], [0, 0]])
    for end in ("csv", "graphml", "json"):
        write_graph(plain, tmp_path / f"g.{end}")
        packed = tmp_path / f"g.{end}.gz"
        packed.write_bytes(gzip.compress((tmp_path / f"g.{end}").read_bytes()))
        assert read_graph(packed) == plain
    with pytest.raises(DataError, match="is not clear from its name"):
        write_graph(plain, tmp_path / "g.csv.gz")


@pytest.mark.parametrize(
    "text",
    [
        "digraph {" + "/*!" * 20_000,
        "digraph {" + "1" * 60_000 + "a",
        "digraph {" + '"\\' * 30_000,
        "digraph {" + "{" * 60_000,
        f"digraph {{ {{{' '.join(map(str, range(4000)))}}} -> {{{' '.join('a' * 4000)}}} }}",
    ],
    ids=["comment", "number", "quote", "braces", "product"],
)
def test_hostile_dot_is_refused_in_time_linear_in_its_length(read, text):
    # 0.1 s now; once 6.7 s and over 40 s.
    with processor_time_below(2), pytest.raises(DataError):
        read(text, "g.dot")
