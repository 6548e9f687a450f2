// How the graph looks, light or dark, with few nodes or many.

function graphStyle() {
  const colours = palette();
  const many = cy !== null && cy.nodes().length > MANY;
  const crowded = cy !== null && cy.edges().length > 250;
  const dash = (edge) => arcStyle(arcs.basis[edge.data("arc")]).dash;
  const colour = (edge) => arcStyle(arcs.basis[edge.data("arc")]).colour;
  const thickness = (edge) => (many ? 0.8 : 1.1) + (many ? 2.5 : 3.4) * edge.data("share");
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
        "width": thickness,
        "line-color": colour,
        "target-arrow-color": colour,
        "target-arrow-shape": "triangle",
        "arrow-scale": many ? 0.8 : 1,
        "curve-style": crowded ? "straight" : "bezier",
        "line-style": (edge) => (dash(edge).length ? "dashed" : "solid"),
        "line-dash-pattern": (edge) => (dash(edge).length ? dash(edge) : [6, 3]),
        "opacity": crowded ? 0.55 : 0.9,
      },
    },
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
              "label": (edge) => signedText(arcs.weight[edge.data("arc")]),
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
    { selector: "node.faded", style: { "opacity": 0.28 } },
    { selector: "edge.faded", style: { "opacity": 0.07, "text-opacity": 0 } },
    { selector: ".hidden", style: { "display": "none" } },
  ];
}

function restyle() {
  cy.style().fromJson(graphStyle()).update();
}
