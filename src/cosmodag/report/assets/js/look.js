// Style of the graph. Width shows the standardised weight, colour and dash the sign or the basis,
// opacity the share of resamples, and the arrowhead how firm the direction is.

function thicknessOf(arc) {
  return arc === null ? 1.2 : 1.1 + 3.6 * (sizeOf(arc) / (largestSize() || 1));
}

function opacityOf(arc) {
  if (arc === null || !hasShares()) return 0.9;
  return 0.25 + 0.7 * (arcs.p_edge[arc] ?? 0);
}

function hasShares() {
  return Boolean(arcs.p_edge);
}

function graphStyle() {
  const colours = palette();
  const arcOf = (edge) => edge.data("arc");
  const colour = (edge) => edgeStyle(arcOf(edge)).colour;
  return [
    {
      selector: "node",
      style: {
        "shape": "round-rectangle",
        "width": "data(width)",
        "height": NODE_HEIGHT,
        "label": "data(label)",
        "color": colours.ink,
        "font-family": "system-ui, sans-serif",
        "font-size": 13,
        "min-zoomed-font-size": 4,
        "text-valign": "center",
        "background-color": (node) => {
          const group = data.variables.group[node.data("place")];
          return group === null ? colours.node : groupTint(group);
        },
        "border-width": 1.2,
        "border-color": colours.border,
      },
    },
    {
      selector: "edge",
      style: {
        "width": (edge) => thicknessOf(arcOf(edge)),
        "line-color": colour,
        "line-style": (edge) => (edgeStyle(arcOf(edge)).dash.length ? "dashed" : "solid"),
        "line-dash-pattern": (edge) => dashOf(arcOf(edge)),
        "opacity": (edge) => opacityOf(arcOf(edge)),
        "source-arrow-shape": "data(atU)",
        "target-arrow-shape": "data(atV)",
        "source-arrow-color": colour,
        "target-arrow-color": colour,
        "source-arrow-fill": (edge) => (edge.data("atU") === "circle" ? "hollow" : "filled"),
        "target-arrow-fill": (edge) => (edge.data("atV") === "circle" ? "hollow" : "filled"),
        "arrow-scale": 1,
        "curve-style": "straight",
        "label": "data(shown)",
        "text-margin-x": "data(labelX)",
        "text-margin-y": "data(labelY)",
        "font-size": 10,
        "min-zoomed-font-size": 5,
        "color": colours.ink,
        "text-background-color": colours.paper,
        "text-background-opacity": 0.85,
        "text-background-padding": 1,
      },
    },
    {
      selector: "edge.routed",
      style: {
        "curve-style": "unbundled-bezier",
        "edge-distances": "endpoints",
        "source-endpoint": (edge) => edge.scratch("_course").start,
        "target-endpoint": (edge) => edge.scratch("_course").end,
        "control-point-weights": (edge) => edge.scratch("_course").weights,
        "control-point-distances": (edge) => edge.scratch("_course").distances,
      },
    },
    { selector: "node.ancestor", style: { "background-color": colours.ancestor } },
    { selector: "node.descendant", style: { "background-color": colours.descendant } },
    {
      selector: "node.chosen",
      style: {
        "background-color": colours.chosen,
        "color": colours.chosenInk,
        "border-width": 2.5,
        "border-color": colours.ink,
      },
    },
    { selector: "edge.lit", style: { "z-index": 2 } },
    { selector: "edge.hovered", style: { "opacity": 1, "z-index": 3, "underlay-color": colour, "underlay-opacity": 0.18, "underlay-padding": 4 } },
    { selector: "edge.chosen", style: { "opacity": 1, "z-index": 3, "underlay-color": colour, "underlay-opacity": 0.28, "underlay-padding": 5 } },
    { selector: "node.faded", style: { "opacity": 0.45 } },
    { selector: "edge.faded", style: { "opacity": 0.14, "text-opacity": 0 } },
  ];
}

function dashOf(arc) {
  const { dash } = edgeStyle(arc);
  return dash.length ? dash : [6, 3];
}

function restyle() {
  cy.style(graphStyle());
}
