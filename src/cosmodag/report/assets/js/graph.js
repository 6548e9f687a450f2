// The graph: the drawn part, its style, and the response to clicks.

const MOST_AT_ONCE = 500;
const MANY = 150; // from this many nodes on, they are drawn as dots with names beside them

let cy = null;

function startGraph() {
  if (names.length > MOST_AT_ONCE) {
    const busiest = names.map((_, i) => i).sort((a, b) => degree(b) - degree(a))[0];
    state.chosen = busiest;
    state.scope = "1";
  }
  state.labels = arcCount <= 25;
  cy = cytoscape({
    container: byId("graph"),
    elements: [],
    minZoom: 0.02,
    maxZoom: 4,
    boxSelectionEnabled: false,
    autounselectify: true,
    textureOnViewport: arcCount > 800,
    hideEdgesOnViewport: arcCount > 1500,
  });
  drawScope();
  cy.on("tap", "node", (event) => choose(event.target.data("place")));
  cy.on("tap", (event) => {
    if (event.target === cy && state.scope === "all") choose(null);
  });
  onChange((before) => {
    const moved = before.chosen !== state.chosen && state.scope !== "all";
    if (before.scope !== state.scope || moved) drawScope();
    else if (before.cut !== state.cut || before.measure !== state.measure) hideWeak();
    if (before.labels !== state.labels) restyle();
    highlight();
  });
}

function degree(variable) {
  return into[variable].length + outOf[variable].length;
}

function choose(variable) {
  change({ chosen: variable });
}

/** Variables within some steps of the selected one, along arcs in both directions. */
function neighbourhood(start, steps) {
  let edge = [start];
  const found = new Set(edge);
  for (let step = 0; step < steps; step++) {
    const next = [];
    for (const variable of edge) {
      for (const arc of into[variable]) next.push(arcs.from[arc]);
      for (const arc of outOf[variable]) next.push(arcs.to[arc]);
    }
    edge = next.filter((variable) => !found.has(variable) && found.add(variable));
    if (found.size > MOST_AT_ONCE) break;
  }
  return new Set([...found].slice(0, MOST_AT_ONCE));
}

function drawScope() {
  const whole = state.scope === "all" || state.chosen === null;
  const shown = whole
    ? new Set(names.keys())
    : neighbourhood(state.chosen, Number(state.scope));
  const many = shown.size > MANY;
  const elements = [];
  for (const place of shown) elements.push(nodeFor(place, many));
  for (let arc = 0; arc < arcCount; arc++) {
    if (shown.has(arcs.from[arc]) && shown.has(arcs.to[arc])) elements.push(edgeFor(arc, many));
  }
  cy.elements().remove();
  // Styles depend on the number of elements and are computed once, when they are added.
  cy.style(graphStyle(shown.size, elements.length - shown.size));
  cy.add(elements);
  arrange(cy);
  highlight();
}

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "13px system-ui, sans-serif";

function nodeFor(place, many) {
  const label = shortened(names[place]);
  const width = many ? 34 : Math.ceil(ruler.measureText(label).width) + 20;
  return { group: "nodes", data: { id: "v" + place, place, label, width } };
}

function edgeFor(arc, many) {
  const share = sizeOf(arc) / (largestSize() || 1);
  return {
    group: "edges",
    data: {
      id: "a" + arc,
      arc,
      source: "v" + arcs.from[arc],
      target: "v" + arcs.to[arc],
      basis: arcs.basis[arc],
      label: signedText(arcs.standardised[arc]),
      thickness: many ? 0.8 + 2.5 * share : 1.1 + 3.4 * share,
    },
    classes: isDrawn(arc) ? "" : "hidden",
  };
}

let largest = null;
function largestSize() {
  if (largest === null) largest = arcs.weight.reduce((most, _, arc) => Math.max(most, sizeOf(arc)), 0);
  return largest;
}

function hideWeak() {
  cy.batch(() => {
    cy.edges().forEach((edge) => edge.toggleClass("hidden", !isDrawn(edge.data("arc"))));
  });
}

/** Highlight the selected variable, its ancestors and its descendants; fade the rest. */
function highlight() {
  const all = cy.elements();
  cy.batch(() => {
    all.removeClass("chosen near ancestor descendant lit faded");
    if (state.chosen === null) return;
    const before = ancestorsOf(state.chosen);
    const after = descendantsOf(state.chosen);
    const near = new Set([
      ...into[state.chosen].filter(isDrawn).map((arc) => arcs.from[arc]),
      ...outOf[state.chosen].filter(isDrawn).map((arc) => arcs.to[arc]),
    ]);
    cy.nodes().forEach((node) => {
      const place = node.data("place");
      if (place === state.chosen) node.addClass("chosen");
      else if (near.has(place)) node.addClass("near");
      if (before.variables.has(place)) node.addClass("ancestor");
      else if (after.variables.has(place)) node.addClass("descendant");
      else if (place !== state.chosen) node.addClass("faded");
    });
    cy.edges().forEach((edge) => {
      const arc = edge.data("arc");
      edge.addClass(before.arcs.has(arc) || after.arcs.has(arc) ? "lit" : "faded");
    });
  });
}
