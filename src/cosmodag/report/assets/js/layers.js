// Layered layout of a DAG: layers from top to bottom, few crossings, and a bend in every layer that an
// arc passes, so that no arc runs through a node. It takes time about linear in arcs and bends.

const BEND_ROOM = 9; // half the width of an arc in a layer that it passes
const MOST_BENDS = 12000; // graphs with more bends are drawn with straight arcs
const SWEEPS = 24;
const BEND_WEIGHT = 12; // weight of a bend in the positions of a layer; a node has 1

/**
 * Lay out one connected DAG. `sizes` are the extents of the nodes along a layer, `arcs` pairs of node
 * numbers [from, to], `gap` is the smallest distance between neighbours, and `most` the largest number
 * of nodes in a layer. With `lags`, all nodes of a lag come before those of the next, and layers may
 * be of any size. Returns `along` and `layer` of every node, `bends` of every arc (a list of
 * {along, layer}), and `depth`, the number of layers.
 */
function layered(sizes, arcs, gap, most, lags) {
  const layer = layersOf(sizes.length, arcs, most, lags);
  const drawn = withBends(sizes, arcs, layer, gap);
  const rows = [];
  drawn.layer.forEach((place, node) => (rows[place] ||= []).push(node));
  for (let place = 0; place < rows.length; place++) rows[place] ||= [];
  orderRows(rows, drawn);
  const along = spread(rows, drawn);
  return {
    along: along.slice(0, sizes.length),
    layer,
    bends: drawn.bends.map((list) => list.map((bend) => ({ along: along[bend], layer: drawn.layer[bend] }))),
    depth: rows.length,
  };
}

/** The first layer below all parents that has room; nodes without parents are moved near a child. */
function layersOf(count, arcs, most, lags) {
  const parents = Array.from({ length: count }, () => []);
  const children = Array.from({ length: count }, () => []);
  for (const [u, v] of arcs) {
    children[u].push(v);
    parents[v].push(u);
  }
  const order = topological(children, parents);
  const height = new Array(count).fill(0);
  for (const node of [...order].reverse()) {
    for (const child of children[node]) height[node] = Math.max(height[node], height[child] + 1);
  }
  // Nodes with long paths below them come first.
  const rank = new Array(count);
  order.forEach((node, i) => (rank[node] = i));
  const lag = lags || new Array(count).fill(0);
  order.sort((a, b) => lag[b] - lag[a] || height[b] - height[a] || rank[a] - rank[b]);
  const layer = new Array(count).fill(0);
  if (lags) most = Infinity;
  const filled = [];
  let first = 0;
  order.forEach((node, i) => {
    if (i > 0 && lag[node] < lag[order[i - 1]]) first = filled.length;
    let place = first;
    for (const parent of parents[node]) place = Math.max(place, layer[parent] + 1);
    while ((filled[place] || 0) >= most) place++;
    layer[node] = place;
    filled[place] = (filled[place] || 0) + 1;
  });
  for (const node of order) {
    if (lags || parents[node].length || !children[node].length) continue;
    let place = Math.min(...children[node].map((child) => layer[child])) - 1;
    while (place > layer[node] && (filled[place] || 0) >= most) place--;
    filled[layer[node]]--;
    layer[node] = Math.max(place, layer[node]);
    filled[layer[node]] = (filled[layer[node]] || 0) + 1;
  }
  const used = [...new Set(layer)].sort((a, b) => a - b);
  return layer.map((place) => used.indexOf(place));
}

function topological(children, parents) {
  const waiting = parents.map((list) => list.length);
  const order = [];
  const ready = waiting.map((_, node) => node).filter((node) => waiting[node] === 0).reverse();
  while (ready.length) {
    const node = ready.pop();
    order.push(node);
    for (const child of children[node]) if (--waiting[child] === 0) ready.push(child);
  }
  return order;
}

/** Add a bend in every layer that an arc passes, so that all links join adjacent layers. */
function withBends(sizes, arcs, layer, gap) {
  const passed = arcs.reduce((sum, [u, v]) => sum + layer[v] - layer[u] - 1, 0);
  const isBent = passed <= MOST_BENDS;
  const found = {
    layer: [...layer], room: sizes.map((size) => (size + gap) / 2), above: [], below: [], bends: [],
    count: sizes.length,
  };
  const link = (from, to) => {
    (found.below[from] ||= []).push(to);
    (found.above[to] ||= []).push(from);
  };
  for (const [u, v] of arcs) {
    const list = [];
    for (let place = layer[u] + 1; isBent && place < layer[v]; place++) {
      list.push(found.layer.length);
      found.layer.push(place);
      found.room.push(BEND_ROOM);
    }
    [u, ...list].forEach((node, i) => link(node, i < list.length ? list[i] : v));
    found.bends.push(list);
  }
  return found;
}

/** Sort rows by the mean place of neighbours, downwards and upwards in turn, and keep the best order. */
function orderRows(rows, drawn) {
  const place = new Array(drawn.layer.length);
  const number = () => rows.forEach((row) => row.forEach((node, i) => (place[node] = i)));
  number();
  let best = rows.map((row) => [...row]);
  let fewest = crossings(rows, drawn, place);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    const side = down ? drawn.above : drawn.below;
    for (const row of down ? rows : [...rows].reverse()) {
      const mean = new Map(row.map((node) => {
        const near = side[node] || [];
        return [node, near.length ? near.reduce((sum, one) => sum + place[one], 0) / near.length : place[node]];
      }));
      row.sort((a, b) => mean.get(a) - mean.get(b) || place[a] - place[b]);
      row.forEach((node, i) => (place[node] = i));
    }
    const found = crossings(rows, drawn, place);
    if (found < fewest) {
      fewest = found;
      best = rows.map((row) => [...row]);
    }
  }
  best.forEach((row, i) => (rows[i] = row));
}

/** The number of crossings between adjacent rows, by counting inversions. */
function crossings(rows, drawn, place) {
  let total = 0;
  for (const row of rows) {
    const ends = [];
    for (const node of row) {
      ends.push(...(drawn.below[node] || []).map((end) => place[end]).sort((a, b) => a - b));
    }
    const size = Math.max(...ends, 0) + 2;
    const tree = new Int32Array(size + 1);
    ends.forEach((end, i) => {
      let before = 0;
      for (let k = end + 1; k > 0; k -= k & -k) before += tree[k];
      total += i - before;
      for (let k = end + 1; k <= size; k += k & -k) tree[k]++;
    });
  }
  return total;
}

/** Move nodes to the mean of their neighbours, without overlaps and without changing the order. */
function spread(rows, drawn) {
  const along = new Array(drawn.layer.length).fill(0);
  for (const row of rows) row.forEach((node, i) => (along[node] = i));
  for (const row of rows) place(row, row.map(() => 0));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const sides = down ? [drawn.above, drawn.below] : [drawn.below, drawn.above];
    for (const row of down ? rows : [...rows].reverse()) {
      place(row, row.map((node) => {
        // The last sweeps use the neighbours on both sides.
        const near = sweep < SWEEPS - 8 ? sides[0][node] || [] : [...(sides[0][node] || []), ...(sides[1][node] || [])];
        return near.length ? near.reduce((sum, one) => sum + along[one], 0) / near.length : along[node];
      }));
    }
  }
  return along;

  /** Set the positions closest to the wanted ones (least squares), by isotonic regression. */
  function place(row, wanted) {
    const offsets = [];
    let end = 0;
    for (const node of row) {
      offsets.push(end + drawn.room[node]);
      end += 2 * drawn.room[node];
    }
    const blocks = [];
    row.forEach((node, i) => {
      // Straight arcs are more important than centred nodes.
      const weight = node >= drawn.count ? BEND_WEIGHT : 1;
      blocks.push({ sum: weight * (wanted[i] - offsets[i]), weight, count: 1 });
      while (blocks.length > 1 && mean(blocks.at(-2)) > mean(blocks.at(-1))) {
        const last = blocks.pop();
        const before = blocks.at(-1);
        before.sum += last.sum;
        before.weight += last.weight;
        before.count += last.count;
      }
    });
    let i = 0;
    for (const block of blocks) {
      for (let k = 0; k < block.count; k++, i++) along[row[i]] = mean(block) + offsets[i];
    }
  }

  function mean(block) {
    return block.sum / block.weight;
  }
}
