"""The controls of the graph change the drawing as described, and nothing else moves."""

import networkx as nx
import numpy as np
import pytest
from opened import PATIENCE

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]


def position(opened, place: int) -> dict[str, float]:
    return opened.page.evaluate(f"cosmodag.graph.getElementById('v{place}').position()")


def top_of(opened, selector: str) -> float:
    return opened.page.locator(selector).bounding_box()["y"]


def test_the_slider_hides_weak_arcs_and_neither_page_nor_nodes_jump(show, graphs):
    opened, arcs = show("proteins"), graphs("proteins").edges_.nnz
    top, place = top_of(opened, "#graph"), position(opened, 3)
    for hidden in (1, arcs // 2, arcs - 1, 0):
        opened.slide_to(hidden)
        assert opened.drawn() == arcs - hidden
        assert top_of(opened, "#graph") == top
        assert position(opened, 3) == place
    assert opened.hits() == 0


def test_arcs_drawn_again_after_arrange_do_not_point_upwards(show, graphs):
    opened, arcs = show("proteins"), graphs("proteins").edges_.nnz
    opened.slide_to(arcs - 4)
    opened.page.locator("#arrange").click()
    assert opened.backwards() == 0
    opened.slide_to(0)
    assert opened.drawn() == arcs
    assert opened.backwards() == 0
    assert opened.hits() == 0


def test_a_search_selects_a_variable_or_shows_a_message(show):
    opened = show("proteins")
    search = opened.page.locator("#search")
    search.fill("pm")
    search.press("Enter")
    assert opened.names(".chosen") == {"pmek"}
    search.fill("nowhere")
    search.press("Enter")
    assert opened.text("#message") == "No variable has “nowhere” in its name."
    search.fill("pka")
    search.press("Enter")
    assert opened.text("#message") == ""


def test_counters_agree_with_the_drawing(show, graphs):
    opened, graph = show("proteins"), graphs("proteins").graph_
    opened.click_node("PIP2")
    opened.select("#scope", "1")
    near = {"PIP2", *graph.predecessors("PIP2"), *graph.successors("PIP2")}
    assert opened.names() == near
    arcs = graph.subgraph(near).number_of_edges()
    said = opened.text("#cut-text")
    assert said.startswith(f"{arcs} of {graph.number_of_edges()} arcs")
    assert f"{len(near)} of 11 variables" in said
    opened.page.locator("#only-drawn").check()
    assert len(opened.rows()) == arcs


def test_a_row_of_the_table_selects_its_arc_in_view(show):
    opened = show("dense")
    page = opened.page
    page.evaluate("void cosmodag.graph.zoom(3)")  # void: the result is large
    row = page.locator("#arcs tbody tr").nth(100)
    cause, effect = row.locator("td").all_text_contents()[:2]
    row.click()
    assert opened.text("#chosen h3") == f"{cause} → {effect}"
    assert opened.names(".chosen") == {cause, effect}
    box = page.locator("#graph").bounding_box()
    assert box["y"] < 900
    assert box["y"] + box["height"] > 0
    frame = page.evaluate("cosmodag.graph.extent()")
    middle = page.evaluate("cosmodag.graph.edges('.chosen')[0].midpoint()")
    assert frame["x1"] < middle["x"] < frame["x2"]
    assert frame["y1"] < middle["y"] < frame["y2"]


def test_the_wheel_scrolls_the_page_and_zooms_with_control(show):
    opened = show("proteins")
    page = opened.page
    page.locator("#graph").hover()
    zoom = page.evaluate("cosmodag.graph.zoom()")
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 240)
    opened.until(f"scrollY > {before}")
    assert page.evaluate("cosmodag.graph.zoom()") == zoom
    page.locator("#graph").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    opened.until(f"cosmodag.graph.zoom() > {zoom}")
    page.keyboard.up("Control")
    page.locator("#smaller").click()
    page.locator("#fit").click()
    assert page.evaluate("cosmodag.graph.zoom()") == pytest.approx(zoom)


def test_hovering_and_clicking_an_arc_shows_its_facts(show, graphs):
    opened, model = show("shares"), graphs("proteins")
    page = opened.page
    arc = 5
    place = opened.middle_of(f"a{arc}")
    opened.in_sight().hover(position=place)
    page.wait_for_selector("#tip:not([hidden])", timeout=PATIENCE)
    table = model.arcs_.sort_index()
    cause, effect = table.loc[arc, ["cause", "effect"]]
    assert cause in opened.text("#tip")
    page.locator("#graph").click(position=place)
    told = opened.text("#chosen")
    assert f"{cause} → {effect}" in told
    for word in ("Standardised weight", "Standard error", "of resamples", table.loc[arc, "basis"]):
        assert word in told
    assert f"{abs(table.loc[arc, 'weight']):.3f}" in told


def test_width_is_the_standardised_weight_and_sign_is_colour_and_dash(show, graphs):
    model = graphs("small")
    drawn = show("small").page.evaluate(
        "cosmodag.graph.edges().map(e => [e.data('arc'), e.numericStyle('width'),"
        " e.style('line-color'), e.style('line-style')])"
    )
    table = model.arcs_.sort_index()
    sizes = [abs(table["standardised"][arc]) for arc, *_ in drawn]
    widths = [width for _, width, *_ in drawn]
    assert np.argsort(sizes).tolist() == np.argsort(widths).tolist()
    looks = {(table["weight"][arc] < 0): (colour, line) for arc, _, colour, line in drawn}
    assert looks[True][1] == "dashed"
    assert looks[False][1] == "solid"
    assert looks[True][0] != looks[False][0]


def test_arcs_can_be_coloured_by_the_basis_of_their_direction(show):
    opened = show("proteins")
    by_sign = opened.text("#legend")
    opened.select("#colour", "basis")
    assert "positive" in by_sign
    assert "positive" not in opened.text("#legend")
    colours = opened.page.evaluate(
        "Object.fromEntries(cosmodag.graph.edges().map(e => [e.style('line-color'),"
        " cosmodag.data.arcs.basis[e.data('arc')]]))"
    )
    assert len(set(colours.values())) == len(colours)


def test_the_class_and_hidden_causes_can_be_drawn(show, graphs):
    opened, model = show("small"), graphs("small")
    marks = "cosmodag.graph.edges().map(e => e.data('atU') + ' ' + e.data('atV'))"
    opened.select("#kind", "class")
    found = opened.page.evaluate(marks)
    assert found.count("none triangle") == len(model.cpdag_.directed)
    assert found.count("none none") == len(model.cpdag_.undirected)
    opened.select("#kind", "pag")
    found = opened.page.evaluate(marks)
    pag = model.pag_
    assert len(found) == len(pag.edges())
    assert sum("circle" in one for one in found) == len([s for _, s, _ in pag.edges() if "∘" in s])
    circles = sum(one.split().count("circle") for one in found)
    assert circles == pag.open_marks
    assert "a hidden common cause" in opened.text("#legend")
    assert f"{len(found)} of {len(found)} edges" in opened.text("#cut-text")


def test_the_layout_runs_down_or_to_the_right(show):
    opened = show("small")
    for direction, axis in (("right", "x"), ("down", "y")):
        opened.select("#direction", direction)
        steps = opened.page.evaluate(
            "axis => cosmodag.graph.edges().map(e =>"
            " e.target().position()[axis] - e.source().position()[axis])",
            axis,
        )
        assert min(steps) > 0


def test_groups_have_colours_and_a_legend(show):
    opened = show("small")
    tints = opened.page.evaluate("cosmodag.graph.nodes().map(n => n.style('background-color'))")
    assert tints[0] == tints[1] != tints[2]
    assert tints[3] == tints[4] not in tints[:3]
    assert "blood" in opened.text("#legend")
    opened.click_node("x2")
    assert "urine" in opened.text("#chosen")


def test_markov_blanket_and_part_of_a_variable(show, graphs):
    opened, graph = show("proteins"), graphs("proteins").graph_
    opened.click_node("PIP3")
    opened.select("#scope", "blanket")
    children = set(graph.successors("PIP3"))
    others = {parent for child in children for parent in graph.predecessors(child)}
    assert opened.names() == {"PIP3", *graph.predecessors("PIP3"), *children, *others}
    opened.select("#scope", "part")
    assert opened.names() == nx.node_connected_component(graph.to_undirected(), "PIP3")


def test_a_scope_that_needs_a_variable_shows_a_message(show):
    opened = show("proteins")
    opened.select("#scope", "blanket")
    assert "Select a variable first" in opened.text("#message")
    assert len(opened.names()) == 11


def test_a_link_keeps_the_view(show):
    opened = show("shares")
    opened.click_node("PKC")
    opened.select("#scope", "1")
    opened.select("#kind", "class")
    opened.select("#direction", "right")
    opened.page.locator("#labels").check()
    opened.slide_to(5)
    drawn = opened.names(), opened.drawn()
    link = opened.page.evaluate("location.hash")
    assert "chosen=PKC" in link
    again = show("shares", hash=link)
    assert (again.names(), again.drawn()) == drawn
    assert again.text("#chosen h3") == "PKC"
    assert again.page.locator("#direction").input_value() == "right"
    assert again.page.locator("#labels").is_checked()
    again.page.locator("#copy-link").click()
    again.until("document.getElementById('message').textContent !== ''")


@pytest.mark.parametrize("hash", ["#chosen=nobody&arc=999&kind=other&cut=x&expanded=9999,a", "#%"])
def test_an_invalid_link_is_harmless(show, hash):
    opened = show("small", hash=hash)
    assert len(opened.names()) == 6


def test_dark_and_light(show):
    page = show("small", dark=True).page
    brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert page.evaluate(brightness) < 60
    page.locator("#theme").click()
    assert page.evaluate(brightness) > 200
    assert page.evaluate("cosmodag.graph.nodes()[0].style('color')") == "rgb(27,36,48)"
