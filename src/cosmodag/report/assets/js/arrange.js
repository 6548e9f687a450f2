// Positions of nodes and courses of edges: connected parts are laid out one by one, then packed.

const LARGEST_ZOOM = 1.4;
const PADDING = IS_NARROW ? 12 : 24; // between the drawing and its frame
const LOWEST_FRAME = 280;
const LARGEST_STRETCH = 8;
const NODE_HEIGHT = 28;
const BETWEEN_LAYERS = { down: 44, right: 56 };
// Courses of the edges in the last layout, by id: an arc that is drawn again takes its old course.
let keptCourses = new Map();

/** Lay out the drawn graph from top to bottom or from left to right, and spread it over the frame. */
function arrange() {
  const nodes = cy.nodes().toArray();
  const edges = cy.edges().toArray();
  const frame = byId("graph");
  const before = parseFloat(frame.style.height) || LOWEST_FRAME;
  frame.style.height = ""; // the largest height
  cy.resize();
  const room = () => [cy.width() - 2 * PADDING, cy.height() - 2 * PADDING];
  const zoom = (plan) => Math.min(room()[0] / plan.width, room()[1] / plan.height, LARGEST_ZOOM);
  // Readers expect causes above effects, and time from left to right: the other direction must be
  // clearly larger.
  const usual = isInTime ? ["right", "down"] : ["down", "right"];
  const wanted = state.direction === "auto" ? usual : [state.direction];
  const tried = wanted.map((direction) => laidOut(nodes, edges, direction));
  const plan = tried.length > 1 && zoom(tried[1]) > 1.15 * zoom(tried[0]) ? tried[1] : tried[0];
  const size = zoom(plan);
  // A small graph needs a lower frame, which does not shrink again under the reader's pointer.
  const wide = Math.min(LARGEST_STRETCH, room()[0] / (size * plan.width));
  const height = size * plan.height * Math.sqrt(wide) + 2 * PADDING;
  frame.style.height = Math.min(cy.height(), Math.max(height, before)) + "px";
  cy.resize();
  stretch(plan, nodes, edges, room().map((length) => length / size));
  keptCourses = new Map();
  cy.batch(() => {
    plan.places.forEach(([x, y], i) => nodes[i].position({ x, y }));
    edges.forEach((edge, i) => course(edge, plan.courses[i]));
  });
  cy.edges().removeClass("routed").addClass("routed");
  placeLabels();
  fit();
}

function fit() {
  cy.resize();
  cy.fit(cy.elements(), PADDING);
  if (cy.zoom() > LARGEST_ZOOM) {
    cy.zoom(LARGEST_ZOOM);
    cy.center();
  }
}

/** Move nodes apart, each keeping its size, until they fill the room along both axes. */
function stretch(plan, nodes, edges, room) {
  const number = new Map(nodes.map((node, i) => [node.id(), i]));
  const before = plan.places.map((place) => [...place]);
  const isDown = plan.direction === "down";
  for (const axis of [0, 1]) {
    const half = nodes.map((node) => (axis ? NODE_HEIGHT : node.data("width")) / 2);
    const inner = plan.courses.flatMap((points) => points.slice(1, -1).map((point) => [point[axis], 0]));
    const factor = stretchFactor([...before.map((place, i) => [place[axis], half[i]]), ...inner], room[axis]);
    plan.places.forEach((place) => (place[axis] *= factor));
    const isAlong = isDown === (axis === 0);
    plan.courses.forEach((points, i) => {
      const last = points.length - 1;
      const ends = [edges[i].data("source"), edges[i].data("target")].map((id) => number.get(id));
      points.forEach((point, k) => {
        // Ends, and the bends straight above or below them, stay at their nodes.
        const isFixed = k === 0 || k === last || (isAlong && (k === 1 || k === last - 1));
        const node = ends[k <= 1 ? 0 : 1];
        point[axis] = isFixed ? point[axis] + plan.places[node][axis] - before[node][axis] : factor * point[axis];
      });
    });
  }
}

/** The factor of positions with which intervals, each [middle, half], extend over a length. */
function stretchFactor(intervals, length) {
  const extent = (factor) =>
    -least(intervals.map(([middle, half]) => -factor * middle - half)) -
    least(intervals.map(([middle, half]) => factor * middle - half));
  let [low, high] = [1, LARGEST_STRETCH];
  for (let step = 0; step < 20; step++) {
    const middle = (low + high) / 2;
    if (extent(middle) <= length) low = middle;
    else high = middle;
  }
  return low;
}

/** Lay out all parts. Returns {places, courses, direction, width, height}: centres of nodes, points of edges. */
function laidOut(nodes, edges, direction) {
  const number = new Map(nodes.map((node, i) => [node.id(), i]));
  const links = edges.map((edge) => [number.get(edge.data("source")), number.get(edge.data("target"))]);
  // The times of a series are shared by all parts.
  const parts = isInTime ? [[...nodes.keys()]] : separateParts(nodes.keys(), links);
  const partOf = new Array(nodes.length);
  parts.forEach((part, i) => part.forEach((node) => (partOf[node] = i)));
  const linksOf = parts.map(() => []);
  links.forEach(([u], i) => linksOf[partOf[u]].push(i));
  const boxes = parts.map((part, i) => partLaidOut(part, linksOf[i], links, nodes, direction));
  const size = packed(boxes);
  const places = new Array(nodes.length);
  const courses = new Array(edges.length);
  for (const box of boxes) {
    const move = ([x, y]) => [x + box.x, y + box.y];
    box.part.forEach((node, i) => (places[node] = move(box.places[i])));
    box.links.forEach((link, i) => (courses[link] = box.courses[i].map(move)));
  }
  return { places, courses, direction, ...size };
}

function partLaidOut(part, linksInside, links, nodes, direction) {
  const isDown = direction === "down";
  const widths = nodes.map((node) => node.data("width"));
  const lags = isInTime ? part.map((node) => lagOf[nodes[node].data("place")]) : null;
  const local = new Map(part.map((node, i) => [node, i]));
  const own = linksInside.map((link) => links[link].map((end) => local.get(end)));
  const along = part.map((node) => (isDown ? widths[node] : NODE_HEIGHT));
  const deep = part.map((node) => (isDown ? NODE_HEIGHT : widths[node]));
  // In a narrow frame, layers with fewer nodes allow a larger zoom.
  const narrow = Math.min(1, cy.width() / Math.max(1, cy.height()) / 1.6);
  const most = Math.max(3, Math.ceil(Math.sqrt(part.length * (isDown ? 1.3 * narrow : 2.2))));
  const found = layered(along, own, isDown ? 22 : 14, most, lags);
  const depths = layerDepths(found, own, deep, BETWEEN_LAYERS[direction]);
  const turn = (a, b) => (isDown ? [a, b] : [b, a]);
  const ports = portsOf(found, own, along);
  const courses = own.map(([u, v], i) => {
    const start = [found.along[u] + ports.out[i], depths.middle[found.layer[u]] + deep[u] / 2];
    const end = [found.along[v] + ports.in[i], depths.middle[found.layer[v]] - deep[v] / 2];
    const points = [start, [start[0], depths.lower(found.layer[u])]];
    for (const bend of found.bends[i]) {
      // Beside wide nodes the course is straight: it would touch a node where it turned.
      const [middle, half] = [depths.middle[bend.layer], depths.half[bend.layer]];
      const beside = isDown ? [] : [middle - half, middle + half];
      const across = [depths.upper(bend.layer), ...beside, depths.lower(bend.layer)];
      points.push(...across.map((depth) => [bend.along, depth]));
    }
    points.push([end[0], depths.upper(found.layer[v])], end);
    return points.map(([a, b]) => turn(a, b));
  });
  const places = part.map((_, i) => turn(found.along[i], depths.middle[found.layer[i]]));
  return { part, links: linksInside, places, courses, ...bounds(places, courses, part.map((n) => widths[n])) };
}

/** Positions of the layers: farther apart if arcs between them run far sideways. */
function layerDepths(found, links, deep, gap) {
  const largestIn = new Array(found.depth).fill(0);
  found.layer.forEach((layer, i) => (largestIn[layer] = Math.max(largestIn[layer], deep[i])));
  const slant = new Array(found.depth).fill(0);
  links.forEach(([u, v], i) => {
    const course = [found.along[u], ...found.bends[i].map((bend) => bend.along), found.along[v]];
    for (let k = 0; k + 1 < course.length; k++) {
      const layer = found.layer[u] + k;
      slant[layer] = Math.max(slant[layer], Math.abs(course[k + 1] - course[k]));
    }
  });
  // A deep drawing would be small, so its layers are closer together.
  const closer = Math.min(1, Math.max(0.45, 12 / found.depth));
  const gaps = slant.map((most) => closer * (gap + Math.min(60, 0.08 * most)));
  const middle = [];
  let end = 0;
  for (let layer = 0; layer < found.depth; layer++) {
    middle.push(end + largestIn[layer] / 2);
    end += largestIn[layer] + gaps[layer];
  }
  return {
    middle,
    half: largestIn.map((size) => size / 2),
    upper: (layer) => middle[layer] - largestIn[layer] / 2 - 0.22 * (layer ? gaps[layer - 1] : gap),
    lower: (layer) => middle[layer] + largestIn[layer] / 2 + 0.22 * gaps[layer],
  };
}

/** Offsets of the ends of edges at their nodes: side by side, sorted by the position of the other end. */
function portsOf(found, links, along) {
  const ends = { out: new Array(links.length).fill(0), in: new Array(links.length).fill(0) };
  const sides = [["out", 0, (i) => found.bends[i][0]?.along ?? found.along[links[i][1]]],
    ["in", 1, (i) => found.bends[i].at(-1)?.along ?? found.along[links[i][0]]]];
  for (const [side, end, towards] of sides) {
    const byNode = new Map();
    links.forEach((link, i) => byNode.set(link[end], [...(byNode.get(link[end]) || []), i]));
    for (const [node, list] of byNode) {
      list.sort((a, b) => towards(a) - towards(b));
      const room = Math.min(0.75 * along[node], 11 * list.length);
      list.forEach((i, k) => (ends[side][i] = ((k + 0.5) / list.length - 0.5) * room));
    }
  }
  return ends;
}

function bounds(places, courses, widths) {
  const xs = [...places.flatMap(([x], i) => [x - widths[i] / 2, x + widths[i] / 2]), ...courses.flat().map((p) => p[0])];
  const ys = [...places.flatMap(([, y]) => [y - NODE_HEIGHT / 2, y + NODE_HEIGHT / 2]), ...courses.flat().map((p) => p[1])];
  const low = [least(xs), least(ys)];
  const shift = ([x, y]) => [x - low[0], y - low[1]];
  places.forEach((place, i) => (places[i] = shift(place)));
  courses.forEach((points, i) => (courses[i] = points.map(shift)));
  return { width: -least(xs.map((x) => -x)) - low[0], height: -least(ys.map((y) => -y)) - low[1] };
}

function least(values) {
  return values.reduce((low, value) => Math.min(low, value), Infinity);
}

/** Pack boxes in rows, the largest first, with about the aspect ratio of the frame. */
function packed(boxes) {
  const space = 30;
  const area = boxes.reduce((sum, box) => sum + (box.width + space) * (box.height + space), 0);
  const frame = cy.width() / Math.max(1, cy.height());
  const most = Math.max(boxes[0]?.width ?? 0, Math.sqrt(area * frame));
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const box of boxes) {
    if (x > 0 && x + box.width > most) [x, y, rowHeight] = [0, y + rowHeight + space, 0];
    Object.assign(box, { x, y });
    x += box.width + space;
    rowHeight = Math.max(rowHeight, box.height);
    width = Math.max(width, x - space);
  }
  return { width: Math.max(1, width), height: Math.max(1, y + rowHeight) };
}

/** Store the course of an edge as Cytoscape expects it: relative to the line between its ends. */
function course(edge, points) {
  const [start, end] = [points[0], points.at(-1)];
  const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
  const length = Math.hypot(dx, dy) || 1;
  const offset = (node, [x, y]) => {
    const at = node.position();
    return `${(x - at.x).toFixed(1)}px ${(y - at.y).toFixed(1)}px`;
  };
  const bends = points.slice(1, -1);
  keptCourses.set(edge.id(), {
    start: offset(edge.source(), start),
    end: offset(edge.target(), end),
    weights: bends.map(([x, y]) => ((x - start[0]) * dx + (y - start[1]) * dy) / length ** 2),
    distances: bends.map(([x, y]) => (-(x - start[0]) * dy + (y - start[1]) * dx) / length),
  });
  edge.scratch("_course", keptCourses.get(edge.id()));
}
