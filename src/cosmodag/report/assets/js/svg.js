// The drawn graph as a file: PNG by Cytoscape, SVG written here from the positions of nodes and arcs.

function savePng() {
  const blob = cy.png({
    output: "blob", full: true, scale: 2, bg: palette().paper, maxWidth: 8000, maxHeight: 8000,
  });
  download(blob, "graph.png");
}

function saveSvg() {
  const text = new XMLSerializer().serializeToString(graphAsSvg());
  download(new Blob([text], { type: "image/svg+xml" }), "graph.svg");
}

function graphAsSvg() {
  const colours = palette();
  const drawn = cy.elements().filter((one) => one.visible());
  const box = drawn.boundingBox();
  const margin = 12;
  const size = [box.w + 2 * margin, box.h + 2 * margin];
  const root = svgElement("svg", {
    xmlns: SVG, width: size[0], height: size[1],
    viewBox: `${box.x1 - margin} ${box.y1 - margin} ${size[0]} ${size[1]}`,
    "font-family": "system-ui, sans-serif",
  });
  root.append(
    svgElement("rect", {
      x: box.x1 - margin, y: box.y1 - margin, width: size[0], height: size[1], fill: colours.paper,
    }),
  );
  drawn.edges().forEach((edge) => root.append(edgeAsSvg(edge, colours)));
  drawn.nodes().forEach((node) => root.append(nodeAsSvg(node)));
  return root;
}

function edgeAsSvg(edge, colours) {
  const colour = edge.style("line-color");
  const group = svgElement("g", { opacity: edge.effectiveOpacity() });
  const start = edge.sourceEndpoint();
  const end = edge.targetEndpoint();
  const bends = edge.controlPoints() || [];
  let path = `M${start.x} ${start.y}`;
  bends.forEach((bend, i) => {
    const next = bends[i + 1];
    const to = next ? { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 } : end;
    path += ` Q${bend.x} ${bend.y} ${to.x} ${to.y}`;
  });
  if (!bends.length) path += ` L${end.x} ${end.y}`;
  const { dash: dashes, headless } = arcStyle(arcs.basis[edge.data("arc")]);
  const dash = dashes.join(" ");
  group.append(
    svgElement("path", {
      d: path, fill: "none", stroke: colour, "stroke-width": edge.numericStyle("width"),
      ...(dash ? { "stroke-dasharray": dash } : {}),
    }),
  );
  if (!headless) {
    const d = arrowHead(bends[bends.length - 1] || start, end);
    group.append(svgElement("path", { d, fill: colour }));
  }
  if (state.labels && !edge.hasClass("faded")) {
    const middle = edge.midpoint();
    const text = signedText(arcs.standardised[edge.data("arc")]);
    group.append(
      svgElement("text", {
        x: middle.x, y: middle.y + 3, "text-anchor": "middle", "font-size": 10, fill: colours.ink,
      }, text),
    );
  }
  return group;
}

function arrowHead(from, tip) {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1;
  const along = { x: (tip.x - from.x) / length, y: (tip.y - from.y) / length };
  const back = { x: tip.x - 8 * along.x, y: tip.y - 8 * along.y };
  const left = `${back.x - 4 * along.y} ${back.y + 4 * along.x}`;
  const right = `${back.x + 4 * along.y} ${back.y - 4 * along.x}`;
  return `M${tip.x} ${tip.y} L${left} L${right} Z`;
}

function nodeAsSvg(node) {
  const at = node.position();
  const [width, height] = [node.width(), node.height()];
  const round = node.style("shape") === "ellipse" ? height / 2 : 6;
  const group = svgElement("g", { opacity: node.effectiveOpacity() });
  const isBelow = node.style("text-valign") === "top";
  group.append(
    svgElement("rect", {
      x: at.x - width / 2, y: at.y - height / 2, width, height, rx: round,
      fill: node.style("background-color"), stroke: node.style("border-color"),
      "stroke-width": node.numericStyle("border-width"),
    }),
    svgElement("text", {
      x: at.x, y: isBelow ? at.y - height / 2 - 4 : at.y + 4.5, "text-anchor": "middle",
      "font-size": node.numericStyle("font-size"), fill: node.style("color"),
    }, node.data("label")),
  );
  return group;
}
