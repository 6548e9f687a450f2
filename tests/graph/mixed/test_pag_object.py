"""A partial ancestral graph as lists, as text, in networkx, in DOT and in files."""

import networkx as nx
import numpy as np
import pytest

from cosmodag.data.diagnose.arc_findings import of_pag
from cosmodag.errors import DataError
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.io.graphs.write_graph import write_graph

NAMES = ("a", 'b "x"', "c", "d")
MARKS = np.array([[0, 2, 0, 1], [2, 0, 2, 0], [0, 3, 0, 1], [1, 0, 2, 0]])


@pytest.fixture
def graph() -> PartialAncestralGraph:
    return PartialAncestralGraph(NAMES, MARKS, "a test")


def test_edges_are_listed_with_the_effect_last(graph):
    assert graph.edges() == [
        ("a", "↔", 'b "x"'),
        ("a", "∘–∘", "d"),
        ('b "x"', "→", "c"),
        ("d", "∘→", "c"),
    ]
    assert graph.open_marks == 3
    assert repr(graph) == "<PartialAncestralGraph of 4 variables: 1 →, 1 ∘→, 1 ↔, 1 ∘–∘>"


def test_networkx_has_the_marks_of_both_ends(graph):
    found = graph.to_networkx()
    assert list(found) == list(NAMES)
    assert found.edges["d", "c"] == {"kind": "∘→", "tail_mark": "circle", "head_mark": "arrow"}


@pytest.mark.parametrize("suffix", [".txt", ".dot", ".graphml"])
def test_files_name_every_edge(graph, tmp_path, suffix):
    path = tmp_path / f"pag{suffix}"
    write_graph(graph, path)
    text = path.read_text(encoding="utf-8")
    expected = {
        ".txt": "2. a o-o d\n",
        ".dot": '"a" -> "b \\"x\\"" [dir=both, arrowtail=normal, arrowhead=normal];',
        ".graphml": "circle",
    }
    assert expected[suffix] in text
    if suffix == ".graphml":
        again = nx.read_graphml(path)
        assert dict(again.edges) == dict(graph.to_networkx().edges)


def test_other_files_and_matrices_are_refused(graph, tmp_path):
    with pytest.raises(DataError, match="no known format"):
        write_graph(graph, tmp_path / "pag.csv")
    for wrong in ([[0, 2], [0, 0]], [[1, 0], [0, 0]], [[0, 4], [4, 0]], [[0, 1]]):
        with pytest.raises(DataError, match="matrix of marks"):
            PartialAncestralGraph(("a", "b"), np.array(wrong))


def test_the_matrix_cannot_be_changed(graph):
    with pytest.raises(ValueError, match="read-only"):
        graph.marks[0, 1] = 0


def test_findings_name_hidden_pairs_and_open_marks(graph):
    (hidden,) = of_pag(graph)
    assert (hidden.name, hidden.severity) == ("hidden_pairs", "warning")
    assert hidden.columns == ("a", 'b "x"')
    undecided = PartialAncestralGraph(("a", "b"), np.array([[0, 1], [1, 0]]))
    assert [finding.name for finding in of_pag(undecided)] == ["open_marks"]
    assert of_pag(PartialAncestralGraph(("a", "b"), np.zeros((2, 2)))) == []
