// The data, and small helpers that all other scripts use.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.variables.name;
const arcs = data.arcs;
const arcCount = arcs.from.length;
const lagOf = data.variables.lag; // rows before the present one
const isInTime = lagOf.some((lag) => lag > 0);

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

/** Make a button that calls `action`. */
function buttonFor(text, action, className) {
  const made = element("button", text, className);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

function option(text, value) {
  return Object.assign(element("option", text), { value });
}

/** Fill a list of terms and values. */
function pairs(list, entries, isGrouped) {
  for (const [label, value] of entries) {
    const group = isGrouped ? element("div") : list;
    group.append(element("dt", label), element("dd", value));
    if (isGrouped) list.append(group);
  }
  return list;
}

function numberText(value, digits = 3) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace("-", "−");
  return value.toFixed(digits).replace("-", "−");
}

function signedText(value) {
  if (value === null || value === undefined) return "";
  return (value > 0 && data.signed ? "+" : "") + numberText(value);
}

/** The standardised weight of an arc; empty if an end is a category, whose levels have no order. */
function weightText(arc) {
  return arcs.category[arc] ? "" : signedText(arcs.standardised[arc]);
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function shortened(name, most = 26) {
  return name.length <= most ? name : name.slice(0, most - 1) + "…";
}

function arcName(arc) {
  return `${names[arcs.from[arc]]} → ${names[arcs.to[arc]]}`;
}

function inOrder() {
  return data.variables.order;
}

const placeInOrder = new Array(names.length);
inOrder().forEach((variable, place) => (placeInOrder[variable] = place));

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
