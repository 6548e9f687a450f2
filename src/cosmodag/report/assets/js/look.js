// Style of the graph: light or dark, few nodes or many.

function graphStyle(nodeCount, edgeCount) {
  const colours = palette();
  const many = nodeCount > MANY;
  const crowded = edgeCount > DAGRE_ARCS;
  return [
    {
      selector: "node",
      style: {
        "shape": many ? "ellipse" : "round-rectangle",
        "width": many ? 16 : "data(width)",
        "height": many ? 16 : 28,
        "label": "data(label)",
        "color": colours.ink,
        "font-family": "system-ui, sans-serif",
        "font-size": many ? 11 : 13,
        "min-zoomed-font-size": 6,
        "text-valign": many ? "top" : "center",
        "text-margin-y": many ? -2 : 0,
        "background-color": colours.node,
        "border-width": 1.2,
        "border-color": colours.border,
      },
    },
    {
      selector: "edge",
      style: {
        "width": "data(thickness)",
        "target-arrow-shape": "triangle",
        "arrow-scale": many ? 0.8 : 1,
        "curve-style": crowded ? "straight" : "bezier",
        "opacity": crowded ? Math.min(0.6, Math.max(0.2, 180 / edgeCount)) : 0.9,
      },
    },
    ...data.bases.map((_, basis) => {
      const { colour, dash, headless } = arcStyle(basis);
      return {
        selector: `edge[basis = ${basis}]`,
        style: {
          "line-color": colour,
          "target-arrow-color": colour,
          ...(headless ? { "target-arrow-shape": "none" } : {}),
          ...(dash.length ? { "line-style": "dashed", "line-dash-pattern": dash } : {}),
        },
      };
    }),
    {
      selector: "edge.routed",
      style: {
        "curve-style": "unbundled-bezier",
        "control-point-weights": (edge) => edge.scratch("controlPointWeights"),
        "control-point-distances": (edge) => edge.scratch("controlPointDistances"),
        "edge-distances": "intersection",
      },
    },
    ...(state.labels
      ? [
          {
            selector: "edge",
            style: {
              "label": "data(label)",
              "font-size": 10,
              "min-zoomed-font-size": 6,
              "color": colours.ink,
              "text-background-color": colours.paper,
              "text-background-opacity": 0.85,
              "text-background-padding": 1,
            },
          },
        ]
      : []),
    { selector: "node.ancestor", style: { "background-color": colours.ancestor } },
    { selector: "node.descendant", style: { "background-color": colours.descendant } },
    {
      selector: "node.chosen",
      style: {
        "background-color": colours.chosen,
        "color": many ? colours.ink : colours.chosenInk,
        "border-width": 2.5,
        "border-color": colours.ink,
      },
    },
    ...(many
      ? [
          { selector: "node.near", style: { "font-size": 20, "z-index": 2 } },
          { selector: "node.chosen", style: { "font-size": 26, "z-index": 3 } },
        ]
      : []),
    { selector: "edge.lit", style: { "opacity": 0.95, "z-index": 1 } },
    { selector: "node.faded", style: { "opacity": 0.28 } },
    { selector: "edge.faded", style: { "opacity": 0.07, "text-opacity": 0 } },
    { selector: ".hidden", style: { "display": "none" } },
  ];
}

function restyle() {
  cy.style(graphStyle(cy.nodes().length, cy.edges().length));
}
