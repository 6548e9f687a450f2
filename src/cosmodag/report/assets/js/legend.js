// The legend of the page and of saved pictures.

/** Entries of the legend: `draw(x, y)` makes the SVG of a sample 44 wide, `text` is its meaning. */
function legendEntries() {
  const entries = [];
  const line = (style, atV, text, more = {}) =>
    entries.push({ text, draw: (x, y) => sampleLine(x, y, { atU: "none", atV, ...style, ...more }) });
  const plain = signStyle("none");
  if (!arcCount) return groupEntries();
  if (state.colour === "sign") {
    line(signStyle("positive"), "none", "positive: the effect rises with the cause");
    line(signStyle("negative"), "none", "negative: the effect falls");
  } else {
    data.bases.forEach((basis, i) =>
      line(basisStyle(i), "none", basis.meaning ? `${basis.name}: ${basis.meaning}` : basis.name));
  }
  if (state.kind === "dag") {
    line(plain, "triangle", "direction fixed by time, knowledge, interventions or the shape of the graph");
    line(plain, "vee", "direction based on weak evidence or an assumption");
    line(plain, "none", "direction not determined by the data");
  } else if (state.kind === "class") {
    line(plain, "triangle", "this direction in all graphs that fit equally well");
    line(plain, "none", "either direction");
  } else {
    line(plain, "triangle", "a cause");
    line(plain, "triangle", "a hidden common cause", { atU: "triangle" });
    line(plain, "triangle", "a cause, a hidden common cause, or both", { atU: "circle" });
    line(plain, "circle", "not determined", { atU: "circle" });
  }
  line(plain, "none", "thicker: larger |standardised weight|", { width: 4.5 });
  if (hasShares()) line(plain, "none", "paler: joined in fewer resamples", { opacity: 0.35 });
  if (scopeInUse() === "hubs") {
    entries.push({ text: "number of neighbours that are not drawn", draw: (x, y) => [
      svgElement("text", { x: x + 10, y: y + 4, "font-size": 13, fill: palette().ink }, "+12"),
    ] });
  }
  return [...entries, ...groupEntries()];
}

function groupEntries() {
  return data.groups.map((name, group) => ({
    text: name,
    draw: (x, y) => [
      svgElement("rect", {
        x: x + 6, y: y - 7, width: 30, height: 14, rx: 4, fill: groupTint(group), stroke: palette().border,
      }),
    ],
  }));
}

function sampleLine(x, y, { colour, dash, atU, atV, width = 2.5, opacity = 1 }) {
  const [start, end] = [x + (atU === "none" ? 0 : 9), x + (atV === "none" ? 44 : 35)];
  return [
    svgElement("line", {
      x1: start, y1: y, x2: end, y2: y, stroke: colour, "stroke-width": width, opacity,
      "stroke-dasharray": dash.join(" "),
    }),
    ...markAt(atV, { x: x + 44, y }, { x: 1, y: 0 }, colour),
    ...markAt(atU, { x, y }, { x: -1, y: 0 }, colour),
  ];
}

/** The mark at the tip of an edge that arrives in direction `along`. */
function markAt(mark, tip, along, colour, size = 9) {
  if (mark === "none") return [];
  if (mark === "circle") {
    const middle = { cx: tip.x - (size / 2) * along.x, cy: tip.y - (size / 2) * along.y };
    return [svgElement("circle", { ...middle, r: size / 2 - 0.8, fill: palette().paper, stroke: colour, "stroke-width": 1.6 })];
  }
  const back = { x: tip.x - size * along.x, y: tip.y - size * along.y };
  const half = size / 2;
  const left = `${back.x - half * along.y} ${back.y + half * along.x}`;
  const right = `${back.x + half * along.y} ${back.y - half * along.x}`;
  const notch = `${tip.x - 0.55 * size * along.x} ${tip.y - 0.55 * size * along.y}`;
  const outline = mark === "vee" ? `L${left} L${notch} L${right}` : `L${left} L${right}`;
  return [svgElement("path", { d: `M${tip.x} ${tip.y} ${outline} Z`, fill: colour })];
}

function drawLegend() {
  const legend = byId("legend");
  legend.replaceChildren(...legendEntries().map(({ draw, text }) => {
    const sample = svgElement("svg", { width: 46, height: 16, "aria-hidden": "true" });
    sample.append(...draw(1, 8));
    const item = element("li");
    item.append(sample, element("span", text));
    return item;
  }));
}
