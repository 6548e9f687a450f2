// Labels of arcs: on their arcs, apart from each other and from nodes.

const LABEL_HEIGHT = 13;
const LABEL_PADDING = 3;
// Shares of the length of an arc at which its label may stand, the best first.
const LABEL_PLACES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
const MOST_COMPARED = 150; // with more arcs, labels may hide parts of other arcs

/** Place the labels of the drawn arcs, the strongest first; labels without room are left out. */
function placeLabels() {
  const edges = cy.edges().toArray();
  const none = { shown: "", labelX: 0, labelY: 0 };
  if (!state.labels) return cy.batch(() => edges.forEach((edge) => edge.data(none)));
  const taken = cy.nodes().map((node) => {
    const { x, y } = node.position();
    return boxAround([x, y], node.data("width") + LABEL_PADDING, NODE_HEIGHT + LABEL_PADDING);
  });
  const courses = edges.map(pointsOf);
  const crossed = edges.length > MOST_COMPARED ? [] : courses;
  const ranked = edges.map((_, i) => i).sort((a, b) => sizeOf(edges[b].data("arc")) - sizeOf(edges[a].data("arc")));
  cy.batch(() => {
    for (const i of ranked) {
      const label = edges[i].data("label");
      const width = (10 / 13) * ruler.measureText(label).width + 2 * LABEL_PADDING;
      let best = null;
      for (const share of label ? LABEL_PLACES : []) {
        const at = courses[i][Math.round(share * (courses[i].length - 1))];
        const box = boxAround(at, width, LABEL_HEIGHT + LABEL_PADDING);
        if (taken.some((other) => overlap(box, other))) continue;
        const hidden = crossed.filter((points, k) => k !== i && points.some((point) => contains(box, point))).length;
        if (best === null || hidden < best.hidden) best = { at, box, hidden };
        if (hidden === 0) break;
      }
      if (best) taken.push(best.box);
      const middle = edges[i].midpoint();
      edges[i].data(best ? { shown: label, labelX: best.at[0] - middle.x, labelY: best.at[1] - middle.y } : none);
    }
  });
}

/** Points along the drawn course of an edge, at about equal distances. */
function pointsOf(edge) {
  const pair = ({ x, y }) => [x, y];
  const [start, end] = [pair(edge.sourceEndpoint()), pair(edge.targetEndpoint())];
  const bends = (edge.controlPoints() || []).map(pair);
  const mixed = (a, b, t) => [0, 1].map((axis) => (1 - t) * a[axis] + t * b[axis]);
  const points = [start];
  let from = start;
  (bends.length ? bends : [mixed(start, end, 0.5)]).forEach((bend, i, all) => {
    const to = i + 1 < all.length ? mixed(bend, all[i + 1], 0.5) : end;
    for (let t = 0.1; t < 1.05; t += 0.1) points.push(mixed(mixed(from, bend, t), mixed(bend, to, t), t));
    from = to;
  });
  const lengths = [0];
  for (let k = 1; k < points.length; k++) {
    lengths.push(lengths[k - 1] + Math.hypot(points[k][0] - points[k - 1][0], points[k][1] - points[k - 1][1]));
  }
  const even = [];
  for (let k = 0, part = 0; part <= 50; part++) {
    while (k + 2 < points.length && lengths[k + 1] < (part / 50) * lengths.at(-1)) k++;
    const rest = ((part / 50) * lengths.at(-1) - lengths[k]) / (lengths[k + 1] - lengths[k] || 1);
    even.push(mixed(points[k], points[k + 1], rest));
  }
  return even;
}

function boxAround([x, y], width, height) {
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
}

function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

function contains(box, [x, y]) {
  return box[0] < x && x < box[2] && box[1] < y && y < box[3];
}
