// Small line plots: the training history, and the responses of network arcs.

const PLOT = { width: 260, height: 150, left: 44, right: 8, top: 8, bottom: 22 };

function drawHistory() {
  const { at, series, clock } = data.history;
  byId("history-section").hidden = at.length < 2;
  if (at.length < 2) return;
  const panels = byId("history");
  for (const one of series) {
    const figure = linePlot(at, one.values, clock, true);
    figure.prepend(element("figcaption", one.label + figure.dataset.scale));
    panels.append(figure);
  }
}

function drawCurves() {
  byId("curves-section").hidden = data.curves.length === 0;
  if (!data.curves.length) return;
  const select = byId("curves-of");
  const effects = [...new Set(data.curves.map((curve) => arcs.to[curve.arc]))];
  effects.sort((a, b) => placeInOrder[a] - placeInOrder[b]);
  select.append(option("strongest arcs", ""));
  for (const effect of effects) select.append(option(names[effect], effect));
  const fill = () => {
    const wanted = data.curves.filter(
      (curve, i) => (select.value === "" ? i < 12 : arcs.to[curve.arc] === Number(select.value)),
    );
    byId("curves").replaceChildren(
      ...wanted.map((curve) => {
        const cause = names[arcs.from[curve.arc]];
        const figure = linePlot(curve.x, curve.y, shortened(cause, 30), false);
        figure.prepend(element("figcaption", `${cause} → ${names[arcs.to[curve.arc]]}`));
        return figure;
      }),
    );
  };
  select.addEventListener("input", fill);
  onChange((before) => {
    if (before.chosen === state.chosen || !effects.includes(state.chosen)) return;
    select.value = state.chosen;
    fill();
  });
  fill();
}

/** A figure with one curve, and a band if low and high ends are given. If allowed, the scale is
 * logarithmic for values of several orders of magnitude. */
function linePlot(xs, ys, xLabel, mayBeLogarithmic, band) {
  const points = xs.map((x, i) => [x, ys[i]]).filter(([x, y]) => x !== null && y !== null);
  const values = points.map(([, y]) => y);
  const low = Math.min(...values);
  const logarithmic = mayBeLogarithmic && low > 0 && Math.max(...values) / low > 50;
  const scaled = logarithmic ? Math.log10 : (y) => y;
  const xRange = [Math.min(...xs), Math.max(...xs)];
  const ends = band && band.low ? [...band.low, ...band.high] : [];
  const heights = [...values, ...ends].map(scaled);
  const yRange = [Math.min(...heights), Math.max(...heights)];
  const x = (value) => fraction(value, xRange) * (PLOT.width - PLOT.left - PLOT.right) + PLOT.left;
  const y = (value) =>
    PLOT.height - PLOT.bottom -
    fraction(scaled(value), yRange) * (PLOT.height - PLOT.top - PLOT.bottom);
  const plot = svgElement("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img" });
  const floor = PLOT.height - PLOT.bottom;
  const line = (points) => "M" + points.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join(" L");
  if (ends.length) {
    const above = xs.map((one, i) => [one, band.high[i]]);
    const below = xs.map((one, i) => [one, band.low[i]]).reverse();
    plot.append(svgElement("path", { class: "band", d: line([...above, ...below]) + " Z" }));
  }
  plot.append(
    svgElement("path", {
      class: "axis", d: `M${PLOT.left} ${PLOT.top} V${floor} H${PLOT.width - PLOT.right}`,
    }),
    svgElement("path", {
      class: "curve", d: line(points),
    }),
  );
  const back = (value) => (logarithmic ? 10 ** value : value);
  for (const [end, at] of [[0, floor], [1, PLOT.top + 8]]) {
    plot.append(
      svgElement("text", { x: PLOT.left - 4, y: at, "text-anchor": "end" }, tick(back(yRange[end]))),
    );
  }
  plot.append(
    svgElement("text", { x: PLOT.left, y: PLOT.height - 8 }, tick(xRange[0])),
    svgElement("text", { x: PLOT.width - PLOT.right, y: PLOT.height - 8, "text-anchor": "end" }, tick(xRange[1])),
    svgElement("text", {
      x: (PLOT.left + PLOT.width) / 2, y: PLOT.height - 8, "text-anchor": "middle",
    }, xLabel),
  );
  const figure = element("figure");
  figure.append(plot);
  figure.dataset.scale = logarithmic ? " (logarithmic scale)" : "";
  return figure;
}

function fraction(value, [low, high]) {
  return high > low ? (value - low) / (high - low) : 0.5;
}

function tick(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.01 || size >= 1e4)) return value.toExponential(0);
  return Number(value.toPrecision(3)).toString();
}
