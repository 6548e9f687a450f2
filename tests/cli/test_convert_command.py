"""``cosmodag convert``: every format to every other, and errors."""

import io
import itertools
import sys

import pytest

from cosmodag.cli import main
from cosmodag.io import Graph, dump_graph, graph_suffix, read_graph, write_graph

GRAPH = Graph(["a", "b c", "é"], [[0, 1.5, -2e-9], [0, 0, 3.0], [0, 0, 0]])
FORMATS = ["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json", "cyjs"]


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(FORMATS, 2)))
def test_every_format_becomes_every_other(tmp_path, capsys, one, other):
    start, end = tmp_path / f"in{graph_suffix(one)}", tmp_path / f"out{graph_suffix(other)}"
    write_graph(GRAPH, start, format=one)
    to = ["--to", other] if other == "adjacency" else []
    assert main(["convert", str(start), str(end), *to]) == 0
    assert read_graph(end) == GRAPH
    assert capsys.readouterr() == ("", f"wrote '{end}': 3 nodes, 3 arcs.\n")


@pytest.mark.parametrize("format", FORMATS)
def test_standard_input_and_output(monkeypatch, capsys, format):
    given = io.TextIOWrapper(io.BytesIO(dump_graph(GRAPH, "edges").encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert main(["convert", "-", "-", "--to", format]) == 0
    out, err = capsys.readouterr()
    assert out == dump_graph(GRAPH, format)
    assert err == ""


def test_formats_may_be_named_and_nothing_said(tmp_path, capsys):
    (tmp_path / "in.txt").write_text(dump_graph(GRAPH, "dagitty"), encoding="utf-8")
    files = [str(tmp_path / "in.txt"), str(tmp_path / "out.txt")]
    assert main(["convert", *files, "--from", "dagitty", "--to", "json", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert read_graph(tmp_path / "out.txt", format="json") == GRAPH


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", "out.dot"], "'nowhere.csv' does not exist"),
        (["no_folder", "out.dot"], "'no_folder' does not exist"),
        (["g.csv", "out.jpeg"], "'out.jpeg' is not clear from its name"),
        (["g.csv", "-"], "--to"),
        (["g.csv", "out.dot", "--to", "jpeg"], "'jpeg' is not one of"),
        (["g.csv", "no/where.dot"], "make the folder"),
        (["quote.csv", "out.dagitty"], "DAGitty does not allow"),
        (["g.csv"], "OUT"),
        (["table.csv", "out.dot"], "a list of arcs begins with a line such as"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    write_graph(GRAPH, "g.csv")
    write_graph(Graph(['"', "b"], [[0, 1], [0, 0]]), "quote.csv")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    assert main(["convert", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
