// Where nodes are drawn: by dagre while that is quick, else in the layers that Python gave.

// dagre takes a second for about this many arcs.
const DAGRE_ARCS = 130;
const DAGRE_NODES = 60;

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
  cy.fit(undefined, 24);
  if (cy.zoom() > 1.4) {
    cy.zoom(1.4);
    cy.center();
  }
}

function arrangeByDagre(cy, nodes, edges) {
  cy.batch(() => {
    nodes.union(edges)
      .layout({
        name: "dagre",
        rankDir: "TB",
        nodeSep: 26,
        edgeSep: 12,
        rankSep: 52,
        fit: false,
        animate: false,
        useDagreEdgeControlPoints: true,
        automaticDagreEdgeStyle: false,
      })
      .run();
    edges.forEach((edge) => {
      if (edge.scratch("controlPointWeights")) edge.addClass("routed");
    });
  });
}

/** Spread each layer that is drawn, keeping its order; layers that are empty close up. */
function arrangeInLayers(cy, nodes) {
  const layers = new Map();
  nodes.forEach((node) => {
    const layer = data.variables.layer[node.data("place")];
    if (!layers.has(layer)) layers.set(layer, []);
    layers.get(layer).push(node);
  });
  const widest = nodes.reduce((most, node) => Math.max(most, node.data("width")), 0);
  const step = widest + 16;
  const all = nodes.length === names.length;
  const rows = [...layers.keys()].sort((a, b) => a - b);
  const width = Math.max(...rows.map((layer) => layers.get(layer).length)) * step;
  const height = Math.max(64, Math.min(170, width / (1.9 * rows.length)));
  cy.batch(() => {
    rows.forEach((layer, row) => {
      const members = layers.get(layer);
      const x = (node) => data.variables.x[node.data("place")];
      members.sort((a, b) => x(a) - x(b));
      members.forEach((node, i) => {
        const even = i - (members.length - 1) / 2;
        node.position({ x: step * (all ? x(node) : even), y: height * row });
      });
    });
  });
}
