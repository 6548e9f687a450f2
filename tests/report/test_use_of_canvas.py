"""Pages of many sizes on two screens: labels apart, the frame used, nothing beyond the screen."""

from itertools import product

import pytest

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]

SCREENS = ((1400, 1000), (390, 844))
NAMES = ("5", "12", "30", "80", "300", "1500", "time", "mixed", "bootstrap")
QUICK = set(product(("5", "12", "time"), SCREENS))
ALL = [
    pytest.param(
        *one, id=f"{one[0]}-{one[1][0]}", marks=() if one in QUICK else pytest.mark.nightly
    )
    for one in product(NAMES, SCREENS)
]

# Boxes of the names of variables and of the weights of arcs, as Cytoscape draws them.
_LABELS = """() => {
  const box = (one) => one.boundingBox({
    includeNodes: true, includeEdges: false, includeLabels: true, includeOverlays: false });
  const drawn = cosmodag.graph.edges().filter((e) => e.style('label') !== '');
  return [...cosmodag.graph.nodes().toArray(), ...drawn.toArray()]
    .map(box).map((b) => [b.x1, b.y1, b.x2, b.y2]);
}"""

# The box around the drawn graph without labels: its corners, and the size of its frame.
_DRAWN = """() => {
  const graph = cosmodag.graph;
  const drawn = { includeLabels: false, includeOverlays: false };
  const box = graph.elements().renderedBoundingBox(drawn);
  return [box.x1, box.y1, box.x2, box.y2, graph.width(), graph.height()];
}"""


def overlapping(boxes: list[list[float]], slack: float = 1) -> int:
    """The number of pairs of boxes that overlap by more than Cytoscape's margin of a pixel."""
    return sum(
        a[0] + slack < b[2] - slack
        and b[0] + slack < a[2] - slack
        and a[1] + slack < b[3] - slack
        and b[1] + slack < a[3] - slack
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
    )


@pytest.mark.parametrize(("name", "screen"), ALL)
def test_labels_keep_apart_and_the_graph_fills_its_frame(show, name, screen):
    width, height = screen
    opened = show(name, width=width, height=height)
    page = opened.page
    left, top, right, bottom, wide, high = page.evaluate(_DRAWN)
    assert min(left, top) >= 0
    assert right <= wide
    assert bottom <= high
    assert (right - left) * (bottom - top) >= 0.6 * wide * high
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#graph").bounding_box()["y"] < 0.3 * height
    first = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    assert page.evaluate(first) < 10_000  # at most .3 s on a machine without other load
    assert opened.hits() == 0
    page.evaluate("cosmodag.change({labels: true})")
    boxes = page.evaluate(_LABELS)
    assert overlapping(boxes) == 0
    assert len(boxes) > len(opened.names()) or name == "mixed"


def test_every_arc_of_a_small_graph_has_its_weight(show):
    opened = show("5")
    shown = opened.page.evaluate("cosmodag.graph.edges().map((e) => e.style('label'))")
    weights = opened.page.evaluate("cosmodag.data.arcs.standardised")
    expected = [f"{weight:+.3f}".replace("-", "−") for weight in weights]
    assert sorted(shown) == sorted(expected)


def test_earlier_times_are_left_of_later_ones(show):
    opened = show("time")
    drawn = opened.page.evaluate(
        "cosmodag.graph.nodes().map((n) => [cosmodag.data.variables.name[n.data('place')],"
        " n.position('x')])"
    )
    at = dict(drawn)
    assert set(at) == {"rain[t-2]", "rain[t-1]", "rain", "river", "cloud"}  # others have no arc
    assert at["rain[t-2]"] < at["rain[t-1]"] < min(at["rain"], at["river"], at["cloud"])


def test_a_category_has_means_of_levels_instead_of_signs(show):
    opened = show("levels")
    page = opened.page
    data = page.evaluate("cosmodag.data")
    assert data["arcs"]["category"].count(True) >= 1
    assert True in data["arcs"]["category"]
    arc = data["arcs"]["category"].index(True)
    names = data["variables"]["name"]
    ends = names[data["arcs"]["from"][arc]], names[data["arcs"]["to"][arc]]
    assert ends == ("species", "mass")
    label, colour = page.evaluate(
        f"(() => {{ const e = cosmodag.graph.getElementById('a{arc}');"
        " return [e.style('label'), e.style('line-color')]; })()"
    )
    assert label == ""
    assert colour == "rgb(90,101,114)"
    page.evaluate(f"cosmodag.chooseArc({arc})")
    told = opened.text("#chosen")
    assert "weight" not in told.lower()
    means = page.locator("#chosen .levels dd").all_text_contents()
    assert [float(mean) for mean in means] == pytest.approx([1, 2, 5], abs=0.1)
    assert opened.rows()[0][2] == ""


def test_the_effect_names_the_bases_that_the_command_line_names(show, graphs):
    opened, model = show("5"), graphs("5")
    pairs = [(a, b) for a in model.names_ for b in model.names_ if a != b]
    found = next(one for pair in pairs if len((one := model.effect(*pair)).rests_on) > 1)
    places = [list(model.names_).index(name) for name in (found.cause, found.effect)]
    opened.page.evaluate("([cause, effect]) => cosmodag.change({cause, effect})", places)
    told = opened.text("#effect-answer")
    assert f"The directions rest on: {', '.join(found.rests_on)} ({found.grade})." in told


def test_words_in_tables_are_whole(show):
    opened = show("12", width=390, height=844)
    heights = opened.page.locator("#arcs tbody td:first-child button").evaluate_all(
        "all => all.map((one) => one.getClientRects().length)"
    )
    assert set(heights) == {1}
