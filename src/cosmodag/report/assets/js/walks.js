// Graph search: ancestors, descendants, neighbours, Markov blankets, paths, connected parts.

// The numbers of the arcs into and out of each variable.
const into = names.map(() => []);
const outOf = names.map(() => []);
for (let arc = 0; arc < arcCount; arc++) {
  into[arcs.to[arc]].push(arc);
  outOf[arcs.from[arc]].push(arc);
}

const parentsOf = (variable) => into[variable].map((arc) => arcs.from[arc]);
const childrenOf = (variable) => outOf[variable].map((arc) => arcs.to[arc]);
const neighboursOf = (variable) => [...parentsOf(variable), ...childrenOf(variable)];
const degree = (variable) => into[variable].length + outOf[variable].length;

/** All variables that can be reached from one along some arcs, and the arcs that are passed. */
function reached(start, arcsOf, endOf, uses = () => true) {
  const found = { variables: new Set(), arcs: new Set() };
  const waiting = [start];
  while (waiting.length) {
    for (const arc of arcsOf[waiting.pop()]) {
      if (!uses(arc)) continue;
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

const ancestorsOf = (variable, uses) => reached(variable, into, arcs.from, uses);
const descendantsOf = (variable, uses) => reached(variable, outOf, arcs.to, uses);

/** At most `most` variables within some steps of one, along arcs in both directions. */
function around(start, steps, most) {
  let border = [start];
  const found = new Set(border);
  for (let step = 0; step < steps; step++) {
    const next = border.flatMap(neighboursOf);
    border = next.filter((variable) => !found.has(variable) && found.add(variable));
    if (found.size > most) break;
  }
  return new Set([...found].slice(0, most));
}

/** The variable, its parents, its children and the other parents of its children. */
function markovBlanket(variable) {
  const children = childrenOf(variable);
  return new Set([variable, ...parentsOf(variable), ...children, ...children.flatMap(parentsOf)]);
}

/** Variables and arcs on directed paths from one variable to another; if there are none, in reverse. */
function between(from, to) {
  const below = descendantsOf(from);
  const above = ancestorsOf(to);
  if (!below.variables.has(to)) {
    return descendantsOf(to).variables.has(from)
      ? { ...between(to, from), isReversed: true }
      : { variables: new Set([from, to]), arcs: new Set(), isReversed: false };
  }
  const variables = new Set([from, to]);
  for (const one of below.variables) if (above.variables.has(one)) variables.add(one);
  const on = new Set([...below.arcs].filter((arc) => above.arcs.has(arc)));
  return { variables, arcs: on, isReversed: false };
}

/** At most `most` directed paths from one variable to another, the shortest first. */
function directedPaths(from, to, most) {
  const useful = between(from, to);
  if (useful.isReversed || !useful.arcs.size) return [];
  const found = [];
  let tried = 0;
  let waiting = [[from]];
  while (waiting.length && found.length < most && tried < 20000) {
    const longer = [];
    for (const path of waiting) {
      tried++;
      const end = path[path.length - 1];
      if (end === to) {
        found.push(path);
        continue;
      }
      for (const arc of outOf[end]) if (useful.arcs.has(arc)) longer.push([...path, arcs.to[arc]]);
    }
    waiting = longer;
  }
  return found.slice(0, most);
}

/** Connected parts, as lists of variables, the largest first. */
function separateParts(variables, links) {
  const near = new Map([...variables].map((variable) => [variable, []]));
  for (const [u, v] of links) {
    near.get(u).push(v);
    near.get(v).push(u);
  }
  const seen = new Set();
  const parts = [];
  for (const start of near.keys()) {
    if (seen.has(start)) continue;
    const part = [start];
    seen.add(start);
    for (let i = 0; i < part.length; i++) {
      for (const next of near.get(part[i])) {
        if (!seen.has(next)) {
          seen.add(next);
          part.push(next);
        }
      }
    }
    parts.push(part);
  }
  return parts.sort((a, b) => b.length - a.length);
}
