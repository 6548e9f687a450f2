// The effect of one variable on another: its size, its interval, the adjustment set, the paths.

const MOST_PATHS = 5;
const listedEffects = new Map();
(data.effects ? data.effects.from : []).forEach((from, i) => {
  listedEffects.set(from + " " + data.effects.to[i], i);
});

const effectCurves = new Map();
for (const curve of data.effect_curves ? data.effect_curves.pairs : []) {
  effectCurves.set(curve.from + " " + curve.to, curve);
}

function startEffects() {
  for (const [id, part] of [["cause", "cause"], ["effect", "effect"]]) {
    byId(id).addEventListener("change", (event) => {
      const place = event.target.value === "" ? null : foundVariable(event.target.value);
      if (place === undefined) sayNotFound(event.target.value);
      else change({ [part]: place, picking: false, arc: null });
    });
  }
  byId("swap").addEventListener("click", () => change({ cause: state.effect, effect: state.cause }));
  onChange(showEffect);
  showEffect();
}

function showEffect() {
  const { cause, effect } = state;
  byId("cause").value = cause === null ? "" : names[cause];
  byId("effect").value = effect === null ? "" : names[effect];
  const box = byId("effect-answer");
  box.replaceChildren();
  if (state.picking) box.append(element("p", "Now click the variable that may be affected.", "asked"));
  else if (cause === null || effect === null) {
    box.append(element("p", "Enter two variables, or click one and then, holding Shift, the other.", "quiet"));
  } else if (cause === effect) box.append(element("p", "Choose two different variables."));
  else answer(box, cause, effect);
}

function answer(box, cause, effect) {
  const listed = listedEffects.get(cause + " " + effect);
  if (data.effects) box.append(...(listed === undefined ? noEffect(cause, effect) : listedEffect(listed)));
  else if (data.effect_curves) box.append(...curvedEffect(cause, effect));
  else if (data.linear) box.append(...summedEffect(cause, effect));
  else box.append(element("p", networkText(cause, effect)));
  const { bases, grade } = directionsOf(cause, effect);
  if (bases.length) box.append(element("p", `The directions rest on: ${bases.join(", ")} (${grade}).`));
  const paths = directedPaths(cause, effect, MOST_PATHS + 1);
  if (!paths.length) return;
  box.append(element("h4", paths.length > MOST_PATHS ? `The ${MOST_PATHS} shortest paths` : counted(paths.length, "path")));
  const list = element("ul", null, "paths");
  for (const path of paths.slice(0, MOST_PATHS)) list.append(element("li", path.map((one) => names[one]).join(" → ")));
  box.append(list, buttonFor("Draw only these paths", () => change({ scope: "paths" })));
}

/** The bases of the arcs on the directed paths and of those into the cause, and their least firm grade. */
function directionsOf(cause, effect) {
  const on = between(cause, effect);
  if (on.isReversed || !on.arcs.size) return { bases: [] };
  const used = [...on.arcs, ...into[cause]];
  const bases = [...new Set(used.map((arc) => data.bases[arcs.basis[arc]].name))].sort();
  const grade = Object.keys(HEADS).findLast((one) => used.some((arc) => arcs.grade[arc] === one));
  return { bases, grade };
}

function noEffect(cause, effect) {
  return [element("p", `None: no graph that fits equally well has a directed path from ${names[cause]} to ` +
    `${names[effect]}.${pathsBack(cause, effect)}`)];
}

/** The answer for a pair without a sum or curve: here, other graphs that fit equally well were not examined. */
function noPath(cause, effect) {
  const on = between(cause, effect);
  if (!on.isReversed && on.arcs.size) {
    return [element("p", `No answer: ${names[effect]} is a category, which has no mean.`)];
  }
  const others = arcs.fixed.every(Boolean) ? "" : " Graphs that fit equally well may have one.";
  return [element("p", `None in this graph: no directed path leads from ${names[cause]} to ${names[effect]}.` +
    others + pathsBack(cause, effect))];
}

function pathsBack(cause, effect) {
  if (!between(cause, effect).isReversed) return "";
  return ` Paths lead in the other direction: ${names[effect]} may influence ${names[cause]}.`;
}

function listedEffect(i) {
  const [cause, effect] = [names[data.effects.from[i]], names[data.effects.to[i]]];
  const { estimate, low, high, least, most, identified, adjustment } = data.effects;
  const parts = [];
  if (identified[i]) parts.push(element("p", raisingText(cause, effect, estimate[i])));
  else {
    parts.push(element("p",
      `Not determined: graphs that fit equally well give ${amount(least[i])} to ${amount(most[i])} for ` +
      `raising ${cause} by 1; this one gives ${amount(estimate[i])}.`));
  }
  if (low[i] !== null) {
    parts.push(intervalBar(estimate[i], low[i], high[i]));
    parts.push(element("p", `95 % interval ${amount(low[i])} to ${amount(high[i])}, for this graph only.`, "quiet"));
  } else parts.push(element("p", "No interval: the training data was not available, or has too few rows.", "quiet"));
  if (estimate[i]) {
    const set = adjustment[i].map((one) => names[one]);
    parts.push(element("p", set.length ? `Adjusted for: ${set.join(", ")}.` : "No adjustment is needed."));
  }
  return parts;
}

/** An effect that is not one number: a curve over values of the cause, or over time. */
function curvedEffect(cause, effect) {
  const { over, variables, band } = data.effect_curves;
  // With lags, numbers repeat: x, x[t-1], … are one variable.
  const [from, to] = [cause % variables, effect % variables];
  const curve = effectCurves.get(from + " " + to);
  if (curve === undefined) return over === "time" ? noResponse(from, to) : noPath(cause, effect);
  const parts = [element("p", over === "time" ? responseText(from, to) : meanText(from, to, curve))];
  if (curve.labels) parts.push(levelMeans(curve));
  else {
    const label = over === "time" ? "rows later" : shortened(names[from], 30);
    const panel = element("div", null, "panels");
    panel.append(linePlot(curve.x, curve.y, label, false, curve));
    parts.push(panel);
  }
  const open = curve.open ? " A direction on a path is not determined, so graphs that fit equally well may give another effect." : "";
  const source = curve.low ? `Shaded: 95 % interval (${band}).` : "Without an interval.";
  parts.push(element("p", source + open, "quiet"));
  return parts;
}

function noResponse(from, to) {
  return [element("p", `None: no directed path leads from ${names[from]} at any time to ${names[to]} at the same time or later, or one of the two is a category.`)];
}

function responseText(from, to) {
  return `Change of ${names[to]} in the rows after ${names[from]} was raised once by 1 (row 0 is the same row).`;
}

function meanText(from, to, curve) {
  const last = curve.x.length - 1;
  const value = (i) => (curve.labels ? curve.labels[i] : amount(curve.x[i]));
  const change = curve.y[last] - curve.y[0];
  return `Mean of ${names[to]} if ${names[from]} is set by intervention: from ${value(0)} to ${value(last)} it ` +
    `${change >= 0 ? "rises" : "falls"} by ${amount(Math.abs(change))}.`;
}

function levelMeans(curve) {
  return pairs(element("dl", null, "levels"), curve.labels.map((label, i) => [label, amount(curve.y[i])]), true);
}

/** The sum, over all directed paths, of the products of weights. */
function summedEffect(cause, effect) {
  const total = new Map([[cause, 1]]);
  const on = between(cause, effect);
  if (on.isReversed || !on.arcs.size) return noPath(cause, effect);
  const scale = data.variables.scale;
  const ordered = [...on.variables].sort((a, b) => placeInOrder[a] - placeInOrder[b]);
  let open = 0;
  for (const variable of ordered) {
    for (const arc of into[variable]) {
      if (!on.arcs.has(arc)) continue;
      const from = arcs.from[arc];
      const unit = scale[variable] / scale[from];
      total.set(variable, (total.get(variable) ?? 0) + (total.get(from) ?? 0) * arcs.weight[arc] * unit);
      if (!arcs.fixed[arc]) open++;
    }
  }
  return [
    element("p", raisingText(names[cause], names[effect], total.get(effect) ?? 0)),
    element("p",
      "For more than 60 variables, this page computes effects from the fitted weights, without an interval; " +
      "in Python, model.effect(…) gives one." +
      (open ? ` The direction of ${counted(open, "arc")} on these paths is not determined, so graphs that fit equally well may give another effect.` : ""),
      "quiet"),
  ];
}

function networkText(cause, effect) {
  return `The effect of a curved relation depends on the values of its cause. In Python, use ` +
    `model.effect("${names[cause]}", "${names[effect]}", values=(low, high)).`;
}

function raisingText(cause, effect, value) {
  if (value === 0) return `Raising ${cause} does not change ${effect}.`;
  return `Raising ${cause} by 1 ${value > 0 ? "raises" : "lowers"} ${effect} by ${amount(Math.abs(value))}.`;
}

function amount(value) {
  return Number(value.toPrecision(3)).toString().replace("-", "−");
}

/** Draw the estimate and its interval on an axis that includes zero. */
function intervalBar(estimate, low, high) {
  const ends = [Math.min(0, low), Math.max(0, high)];
  const x = (value) => (8 + (234 * (value - ends[0])) / (ends[1] - ends[0] || 1)).toFixed(1);
  const bar = svgElement("svg", { viewBox: "0 0 250 30", role: "img", class: "interval",
    "aria-label": `${amount(estimate)}, from ${amount(low)} to ${amount(high)}` });
  bar.append(
    svgElement("line", { x1: x(0), x2: x(0), y1: 2, y2: 18, class: "axis" }),
    svgElement("text", { x: x(0), y: 28, "text-anchor": "middle" }, "0"),
    svgElement("line", { x1: x(low), x2: x(high), y1: 10, y2: 10, class: "curve" }),
    svgElement("circle", { cx: x(estimate), cy: 10, r: 4, class: "dot" }),
  );
  return bar;
}
