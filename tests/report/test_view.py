"""The drawn part of a graph and its layout: thinned, hubs first, no arc through a node."""

import networkx as nx
import pytest

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]


@pytest.mark.parametrize(
    ("name", "direction"),
    [("small", "right"), ("proteins", "down"), ("dense", "down"), ("dense", "right")],
)
def test_no_arc_points_backwards_or_runs_through_a_node(show, name, direction):
    opened = show(name, hash=f"#direction={direction}")
    assert opened.backwards() == 0
    assert opened.hits() == 0
    assert opened.overlaps() == 0


def test_many_arcs_start_thinned(show, graphs):
    opened, model = show("dense"), graphs("dense")
    arcs = model.edges_.nnz
    assert opened.drawn() == 60
    assert f"60 of {arcs} arcs (the strongest)" in opened.text("#cut-text")
    strongest = set(model.arcs_.index[:20])
    drawn = set(opened.page.evaluate("cosmodag.graph.edges().map(e => e.data('arc'))"))
    assert strongest <= drawn
    joined = {name for name in model.names_ if model.graph_.degree(name)}
    ends = opened.page.evaluate("cosmodag.graph.nodes().filter(n => n.degree() > 0).length")
    assert ends == len(joined)
    button = opened.page.locator("#thin")
    assert button.text_content() == f"Show all {arcs} arcs"
    button.click()
    assert opened.drawn() == arcs
    assert opened.backwards() == 0
    assert opened.hits() == 0
    button.click()
    assert opened.drawn() == 60


def test_few_arcs_are_all_drawn(show):
    assert not show("proteins").page.locator("#thin").is_visible()


@pytest.mark.parametrize("name", ["large", "huge"])
def test_many_variables_start_with_their_hubs(show, graphs, name):
    opened, graph = show(name), graphs(name).graph_
    drawn = opened.names()
    assert len(drawn) <= 40
    hub = max(graph, key=graph.degree)
    assert hub in drawn
    assert nx.is_connected(graph.subgraph(drawn).to_undirected())
    labels = opened.page.evaluate(
        "Object.fromEntries(cosmodag.graph.nodes().map(n => [n.data('label').split('  +')[0],"
        " Number(n.data('label').split('  +')[1] || 0)]))"
    )
    for variable, more in labels.items():
        near = {*graph.predecessors(variable), *graph.successors(variable)}
        assert more == len(near - drawn)
    assert opened.hits() == 0
    assert opened.overlaps() == 0


def test_neighbours_of_a_hub_are_drawn_and_removed(show, graphs):
    opened, graph = show("large"), graphs("large").graph_
    before = opened.names()
    near = lambda one: {*graph.predecessors(one), *graph.successors(one)}  # noqa: E731
    one = next(name for name in sorted(before) if near(name) - before)
    opened.click_node(one)
    opened.page.get_by_role("button", name="Draw its neighbours").click()
    assert opened.names() == before | near(one)
    opened.page.get_by_role("button", name="Remove its neighbours").click()
    assert opened.names() == before


def test_a_variable_outside_of_the_hubs_is_found_and_drawn(show, graphs):
    opened, graph = show("huge"), graphs("huge").graph_
    drawn = opened.names()
    other = next(name for name in graph if name not in drawn and graph.degree(name) > 1)
    opened.page.locator("#search").fill(other)
    opened.page.locator("#search").press("Enter")
    assert opened.names() == drawn | {other}
    opened.select("#scope", "1")
    assert opened.names() == {other, *graph.predecessors(other), *graph.successors(other)}
    assert opened.page.locator("#scope option[value='all']").count() == 0


def test_all_of_two_hundred_variables_can_be_drawn(show, graphs):
    opened, graph = show("large"), graphs("large").graph_
    opened.select("#scope", "all")
    joined = {name for name in graph if graph.degree(name)}
    assert opened.names() == joined
    opened.page.locator("#thin").click()
    assert opened.drawn() == graph.number_of_edges()
    assert opened.backwards() == 0
    assert opened.overlaps() == 0
    parts = [part for part in nx.weakly_connected_components(graph) if len(part) > 1]
    if len(parts) > 1:
        assert f"{len(parts)} separate parts" in opened.text("#cut-text")


def test_a_telephone_starts_with_few_variables(show, graphs):
    opened = show("dense", width=390)
    assert len(opened.names()) == 12
    opened.page.locator("#controls > summary").click()
    opened.select("#scope", "all")
    assert opened.names() == set(graphs("dense").names_)
