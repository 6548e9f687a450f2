// Edges of the drawn graph: those learnt, of the equivalence class, or with hidden causes allowed.

const MARKS = { 1: "circle", 2: "triangle", 3: "none" };
const HEADS = { determined: "triangle", weakly: "vee", open: "none" };

/**
 * Edges of one kind. `u` comes before `v` in causal order; `arc` is the learnt arc between them, or
 * null; `atU` and `atV` are the marks at the ends.
 */
const edgesByKind = { dag: learntEdges(), class: null, pag: null };

function edgesOf(kind) {
  if (edgesByKind[kind] === null) {
    edgesByKind[kind] = kind === "class" ? classEdges() : hiddenCauseEdges();
  }
  return edgesByKind[kind];
}

function learntEdges() {
  return arcs.from.map((u, arc) => ({
    id: "a" + arc, u, v: arcs.to[arc], arc, atU: "none", atV: headOf(arc),
  }));
}

/** A full arrowhead for a determined direction, an open one for a weak one, none for an open one. */
function headOf(arc) {
  return HEADS[arcs.grade[arc]];
}

function classEdges() {
  return learntEdges().map((edge) => ({
    ...edge, id: "c" + edge.arc, atV: arcs.fixed[edge.arc] ? "triangle" : "none",
  }));
}

function hiddenCauseEdges() {
  const byPair = new Map(arcs.from.map((u, arc) => [u + " " + arcs.to[arc], arc]));
  return data.pag.edges.map(([first, second, atFirst, atSecond], number) => {
    const isOrdered = placeInOrder[first] < placeInOrder[second];
    const [u, v] = isOrdered ? [first, second] : [second, first];
    const [atU, atV] = isOrdered ? [atFirst, atSecond] : [atSecond, atFirst];
    const arc = byPair.get(u + " " + v) ?? byPair.get(v + " " + u) ?? null;
    return { id: "p" + number, u, v, arc, atU: MARKS[atU], atV: MARKS[atV] };
  });
}

/** Size by which arcs are ranked, drawn and hidden, independent of the units of the columns. */
function sizeOf(arc) {
  return arc === null ? 0 : Math.abs(arcs.standardised[arc] ?? 0);
}

let largest = null;
function largestSize() {
  if (largest === null) largest = arcs.from.reduce((most, _, arc) => Math.max(most, sizeOf(arc)), 0);
  return largest;
}

function measured(arc) {
  return state.measure === "weight" ? sizeOf(arc) : (arcs.p_edge[arc] ?? 0);
}

/** Whether the slider keeps an arc. */
function passes(arc) {
  return arc === null || arc === state.arc || measured(arc) >= state.cut;
}
