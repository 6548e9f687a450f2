"""Every graph format either reads back the graph that was written or refuses to write it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_examples import gate_examples
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.io import Graph, read_graph, write_graph

FORMATS = ["graphml", "gml", "dot", "dagitty", "edges", "adjacency", "json"]
AWKWARD = [
    "two words", " lead", "trail ", 'quo"te', "quo'te", "line\nend", "carriage\rreturn", "tab\t",
    "é", "変数", "🌧", "a,b", "a;b", "a|b", "&amp;", "&#10;", "<b>", "]]>", "back\\slash", "end\\",
    "node", "graph", "edge", "source", "target", "weight", "digraph", "-1", "1.5", "0", "true",
    "{x}", "[y]", "a->b", "//c", "/*d*/", "#e", "=", "\x00", "\x1b", "\u2028", "\x85", "\ufeff",
    "\ufffe", "nan", "None",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("unflushed_files")


names = st.lists(
    st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1, max_size=8)),
    min_size=1,
    max_size=6,
    unique=True,
)
weights = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def graphs(draw):
    """Any digraph: it may have cycles, self-loops and arcs of weight zero."""
    nodes = draw(names)
    end = st.integers(0, len(nodes) - 1)
    arcs = draw(st.dictionaries(st.tuples(end, end), weights, max_size=12))
    return Graph.from_arcs(
        nodes, [u for u, _ in arcs], [v for _, v in arcs], np.array(list(arcs.values()))
    )


@pytest.mark.parametrize("format", FORMATS)
@gate_examples(100)
@given(graph=graphs())
def test_written_graph_reads_back_or_is_refused(tmp_path_factory, format, graph):
    path = tmp_path_factory.getbasetemp() / f"round.{format}"
    path.unlink(missing_ok=True)
    try:
        write_graph(graph, path, format)
    except DataError as error:
        assert_one_sentence(error)
        assert not path.exists()
        assert cannot_represent(format, graph)
        return
    back = read_graph(path, format)
    if format == "edges":  # an edge list does not record the order of nodes
        assert set(back.names) == set(graph.names)
        back = back.aligned(graph.names)
    assert back == graph


def cannot_represent(format, graph):
    """Whether the format cannot represent the graph; every other graph must be read back."""
    text = "".join(graph.names)
    if format == "graphml":
        return any(ord(c) < 32 and c not in "\t\n\r" for c in text) or bool(
            set(text) & {"\ufffe", "\uffff"}
        )
    if format == "dot":
        return bool(set(text) & set("\\\0"))
    if format == "dagitty":
        return bool(set(text) & set('\\\0"\n\r'))
    if format == "adjacency":
        return bool((graph.arcs()[2] == 0).any())
    return False


def assert_one_sentence(error):
    message = str(error)
    assert message.endswith("."), message
    assert "\n" not in message


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", AWKWARD)
def test_each_awkward_name(tmp_path, format, name):
    graph = Graph([name, "other"], [[0, -1.5e-7], [0, 0]])
    path = tmp_path / "graph"
    try:
        write_graph(graph, path, format)
    except DataError:
        assert cannot_represent(format, graph)
    else:
        assert read_graph(path, format) == graph


@pytest.mark.parametrize("format", FORMATS)
@gate_examples(80)
@given(cut=st.tuples(st.floats(0, 1), st.integers(0, 12)), insert=st.text(max_size=4))
def test_a_damaged_file_is_read_or_refused_but_never_breaks(tmp_path_factory, format, cut, insert):
    path = tmp_path_factory.getbasetemp() / f"damaged.{format}"
    write_graph(Graph(["a b", "c", "é"], [[0, 1.5, -2e-9], [0, 0, 3.0], [0, 0, 0]]), path, format)
    text = path.read_text(encoding="utf-8")
    start = int(cut[0] * len(text))
    path.write_bytes((text[:start] + insert + text[start + cut[1] :]).encode())
    try:
        read_graph(path, format)
    except DataError as error:
        assert_one_sentence(error)


@pytest.mark.parametrize("suffix", ["graphml", "gml", "dot", "gv", "dagitty", "csv", "json"])
def test_suffix_chooses_the_format(tmp_path, suffix):
    graph = Graph(["a", "b", "c"], sparse.csr_array(np.array([[0, 2.0, 0], [0, 0, 0], [0, 0, 0]])))
    write_graph(graph, tmp_path / f"g.{suffix}")
    assert read_graph(tmp_path / f"g.{suffix}") == graph


def test_a_csv_matrix_is_told_from_an_edge_list(tmp_path):
    graph = Graph(["source", "target"], [[0, 2.0], [0, 0]])
    write_graph(graph, tmp_path / "g.csv", "adjacency")
    assert read_graph(tmp_path / "g.csv") == graph


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""], ["a", "\ud800"], []])
def test_graph_refuses_names(names):
    with pytest.raises(DataError):
        Graph(names, np.zeros((len(names), len(names))))
