"""Every function that takes a graph accepts all kinds of graphs, with the same arcs."""

import json
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import cosmodag
from cosmodag import OrderSearch
from cosmodag.cli import main
from cosmodag.errors import DataError
from cosmodag.io import (
    Graph,
    as_graph,
    dump_graph,
    graph_suffix,
    read_graph,
    to_lingam,
    to_networkx,
    write_graph,
)
from cosmodag.metrics import evaluate
from learner_catalogue import chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
TEXTS = ["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json", "cyjs", "bif"]


@pytest.fixture(scope="module")
def table():
    return chain_table()


@pytest.fixture(scope="module")
def model(table):
    return OrderSearch(random_state=0).fit(table)


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    home = tmp_path_factory.mktemp("fits")
    table.to_csv(home / "t.csv", index=False)
    options = ["--method", "order-search", "--seed", "0", "--quiet"]
    assert main(["fit", str(home / "t.csv"), "-o", str(home / "out"), *options]) == 0
    return home / "out"


def pairs(graph):
    return sorted(arc[:2] for arc in as_graph(graph).named_arcs())


class TestWhatIsAGraph:
    def test_objects(self, model):
        graph = as_graph(model)
        assert list(graph.names) == list("abcde")
        np.testing.assert_array_equal(graph.dense(), model.adjacency_)
        frame = pd.DataFrame(graph.dense(), graph.names, graph.names)
        for other in (graph, model.graph_, frame):
            assert as_graph(other) == graph
        assert pairs(model.arcs_) == pairs(graph)
        nameless = as_graph(graph.dense())
        assert list(nameless.names) == ["x0", "x1", "x2", "x3", "x4"]
        assert as_graph(sparse.csr_array(graph.dense())) == nameless

    def test_every_file_of_a_fit(self, folder, model):
        found = [folder, *(folder / name for name in ("graph.graphml", "graph.cyjs", "edges.csv"))]
        found += [folder / "adjacency.csv", folder / "model.safetensors"]
        for path in found:
            assert pairs(path) == pairs(model), path
        assert as_graph(folder) == as_graph(str(folder / "model.safetensors"))

    def test_a_model_of_a_table_without_names(self, table):
        bare = OrderSearch(random_state=0).fit(table.to_numpy())
        assert list(as_graph(bare).names) == ["x0", "x1", "x2", "x3", "x4"]

    def test_an_arc_of_weight_zero_stays(self):
        graph = nx.DiGraph()
        graph.add_edge("a", "b", weight=0.0)
        assert pairs(graph) == [("a", "b")]

    @pytest.mark.parametrize(
        ("thing", "words"),
        [
            (3, "an object of type int is not a graph"),
            (np.zeros((2, 3)), "square"),
            (nx.Graph([("a", "b")]), "networkx.DiGraph"),
            (pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}, index=["u", "v"]), "same names"),
            ("nowhere.graphml", "does not exist"),
        ],
    )
    def test_what_is_not(self, thing, words):
        with pytest.raises(DataError, match=words):
            as_graph(thing)

    def test_what_is_not_yet(self, model, tmp_path):
        with pytest.raises(NotFittedError):
            as_graph(OrderSearch())
        with pytest.raises(DataError, match="without a direction"):
            as_graph(model.cpdag_)
        with pytest.raises(DataError, match=r"holds no graph\.graphml"):
            as_graph(tmp_path)


class TestFormats:
    @pytest.mark.parametrize("format", TEXTS)
    def test_a_model_and_back(self, model, tmp_path, format):
        path = tmp_path / f"g{graph_suffix(format)}"
        write_graph(model, path, format=format)
        assert sorted(read_graph(path).named_arcs()) == sorted(as_graph(model).named_arcs())

    def test_tetrad_keeps_arrows_but_no_weights(self, model, tmp_path):
        write_graph(model, tmp_path / "g.txt")
        text = (tmp_path / "g.txt").read_text()
        assert text.startswith("Graph Nodes:\na;b;c;d;e\n\nGraph Edges:\n1. ")
        assert pairs(tmp_path / "g.txt") == pairs(model)
        with pytest.raises(DataError, match="space, comma or semicolon"):
            dump_graph(Graph(["a b", "c"], np.zeros((2, 2))), "tetrad")

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("g.txt", "Graph Nodes:\na;b\n\nGraph Edges:\n1. a --- b\n", "no single direction"),
            ("g.txt", "Graph Nodes:\na\n\nGraph Edges:\n1. a --> b\n", "not among its nodes"),
            ("g.txt", "Graph Nodes:\na;b\n\nGraph Edges:\nnothing\n", "write 'a --> b'"),
            ("g.txt", "some notes", "not a graph of Tetrad"),
            ("g.bif", "network n {}", "declares no variable"),
            ("g.bif", "variable a { }\nprobability ( ) { }", "without a variable"),
            ("g.bif", "variable a { }\nprobability ( a | b ) { }", "not among its nodes"),
            ("g.cyjs", '{"elements": [1]}', "not a graph of Cytoscape"),
            ("g.cyjs", "{" * 9000, "not a graph of Cytoscape"),
            ("g.cpdag.txt", "anything", "cannot be read as a directed graph"),
            ("g.pdf", "%PDF", "cannot be read as a directed graph"),
            ("m.safetensors", "anything", "not a saved model"),
        ],
    )
    def test_what_cannot_be_read_is_one_sentence(self, tmp_path, name, text, words):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match=words) as caught:
            read_graph(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_bif_of_others(self, tmp_path):
        """The format of the bnlearn repository, and the older format without a bar."""
        (tmp_path / "g.bif").write_text(
            "network unknown {\n}\n// a comment: variable z {\n"
            "variable asia {\n  type discrete [ 2 ] { yes, no };\n}\n"
            "variable tub {\n  type discrete [ 2 ] { yes, no };\n}\n"
            'variable "either" {\n  type discrete [ 2 ] { yes, no };\n}\n'
            "probability ( asia ) {\n  table 0.01, 0.99;\n}\n"
            "probability ( tub | asia ) {\n  (yes) 0.05, 0.95;\n  (no) 0.01, 0.99;\n}\n"
            'probability ( "either" tub asia ) {\n  default 0.5, 0.5;\n}\n'
        )
        graph = read_graph(tmp_path / "g.bif")
        assert list(graph.names) == ["asia", "tub", "either"]
        assert pairs(graph) == [("asia", "either"), ("asia", "tub"), ("tub", "either")]

    @pytest.mark.optional
    def test_pgmpy_reads_our_bif(self, model):
        bif = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")
        found = bif.BIFReader(string=dump_graph(model, "bif"))
        assert sorted(map(tuple, found.variable_edges)) == pairs(model)
        assert found.get_model().check_model()

    def test_the_class_as_text(self, model, tmp_path):
        write_graph(model.cpdag_, tmp_path / "class.txt")
        write_graph(model, tmp_path / "g.cpdag.txt")
        text = (tmp_path / "class.txt").read_text()
        assert (tmp_path / "g.cpdag.txt").read_text() == text
        chain = Graph(["a", "b", "c"], [[0, 1, 0], [0, 0, 0], [0, 1, 0]])
        assert "1. a --> b\n2. c --> b" in dump_graph(chain, "cpdag")
        assert "1. a --- b" in dump_graph(Graph(["a", "b"], [[0, 1], [0, 0]]), "cpdag")
        write_graph(model.cpdag_, tmp_path / "class.dot")
        assert (tmp_path / "class.dot").read_text().startswith("digraph {")
        with pytest.raises(DataError, match="ends in"):
            write_graph(model.cpdag_, tmp_path / "class.csv")

    def test_a_partial_ancestral_graph_needs_data(self, model):
        assert dump_graph(model, "pag") == model.pag_.text() + "\n"
        with pytest.raises(DataError, match="learnt from data"):
            dump_graph(as_graph(model), "pag")

    @pytest.mark.parametrize(
        ("format", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")]
    )
    def test_drawings(self, model, tmp_path, format, start):
        path = tmp_path / f"g.{format}"
        write_graph(model, path)
        assert path.read_bytes().startswith(start)
        first = path.read_bytes()
        write_graph(model, path)
        assert path.read_bytes() == first
        write_graph(nx.DiGraph([("a$", "b")]), path)
        with pytest.raises(DataError, match="not text"):
            dump_graph(model, format)
        with pytest.raises(DataError, match="cannot be drawn in layers"):
            write_graph(nx.DiGraph([("a", "b"), ("b", "a")]), path)


class TestAllThatTakesAGraph:
    def test_other_libraries(self, model, folder):
        for graph in (model, model.graph_, folder):
            assert sorted(to_networkx(graph).edges) == pairs(model)
            np.testing.assert_array_equal(to_lingam(graph) != 0, model.adjacency_.T != 0)

    @pytest.mark.optional
    @pytest.mark.parametrize("library", ["dowhy", "pgmpy", "causallearn"])
    def test_optional_libraries(self, model, folder, library):
        pytest.importorskip(library, reason=f"{library} is not installed")
        convert = getattr(cosmodag.io, f"to_{library}")
        for graph in (model, model.graph_, folder):
            made = convert(graph)
            if library != "causallearn":
                assert pairs(made) == pairs(model)
            else:
                assert made.get_num_edges() == len(pairs(model))

    def test_evaluate(self, model, folder, table):
        truth = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
        matrix = np.diag(np.ones(4), 1)
        expected = evaluate(matrix, model.adjacency_, 0.0)
        for estimate in (model, folder, model.graph_, str(folder / "graph.cyjs")):
            assert evaluate(truth, estimate) == pytest.approx(expected)
        assert evaluate(matrix, model) == pytest.approx(expected)
        with pytest.raises(DataError, match="lacks"):
            evaluate(nx.DiGraph([("a", "zz")]), model)

    def test_commands(self, folder, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        write_graph(nx.DiGraph([("a", "b"), ("b", "c")]), "truth.csv")
        assert main(["evaluate", "truth.csv", str(folder), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["true_edges"] == 2
        for given in (folder, folder / "graph.cyjs", folder / "model.safetensors"):
            for out in ("g.graphml", "g.pdf", "g.cpdag.txt", "g.bif"):
                assert main(["convert", str(given), out, "--quiet"]) == 0
        assert pairs("g.bif") == pairs(folder)

    def test_reports(self, folder, tmp_path, monkeypatch, capsys, model):
        monkeypatch.chdir(tmp_path)
        for given in (folder, folder / "model.safetensors", folder / "graph.graphml"):
            assert main(["report", str(given), "-o", "r.html"]) == 0
        model.save("alone.safetensors")
        assert main(["report", "alone.safetensors"]) == 0
        assert (tmp_path / "report.html").exists()
        write_graph(model, "g.dot")
        capsys.readouterr()
        assert main(["report", "g.dot"]) == 2
        error = capsys.readouterr().err
        assert "To draw a graph alone, use 'cosmodag convert g.dot graph.pdf'" in error

    def test_load_takes_the_folder(self, folder, tmp_path):
        assert as_graph(cosmodag.load(folder)) == as_graph(folder)
        with pytest.raises(DataError, match=r"holds no model\.safetensors"):
            cosmodag.load(tmp_path)


def test_standard_input_is_recognised(monkeypatch, model):
    import io

    for format in ("cyjs", "bif", "tetrad", "json"):
        text = dump_graph(model, format)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert pairs("-") == pairs(model)
