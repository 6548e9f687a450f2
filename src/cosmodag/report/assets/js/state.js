// The reader's choices. Parts that depend on them register a listener.

const FIRST = {
  chosen: null, // a variable
  arc: null, // an arc
  cause: null, // two variables whose effect is asked for
  effect: null,
  picking: false, // whether the next click on a variable names the effect
  kind: "dag",
  scope: "all",
  expanded: "", // variables whose neighbours are drawn too, as numbers joined by commas
  thinned: true,
  measure: "weight",
  cut: 0,
  direction: "auto",
  colour: "sign",
  labels: false,
};
const state = { ...FIRST };
const listeners = [];

function onChange(listener) {
  listeners.push(listener);
}

function change(what) {
  const before = { ...state };
  Object.assign(state, what);
  for (const listener of listeners) listener(before);
}

/** Select a variable. While an effect is asked for, the variable is its second one. */
function choose(variable) {
  if (state.picking && variable !== null && variable !== state.cause) {
    change({ effect: variable, picking: false, arc: null });
  } else {
    change({ chosen: variable, arc: null, picking: false });
  }
}

function chooseArc(arc) {
  change({ arc, chosen: null, picking: false });
}

function expandedOnes() {
  return state.expanded === "" ? [] : state.expanded.split(",").map(Number);
}

function toggleExpanded(variable) {
  const now = expandedOnes();
  const next = now.includes(variable) ? now.filter((one) => one !== variable) : [...now, variable];
  change({ expanded: next.join(",") });
}
