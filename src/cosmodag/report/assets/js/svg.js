// Saves the drawn graph with its legend as a file, at twice its size and named after the data.

const MARGIN = 14;
const LEGEND_LINE = 20;

function saveSvg() {
  download(new Blob([svgText()], { type: "image/svg+xml" }), `${data.file}-graph.svg`);
}

function savePng() {
  const picture = graphAsSvg();
  const [width, height] = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
  const scale = Math.min(1, 8000 / Math.max(width, height));
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas");
    [canvas.width, canvas.height] = [width * scale, height * scale];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, `${data.file}-graph.png`));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText());
}

function svgText() {
  return new XMLSerializer().serializeToString(graphAsSvg());
}

function graphAsSvg() {
  const colours = palette();
  const box = cy.elements().boundingBox();
  const legend = legendEntries();
  const widest = Math.max(0, ...legend.map(({ text }) => 60 + 6.4 * text.length));
  const width = Math.max(box.w, widest) + 2 * MARGIN;
  const left = (box.x1 + box.x2 - width) / 2;
  const top = box.y1 - MARGIN;
  const height = box.h + 3 * MARGIN + LEGEND_LINE * legend.length;
  const root = svgElement("svg", {
    xmlns: SVG, width: 2 * width, height: 2 * height, viewBox: `${left} ${top} ${width} ${height}`,
    "font-family": "system-ui, sans-serif",
  });
  root.append(svgElement("title", {}, `${data.title}, ${viewText(view)}`));
  root.append(svgElement("rect", { x: left, y: top, width, height, fill: colours.paper }));
  cy.edges().forEach((edge) => root.append(edgeAsSvg(edge, colours)));
  cy.nodes().forEach((node) => root.append(nodeAsSvg(node)));
  legend.forEach(({ draw, text }, i) => {
    const y = box.y2 + 2 * MARGIN + LEGEND_LINE * i;
    root.append(...draw(left + MARGIN, y));
    root.append(svgElement("text", { x: left + MARGIN + 54, y: y + 4, "font-size": 12, fill: colours.ink }, text));
  });
  return root;
}

function edgeAsSvg(edge, colours) {
  const { arc, atU, atV } = edge.data();
  const { colour, dash } = edgeStyle(arc);
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
  group.append(
    svgElement("path", {
      d: path, fill: "none", stroke: colour, "stroke-width": edge.numericStyle("width"),
      ...(dash.length ? { "stroke-dasharray": dash.join(" ") } : {}),
    }),
    ...markAt(atV, end, direction(bends.at(-1) || start, end), colour, 8),
    ...markAt(atU, start, direction(bends[0] || end, start), colour, 8),
  );
  if (edge.data("shown") && !edge.hasClass("faded")) {
    const middle = edge.midpoint();
    group.append(
      svgElement("text", {
        x: middle.x + edge.data("labelX"), y: middle.y + edge.data("labelY") + 3, "text-anchor": "middle", "font-size": 10, fill: colours.ink,
        stroke: colours.paper, "stroke-width": 3, "paint-order": "stroke",
      }, edge.data("label")),
    );
  }
  return group;
}

function direction(from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

function nodeAsSvg(node) {
  const at = node.position();
  const [width, height] = [node.width(), node.height()];
  const group = svgElement("g", { opacity: node.effectiveOpacity() });
  group.append(
    svgElement("rect", {
      x: at.x - width / 2, y: at.y - height / 2, width, height, rx: 6,
      fill: node.style("background-color"), stroke: node.style("border-color"),
      "stroke-width": node.numericStyle("border-width"),
    }),
    svgElement("text", {
      x: at.x, y: at.y + 4.5, "text-anchor": "middle", "font-size": 13, fill: node.style("color"),
    }, node.data("label")),
  );
  return group;
}
