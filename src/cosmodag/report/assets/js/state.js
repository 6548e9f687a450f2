// The reader's choices. Parts of the page that depend on them register a listener.

const FIRST = {
  chosen: null, // a variable
  arc: null, // an arc
  cause: null, // the two variables in the effect panel
  effect: null,
  picking: false, // whether the next click on a variable names the effect
  kind: "dag",
  scope: "all",
  expanded: "", // variables whose neighbours are also drawn, as numbers separated by commas
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

/** Select a variable, or set the effect if the effect panel is waiting for it. */
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
