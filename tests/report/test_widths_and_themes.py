"""The page on narrow and wide screens, light and dark; axe reports no serious problem."""

import hashlib
from itertools import product
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning"),
]

VENDOR = Path(__file__).parent / "vendor"
NAMES, WIDTHS, THEMES = ("small", "shares", "dense", "large", "empty"), (390, 1400), (False, True)
SAMPLE = {("shares", 390, True), ("shares", 1400, False), ("dense", 390, False)}
ALL = [
    pytest.param(*one, marks=() if one in SAMPLE else pytest.mark.nightly)
    for one in product(NAMES, WIDTHS, THEMES)
]

_FINDINGS = """() => axe.run(document, { resultTypes: ['violations'] }).then((found) =>
  found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 120)).join(' | ')))"""


def test_axe_matches_its_record():
    (line,) = [
        line.split()
        for line in (VENDOR / "VERSIONS").read_text().splitlines()
        if line.startswith("axe.min.js")
    ]
    assert hashlib.sha256((VENDOR / "axe.min.js").read_bytes()).hexdigest() == line[-1]
    assert (VENDOR / line[-2]).is_file()


@pytest.mark.parametrize(("name", "width", "dark"), ALL)
def test_axe_finds_nothing_serious(show, name, width, dark):
    opened = show(name, width=width, dark=dark)
    page = opened.page
    if name != "empty":
        page.evaluate("cosmodag.chooseArc(0)")
        page.evaluate(
            "cosmodag.change({cause: cosmodag.data.arcs.from[0], effect: cosmodag.data.arcs.to[0]})"
        )
    page.evaluate((VENDOR / "axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(_FINDINGS) == []


@pytest.mark.parametrize(("name", "width", "dark"), ALL)
def test_nothing_overflows_and_the_graph_stays_where_it_is(show, name, width, dark):
    opened = show(name, width=width, dark=dark)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for control in page.locator("#graph-section select, #graph-section input, .buttons").all():
        box = control.bounding_box()
        if box is not None:
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    top = page.locator("#graph").bounding_box()["y"]
    if name != "empty":
        for step in (1, 2):
            opened.slide_to(step)
            assert page.locator("#graph").bounding_box()["y"] == top


def test_one_finger_scrolls_and_two_zoom(show):
    page = show("proteins", width=390).page
    touches = """(count) => {
      const box = document.getElementById('graph');
      const touch = (i) => new Touch({ identifier: i, target: box, clientX: 50 + i, clientY: 50 });
      const list = Array.from({ length: count }, (_, i) => touch(i));
      box.dispatchEvent(new TouchEvent('touchstart', { touches: list, bubbles: true }));
      return [cosmodag.graph.userPanningEnabled(), cosmodag.graph.userZoomingEnabled()];
    }"""
    assert page.evaluate(touches, 1) == [False, False]
    assert page.evaluate(touches, 2) == [True, True]
