// Shared by all parts: the data, small helpers, and the state of the page.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.variables.name;
const arcs = data.arcs;
const arcCount = arcs.from.length;

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

/** Make an element; text is set as text, never as markup. */
function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function svgElement(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function numberText(value, digits = 3) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return value.toFixed(digits);
}

function signedText(value) {
  return (value > 0 && data.signed ? "+" : "") + numberText(value).replace("-", "−");
}

function shortened(name, most = 26) {
  return name.length <= most ? name : name.slice(0, most - 1) + "…";
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Arcs into and out of each variable, by number.
const into = names.map(() => []);
const outOf = names.map(() => []);
for (let arc = 0; arc < arcCount; arc++) {
  into[arcs.to[arc]].push(arc);
  outOf[arcs.from[arc]].push(arc);
}

/** All variables that can be reached from one along drawn arcs, and the arcs on the way. */
function reached(start, arcsOf, endOf) {
  const found = { variables: new Set(), arcs: new Set() };
  const waiting = [start];
  while (waiting.length) {
    for (const arc of arcsOf[waiting.pop()]) {
      if (!isDrawn(arc)) continue;
      found.arcs.add(arc);
      const next = endOf[arc];
      if (!found.variables.has(next)) {
        found.variables.add(next);
        waiting.push(next);
      }
    }
  }
  return found;
}

const ancestorsOf = (variable) => reached(variable, into, arcs.from);
const descendantsOf = (variable) => reached(variable, outOf, arcs.to);

// The reader's choices; parts that depend on them register a listener.
const state = { chosen: null, measure: "weight", cut: 0, scope: "all", labels: false };
const listeners = [];

function onChange(listener) {
  listeners.push(listener);
}

function change(what) {
  const before = { ...state };
  Object.assign(state, what);
  for (const listener of listeners) listener(before);
}

/** Size that ranks, draws and hides arcs; it does not depend on the units of the columns. */
function sizeOf(arc) {
  return Math.abs(arcs.standardised[arc]);
}

function measured(arc) {
  return state.measure === "weight" ? sizeOf(arc) : arcs.p_edge[arc];
}

function isDrawn(arc) {
  return measured(arc) >= state.cut;
}

function inOrder() {
  return data.variables.order;
}
