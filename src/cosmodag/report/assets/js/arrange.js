// Layout of the nodes: by dagre for small graphs, otherwise in the layers that Python computed.

// dagre takes about a second for this many arcs; with more it leaves little room for nodes.
const DAGRE_ARCS = 130;
const DAGRE_NODES = 60;
const LARGEST_ZOOM = 1.4;

function arrange(cy) {
  const nodes = cy.nodes();
  const edges = cy.edges().filter((edge) => !edge.hasClass("hidden"));
  const few = nodes.length <= DAGRE_NODES && edges.length <= DAGRE_ARCS;
  cy.edges().removeClass("routed");
  if (few && edges.length) {
    arrangeByDagre(cy, nodes, edges);
  } else {
    arrangeInLayers(cy, nodes);
  }
  fit(cy);
}

function fit(cy) {
  cy.fit(cy.elements().not(".hidden"), 24);
  if (cy.zoom() > LARGEST_ZOOM) {
    cy.zoom(LARGEST_ZOOM);
    cy.center();
  }
}

/** Top to bottom, or left to right where that lets nodes be drawn larger. */
function arrangeByDagre(cy, nodes, edges) {
  const zooms = ["TB", "LR"].map((direction) => {
    runDagre(nodes, edges, direction);
    const box = nodes.boundingBox();
    return Math.min(cy.width() / box.w, cy.height() / box.h, LARGEST_ZOOM);
  });
  if (zooms[0] >= 0.9 * zooms[1]) runDagre(nodes, edges, "TB");
  edges.addClass("routed");
}

function runDagre(nodes, edges, direction) {
  const down = direction === "TB";
  nodes
    .union(edges)
    .layout({
      name: "dagre",
      rankDir: direction,
      nodeSep: down ? 24 : 14,
      edgeSep: 10,
      rankSep: down ? 44 : 60,
      fit: false,
      animate: false,
      useDagreEdgeControlPoints: true,
      automaticDagreEdgeStyle: false,
    })
    .run();
}

/** Spread the drawn nodes of each layer in their order; remove empty layers. */
function arrangeInLayers(cy, nodes) {
  const layers = new Map();
  nodes.forEach((node) => {
    const layer = data.variables.layer[node.data("place")];
    if (!layers.has(layer)) layers.set(layer, []);
    layers.get(layer).push(node);
  });
  const all = nodes.length === names.length;
  const x = (node) => data.variables.x[node.data("place")];
  const rows = [...layers.keys()].sort((a, b) => a - b).map((layer) => {
    const members = layers.get(layer).sort((a, b) => x(a) - x(b));
    return members.map((node, i) => [node, all ? x(node) : i - (members.length - 1) / 2]);
  });
  const places = rows.flat().map(([, place]) => place);
  const span = Math.max(1, Math.max(...places) - Math.min(...places));
  const widest = nodes.reduce((most, node) => Math.max(most, node.data("width")), 0);
  // One direction is as large as the names need, the other as large as the frame allows.
  const frame = cy.width() / cy.height();
  const step = Math.max(widest + 14, (66 * rows.length * frame - widest) / span);
  const height = Math.min(160, Math.max(66, (step * span + widest) / frame / rows.length));
  cy.batch(() => {
    rows.forEach((row, level) => {
      for (const [node, place] of row) node.position({ x: step * place, y: height * level });
    });
  });
}
