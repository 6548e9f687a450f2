// Clicks, hovering, wheel and touch on the graph.

function startPointer() {
  cy.on("tap", "node", (event) => {
    const place = event.target.data("place");
    const isSecond = event.originalEvent.shiftKey && state.chosen !== null && state.chosen !== place;
    if (isSecond) change({ cause: state.chosen, effect: place, chosen: null, arc: null });
    else choose(place);
  });
  cy.on("dbltap", "node", (event) => toggleExpanded(event.target.data("place")));
  cy.on("tap", "edge", (event) => {
    const arc = event.target.data("arc");
    if (arc !== null) chooseArc(arc);
  });
  cy.on("tap", (event) => {
    if (event.target === cy) change({ chosen: null, arc: null, cause: null, effect: null, picking: false });
  });
  cy.on("mouseover", "edge", (event) => hover(event.target, event.renderedPosition));
  cy.on("mouseout", "edge", () => hover(null));
  cy.on("viewport", () => hover(null));
  const box = byId("graph");
  // The wheel scrolls the page; with Ctrl (or ⌘) it zooms.
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    const position = { x: event.clientX - left, y: event.clientY - top };
    zoomBy(Math.exp(-event.deltaY / 300), position);
  }, { passive: false });
  // One finger scrolls the page; two move and zoom the graph.
  const byFingers = (event) => {
    cy.userZoomingEnabled(event.touches.length > 1);
    cy.userPanningEnabled(event.touches.length > 1);
  };
  box.addEventListener("touchstart", byFingers, { capture: true, passive: true });
  box.addEventListener("mousedown", () => cy.userPanningEnabled(true), { capture: true });
}

function zoomBy(factor, position) {
  const renderedPosition = position || { x: cy.width() / 2, y: cy.height() / 2 };
  cy.zoom({ level: cy.zoom() * factor, renderedPosition });
}

/** Show the facts of an edge beside the pointer. */
function hover(edge, at) {
  const tip = byId("tip");
  cy.edges().removeClass("hovered");
  tip.hidden = edge === null;
  if (edge === null) return;
  edge.addClass("hovered");
  tip.replaceChildren(element("b", edgeTitle(edge.data())));
  for (const [label, value] of edgeFacts(edge.data("arc"))) {
    tip.append(element("br"), `${label}: ${value}`);
  }
  const box = byId("graph");
  tip.style.left = Math.min(at.x + 14, box.clientWidth - tip.offsetWidth - 6) + "px";
  tip.style.top = Math.min(at.y + 14, box.clientHeight - tip.offsetHeight - 6) + "px";
}

const SYMBOLS = { "none none": "—", "none triangle": "→", "none vee": "→", "triangle none": "←",
  "triangle triangle": "↔", "circle circle": "∘–∘", "circle triangle": "∘→", "triangle circle": "←∘",
  "circle none": "∘—", "none circle": "—∘" };

function edgeTitle(edge) {
  return `${names[edge.u]} ${SYMBOLS[edge.atU + " " + edge.atV]} ${names[edge.v]}`;
}

/** Facts of an arc, as pairs of label and text. */
function edgeFacts(arc) {
  if (arc === null) return [["Learnt graph", "no arc between these two"]];
  const error = arcs.error && !arcs.category[arc] && arcs.error[arc];
  const share = (list) => (hasShares() && list[arc] !== null ? percent(list[arc]) + " of resamples" : "");
  return [
    ["Standardised weight", weightText(arc)],
    ["Weight", arcs.category[arc] ? "" : signedText(arcs.weight[arc])],
    ["Standard error", error ? numberText(error) : ""],
    ["Joined in", hasShares() ? share(arcs.p_edge) : ""],
    ["Fixed in this direction in", hasShares() ? share(arcs.p_direction) : ""],
    ["Direction", arcs.grade[arc]],
    ["Basis of direction", data.bases[arcs.basis[arc]].name],
  ].filter(([, value]) => value);
}
