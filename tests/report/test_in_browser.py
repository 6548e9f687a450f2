"""The page in a browser: its parts, its safety, its files."""

import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from graphs_to_report import bootstrap_of, model_of, random_dag
from opened import Opened

from cosmodag import Cosmo
from cosmodag.fit.dag.basis import BASES
from cosmodag.report.sections import SECTIONS, Section

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]

EVIL = "<script>alert(1)</script>"


def test_the_graph_is_drawn_and_a_click_highlights_causes_and_effects(show, graphs):
    opened, model = show("proteins"), graphs("proteins")
    page, arcs, graph = opened.page, model.edges_.nnz, model.graph_
    assert opened.drawn() == arcs
    assert f"{arcs} of {arcs} arcs" in opened.text("#cut-text")
    assert opened.names() == set(model.names_)
    middle = max(graph, key=lambda name: graph.out_degree(name) * (1 + graph.in_degree(name)))
    opened.click_node(middle)
    assert opened.text("#chosen h3") == middle
    assert opened.names(".chosen") == {middle}
    assert opened.names(".descendant") == nx.descendants(graph, middle)
    assert opened.names(".ancestor") == nx.ancestors(graph, middle)
    opened.in_sight().click(position={"x": 3, "y": 3})
    assert opened.names(".chosen") == set()
    first = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    assert page.evaluate(first) < 10_000  # usually .2 s


def test_the_first_card_says_what_was_found_in_plain_words(show, graphs):
    opened, model = show("shares"), graphs("proteins")
    story = opened.text("#story")
    assert f"{model.edges_.nnz} arcs among 11 variables were learnt" in story
    assert "Hidden common causes are not ruled out" in story
    assert "no cycles" in story
    assert "independences that it implies" in story
    assert "of resamples" in opened.text("#strongest")
    assert not opened.page.locator("#summary").is_visible()
    assert not re.search(r"\bseconds\b", story, re.I)
    first = opened.page.locator("#strongest button").first
    named = first.text_content()
    first.click()
    assert opened.text("#chosen h3") == named


def test_settings_and_training_are_folded(show):
    X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1, 0.8], [0, 1]]
    page = show(Cosmo(epochs=5, random_state=0).fit(X)).page
    assert not page.locator("#settings").is_visible()
    assert not page.locator("#history").is_visible()
    page.locator("#settings-details summary").click()
    assert page.locator("#settings").is_visible()
    assert page.locator("#history svg").count() > 0


def test_the_table_sorts_and_filters(show, graphs):
    model = graphs("proteins")
    opened = show("proteins")
    page = opened.page
    weights = [abs(float(row[2].replace("−", "-"))) for row in opened.rows()]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == model.edges_.nnz
    page.locator("#arcs th button").first.click()
    causes = [row[0] for row in opened.rows()]
    assert causes == sorted(causes, key=str.lower)
    page.locator("#arcs th button").first.click()
    assert [row[0] for row in opened.rows()] == sorted(causes, key=str.lower, reverse=True)
    page.locator("#filter").fill("pkc")
    rows = opened.rows()
    assert 0 < len(rows) < len(weights)
    assert all("PKC" in row[:2] for row in rows)
    page.locator("#filter").fill("")
    page.locator("#filter-basis").select_option("0")
    first = next(name for name in BASES if name in model.arrow_basis_)
    assert {row[-1] for row in opened.rows()} == {first}


def test_names_are_shown_as_text_whatever_they_contain(show):
    names = [EVIL, '"&quot;', "</script>", "a\u2028b", "<img src=x onerror=alert(2)>"]
    opened = show(model_of(random_dag(5, 8), names))
    page = opened.page
    for place, name in enumerate(names):
        page.evaluate(f"cosmodag.choose({place})")
        assert opened.text("#chosen h3") == name
    page.evaluate("cosmodag.change({cause: 0, effect: 1})")
    assert EVIL in {cell for row in opened.rows() for cell in row[:2]}
    inserted = "#arcs script, #chosen img, #legend script, #story img, #effect-box script"
    assert page.locator(inserted).count() == 0
    picture = page.evaluate("new XMLSerializer().serializeToString(cosmodag.graphAsSvg())")
    assert "<script" not in picture
    assert page.evaluate("location.hash").startswith("#chosen=")


def test_a_bootstrap_gives_a_second_slider_columns_and_pale_arcs(show, graphs):
    model = graphs("proteins")
    bootstrap = bootstrap_of(model)
    opened = show("shares")
    page = opened.page
    opened.select("#measure", "probability")
    shares = sorted(bootstrap.edge_probabilities[model.edges_.row, model.edges_.col])
    opened.slide_to(7)
    assert opened.drawn() == sum(share >= shares[7] for share in shares)
    opened.slide_to(0)
    assert "p edgep direction" in opened.text("#arcs thead")
    assert page.locator("#missed tbody tr").count() == 1
    assert "50 resamples" in opened.text("#stability-text")
    drawn = page.evaluate(
        "cosmodag.graph.edges().map(e => [e.data('arc'), Number(e.style('opacity'))])"
    )
    by_share = sorted((shares_of(bootstrap, model)[arc], opacity) for arc, opacity in drawn)
    opacities = [opacity for _, opacity in by_share]
    assert opacities == sorted(opacities)
    assert opacities[0] < opacities[-1]


def shares_of(bootstrap, model) -> np.ndarray:
    return np.minimum(bootstrap.edge_probabilities[model.edges_.row, model.edges_.col], 1)


def test_reasons_are_given_for_shares_that_are_no_probabilities(show, graphs):
    model = graphs("proteins")
    told = bootstrap_of(model)
    told.doubts = ["Relations are curved."]
    opened = show(model, bootstrap=told)
    assert "not probabilities: Relations are curved" in opened.text("#stability-text")


def test_arrowheads_depend_on_the_grade_of_the_direction(show, graphs):
    shape = "cosmodag.graph.edges()[0].style('target-arrow-shape')"
    assert show("chain").page.evaluate(shape) == "none"
    model = model_of(np.diag([0.9, 0.8, 0.7], 1))
    model.fitted_ = replace(model.fitted_, noise="equal-variance")
    assert show(model).page.evaluate(shape) == "triangle"


def test_a_graph_without_arcs_has_a_page_too(show):
    opened = show("empty")
    assert opened.drawn() == 0
    assert opened.rows() == []
    assert opened.page.locator("#cut").is_disabled()
    assert "No arc was found" in opened.text("#story")


def test_the_page_refuses_connections_and_foreign_scripts(show):
    opened = show("small")
    page = opened.page
    sent = page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')")
    assert sent == "refused"
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " { textContent: 'window.intruder = true' }))"
    )
    assert page.evaluate("window.intruder") is None
    assert opened.console  # the browser reports the refusals
    opened.console.clear()


def test_it_prints(show):
    assert show("proteins").page.pdf().startswith(b"%PDF")


def test_pictures_have_a_legend_double_size_and_the_name_of_the_data(show, graphs):
    model, opened = graphs("small"), show("small")
    page = opened.page
    with page.expect_download() as saved:
        page.locator("#save-svg").click()
    assert saved.value.suggested_filename == "A-learnt-graph-graph.svg"
    picture = Path(saved.value.path()).read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert all(f">{name}</text>" in picture for name in model.names_)
    for text in (
        "positive: the effect rises with the cause",
        "negative: the effect falls",
        "blood",
    ):
        assert text in picture
    width = page.evaluate("Number(cosmodag.graphAsSvg().getAttribute('width'))")
    box = page.evaluate("Number(cosmodag.graphAsSvg().getAttribute('viewBox').split(' ')[2])")
    assert width == pytest.approx(2 * box)
    with page.expect_download() as saved:
        page.locator("#save-png").click()
    assert saved.value.suggested_filename == "A-learnt-graph-graph.png"
    content = Path(saved.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") == pytest.approx(width, abs=2)


def test_other_parts_of_the_package_can_add_sections(show, graphs, monkeypatch):
    def added(model):
        curve = {"title": "a lag", "label": "step", "x": [0, 1, 2], "y": [0.0, 1.0, 0.5]}
        return Section("Over time", EVIL, ["step", "effect"], [[1, 0.5]], [curve])

    monkeypatch.setattr("cosmodag.report.sections.SECTIONS", [*SECTIONS, added, lambda model: None])
    opened: Opened = show(graphs("small"))
    card = opened.page.locator("section", has=opened.page.locator("h2", has_text="Over time"))
    assert card.locator("p").text_content() == EVIL
    assert card.locator("td").all_text_contents() == ["1", "0.5"]
    assert card.locator("svg").count() == 1
