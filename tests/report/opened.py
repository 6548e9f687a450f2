"""A page in the browser, with its console messages, requests and dialogs."""

import time
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 60_000  # ms; machines that run several tests at once are slow

# The number of edges that do not point in the direction of the layout.
_BACKWARDS = """() => {
  const at = (node) => node.position();
  const ends = cosmodag.graph.edges().map((e) => [at(e.source()), at(e.target())]);
  const down = ends.filter(([u, v]) => v.y <= u.y).length;
  const right = ends.filter(([u, v]) => v.x <= u.x).length;
  return Math.min(down, right);
}"""

# The number of pairs of an edge and a node, other than its ends, whose box the edge enters.
_HITS = """() => {
  const boxes = cosmodag.graph.nodes().map((n) =>
    [n.id(), n.position(), n.width() / 2, n.height() / 2]);
  let hits = 0;
  for (const edge of cosmodag.graph.edges()) {
    const bends = edge.controlPoints() || [];
    let from = edge.sourceEndpoint();
    const points = [];
    bends.forEach((bend, i) => {
      const next = bends[i + 1];
      const middle = next && { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 };
      const to = middle || edge.targetEndpoint();
      for (let t = 0; t <= 1; t += 0.05) {
        const mix = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c;
        points.push([mix(from.x, bend.x, to.x), mix(from.y, bend.y, to.y)]);
      }
      from = to;
    });
    for (const [id, at, w, h] of boxes) {
      if (id === edge.source().id() || id === edge.target().id()) continue;
      if (points.some(([x, y]) => Math.abs(x - at.x) < w && Math.abs(y - at.y) < h)) hits++;
    }
  }
  return hits;
}"""

_OVERLAPS = """() => {
  const nodes = cosmodag.graph.nodes().toArray();
  let pairs = 0;
  nodes.forEach((a, i) => nodes.slice(i + 1).forEach((b) => {
    const [p, q] = [a.position(), b.position()];
    const x = Math.abs(p.x - q.x) < (a.width() + b.width()) / 2;
    if (x && Math.abs(p.y - q.y) < (a.height() + b.height()) / 2) pairs++;
  }));
  return pairs;
}"""


@dataclass
class Opened:
    """A page in the browser, with its console messages, requests and dialogs."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def drawn(self) -> int:
        return self.page.evaluate("cosmodag.graph.edges().length")

    def names(self, selector: str = "node") -> set[str]:
        found = self.page.evaluate(
            f"cosmodag.graph.nodes('{selector}').map(n => cosmodag.data.variables.name"
            "[n.data('place')])"
        )
        return set(found)

    def backwards(self) -> int:
        return self.page.evaluate(_BACKWARDS)

    def hits(self) -> int:
        return self.page.evaluate(_HITS)

    def overlaps(self) -> int:
        return self.page.evaluate(_OVERLAPS)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).text_content()

    def select(self, selector: str, value: str) -> None:
        self.page.locator(selector).select_option(value)

    def slide_to(self, value: int) -> None:
        self.page.locator("#cut").evaluate(
            "(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", str(value)
        )

    def until(self, expression: str, seconds: float = PATIENCE / 1000) -> None:
        """Wait until an expression is true; the page forbids Playwright's own way, an eval."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def in_sight(self) -> Any:
        """Scroll to the graph, and wait until its position is known."""
        graph = self.page.locator("#graph")
        graph.evaluate("box => box.scrollIntoView({ block: 'center' })")
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 60)))")
        return graph

    def click_node(self, name: str, modifiers: list[str] | None = None) -> None:
        place = self.page.evaluate(
            "name => cosmodag.graph.nodes().filter(n => cosmodag.data.variables.name"
            "[n.data('place')] === name)[0].renderedPosition()",
            name,
        )
        self.in_sight().click(position=place, modifiers=modifiers or [])

    def middle_of(self, edge: str) -> dict[str, float]:
        """Position of the middle of an edge in the frame."""
        return self.page.evaluate(
            f"(() => {{ const m = cosmodag.graph.getElementById('{edge}').midpoint(),"
            " g = cosmodag.graph, p = g.pan(), z = g.zoom();"
            " return { x: m.x * z + p.x, y: m.y * z + p.y }; })()"
        )

    def rows(self) -> list[list[str]]:
        return self.page.locator("#arcs tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )
