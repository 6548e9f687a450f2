// The graph in the page: the drawn nodes and edges, and their highlighting.

let cy = null;
let view = null;

function startGraph() {
  state.labels = FIRST.labels = arcCount <= 25;
  state.scope = FIRST.scope = usualScope();
  if (!data.signed) state.colour = FIRST.colour = "basis";
  readLink();
  cy = cytoscape({
    container: byId("graph"),
    elements: [],
    style: graphStyle(),
    minZoom: 0.02,
    maxZoom: 4,
    boxSelectionEnabled: false,
    autounselectify: true,
    userZoomingEnabled: false,
    textureOnViewport: arcCount > 800,
  });
  redraw();
  highlight();
  startPointer();
  onChange((before) => {
    if (before.colour !== state.colour) restyle();
    redraw(before.direction !== state.direction || before.thinned !== state.thinned);
    if (before.labels !== state.labels) placeLabels();
    highlight();
  });
}

/** Update the drawing; lay it out again only if the nodes changed or an edge has no course. */
function redraw(rearranges = false) {
  view = currentView();
  const shown = new Set(view.edges.map((edge) => edge.id));
  const sameNodes = cy.nodes().length === view.variables.size
    && [...view.variables].every((variable) => cy.getElementById("v" + variable).nonempty());
  if (!sameNodes) cy.elements().remove();
  else cy.edges().filter((edge) => !shown.has(edge.id())).remove();
  const added = view.edges.filter((edge) => cy.getElementById(edge.id).empty());
  cy.batch(() => {
    if (!sameNodes) cy.add([...view.variables].map(nodeFor));
    cy.add(added.map(edgeFor));
  });
  // An arc without a course from the layout could point upwards or run through nodes.
  if (!sameNodes || rearranges || added.some((edge) => !keptCourses.has(edge.id))) return arrange();
  for (const { id } of added) {
    cy.getElementById(id).scratch("_course", keptCourses.get(id)).addClass("routed");
  }
  placeLabels();
}

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "13px system-ui, sans-serif";

function nodeFor(place) {
  const more = scopeInUse() === "hubs" ? undrawn(place, view.variables) : 0;
  const label = shortened(names[place]) + (more ? `  +${more}` : "");
  const width = Math.ceil(ruler.measureText(label).width) + 20;
  return { group: "nodes", data: { id: "v" + place, place, label, width } };
}

function edgeFor(edge) {
  const label = edge.arc === null ? "" : weightText(edge.arc);
  return {
    group: "edges",
    data: { ...edge, source: "v" + edge.u, target: "v" + edge.v, label, shown: "", labelX: 0, labelY: 0 },
  };
}

/** Highlight the parts that belong to the selection, and fade all others. */
function highlight() {
  const lit = litParts();
  cy.batch(() => {
    cy.elements().removeClass("chosen ancestor descendant lit faded");
    if (lit === null) return;
    cy.nodes().forEach((node) => {
      const place = node.data("place");
      if (lit.chosen.has(place)) node.addClass("chosen");
      else if (lit.before.has(place)) node.addClass("ancestor");
      else if (lit.after.has(place)) node.addClass("descendant");
      else if (!lit.others.has(place)) node.addClass("faded");
    });
    cy.edges().forEach((edge) => {
      const arc = edge.data("arc");
      if (arc !== null && arc === state.arc) edge.addClass("chosen");
      else edge.addClass(arc !== null && lit.arcs.has(arc) ? "lit" : "faded");
    });
  });
}

function litParts() {
  const nothing = new Set();
  if (state.arc !== null) {
    return { chosen: new Set(arcEnds()), before: nothing, after: nothing, others: nothing, arcs: nothing };
  }
  if (state.cause !== null && state.effect !== null) {
    const on = between(state.cause, state.effect);
    const ends = new Set([state.cause, state.effect]);
    return { chosen: ends, before: nothing, after: nothing, others: on.variables, arcs: on.arcs };
  }
  if (state.chosen === null) return null;
  const drawn = new Set(view.edges.map((edge) => edge.arc));
  const uses = (arc) => drawn.has(arc);
  const before = ancestorsOf(state.chosen, uses);
  const after = descendantsOf(state.chosen, uses);
  return {
    chosen: new Set([state.chosen]), before: before.variables, after: after.variables, others: nothing,
    arcs: new Set([...before.arcs, ...after.arcs]),
  };
}

/** Pan to the variables if some are outside of the frame, and scroll to the graph. */
function bringIntoView(variables) {
  const nodes = cy.nodes().filter((node) => variables.includes(node.data("place")));
  const frame = cy.extent();
  const isInside = nodes.every((node) => {
    const { x, y } = node.position();
    return x > frame.x1 && x < frame.x2 && y > frame.y1 && y < frame.y2;
  });
  if (nodes.nonempty() && !isInside) cy.center(nodes);
  byId("graph-section").scrollIntoView({ block: "nearest" });
  const box = byId("graph").getBoundingClientRect();
  if (box.top < 0 || box.bottom > window.innerHeight) byId("graph").scrollIntoView({ block: "center" });
}
