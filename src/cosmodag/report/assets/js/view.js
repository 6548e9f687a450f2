// The variables and edges to draw, as a function of the reader's choices.

const MOST_AT_ONCE = 500; // variables
// On a telephone, names of more variables would be too small to read.
const IS_NARROW = window.innerWidth < 600;
const FEW_ARCS = IS_NARROW ? 25 : 60; // with more, only the strongest arcs are drawn at first
const FEW_VARIABLES = IS_NARROW ? 15 : 60; // with more, only the hubs are drawn at first
const HUBS = IS_NARROW ? 12 : 40;
const MOST_ISOLATED = 30; // with more variables, those without a drawn arc are omitted

/** The drawn variables and edges, and the numbers of edges and variables in the scope. */
function currentView() {
  const whole = scopeVariables();
  for (const variable of whole) {
    const isUnused = lagOf[variable] > 0 && degree(variable) === 0;
    if (isUnused && variable !== state.chosen) whole.delete(variable);
  }
  const inside = edgesOf(state.kind).filter((edge) => whole.has(edge.u) && whole.has(edge.v));
  const passing = inside.filter((edge) => passes(edge.arc));
  const edges = state.thinned ? strongest(passing) : passing;
  let variables = whole;
  if (whole.size > MOST_ISOLATED) {
    const kept = new Set([state.chosen, state.cause, state.effect, ...arcEnds()]);
    for (const edge of edges) kept.add(edge.u).add(edge.v);
    variables = new Set([...whole].filter((variable) => kept.has(variable)));
  }
  return { variables, edges, inScope: inside.length, whole: whole.size };
}

function arcEnds() {
  return state.arc === null ? [] : [arcs.from[state.arc], arcs.to[state.arc]];
}

function scopeVariables() {
  const found = new Set(scopeStart());
  for (const variable of expandedOnes()) {
    found.add(variable);
    for (const near of neighboursOf(variable)) if (found.size < MOST_AT_ONCE) found.add(near);
  }
  for (const variable of arcEnds()) found.add(variable);
  if (scopeInUse() === "hubs") {
    for (const one of [state.chosen, state.cause, state.effect]) if (one !== null) found.add(one);
  }
  return found;
}

function scopeStart() {
  const scope = scopeInUse();
  if (scope === "all") return names.keys();
  if (scope === "hubs") return hubs();
  if (scope === "paths") return between(state.cause, state.effect).variables;
  if (scope === "blanket") return [...markovBlanket(state.chosen)].slice(0, MOST_AT_ONCE);
  if (scope === "part") return around(state.chosen, names.length, MOST_AT_ONCE);
  return around(state.chosen, Number(scope), MOST_AT_ONCE);
}

/** The chosen scope, or the usual one while the variables that it needs are not selected. */
function scopeInUse() {
  const { scope } = state;
  const isMissing = scope === "paths"
    ? state.cause === null || state.effect === null
    : !["all", "hubs"].includes(scope) && state.chosen === null;
  if (isMissing || (scope === "all" && names.length > MOST_AT_ONCE)) return usualScope();
  return scope;
}

function usualScope() {
  return names.length > FEW_VARIABLES ? "hubs" : "all";
}

let hubsFound = null;

/** The variables with most arcs, chosen one by one, if possible among neighbours of earlier ones. */
function hubs() {
  if (hubsFound !== null) return hubsFound;
  const ranked = names.map((_, i) => i).sort((a, b) => degree(b) - degree(a) || a - b);
  const found = new Set();
  const near = new Set();
  while (found.size < Math.min(HUBS, names.length)) {
    let next = null;
    for (const one of near) if (next === null || degree(one) > degree(next)) next = one;
    if (next === null) next = ranked.find((one) => !found.has(one));
    if (degree(next) === 0 && found.size > 0) break;
    found.add(next);
    near.delete(next);
    for (const one of neighboursOf(next)) if (!found.has(one)) near.add(one);
  }
  hubsFound = found;
  return found;
}

/** The strongest arc of every variable, then the strongest of all, up to about FEW_ARCS. */
function strongest(edges) {
  if (edges.length <= FEW_ARCS) return edges;
  const size = (edge) => (edge.arc === state.arc && edge.arc !== null ? Infinity : sizeOf(edge.arc));
  const ranked = [...edges].sort((a, b) => size(b) - size(a));
  const kept = new Set();
  const joined = new Set();
  for (const edge of ranked) {
    if (joined.has(edge.u) && joined.has(edge.v)) continue;
    joined.add(edge.u).add(edge.v);
    kept.add(edge);
  }
  for (const edge of ranked) if (kept.size < FEW_ARCS) kept.add(edge);
  return edges.filter((edge) => kept.has(edge));
}

/** Number of neighbours of a variable that are not drawn. */
function undrawn(variable, variables) {
  return new Set(neighboursOf(variable).filter((one) => !variables.has(one))).size;
}

/** A description of what is drawn. */
function viewText(view) {
  const total = state.kind === "pag" ? data.pag.edges.length : arcCount;
  const word = state.kind === "dag" ? "arc" : "edge";
  const what = state.measure === "weight" ? "|standardised weight|" : "share of resamples";
  const limit = state.cut ? ` with ${what} ≥ ${numberText(state.cut)}` : "";
  const isThinned = state.thinned && view.edges.length < view.inScope && !state.cut;
  const texts = [
    `${view.edges.length.toLocaleString("en")} of ${counted(total, word)}${limit}` +
      (isThinned ? " (the strongest)" : ""),
    `${view.variables.size.toLocaleString("en")} of ${counted(names.length, "variable")}`,
  ];
  const parts = separateParts(view.variables, view.edges.map((edge) => [edge.u, edge.v]));
  const large = parts.filter((part) => part.length > 1).length;
  if (large > 1) texts.push(`${large} separate parts`);
  return texts.join(" · ");
}
