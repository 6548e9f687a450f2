// The weights as a heat map, with causes as rows and effects as columns, both in causal order.

const NAMED = 45; // largest number of variables for which rows and columns show their names

function drawMatrix() {
  const canvas = byId("matrix");
  const d = names.length;
  const place = placeInOrder;
  const named = d <= NAMED;
  const pen = canvas.getContext("2d");
  pen.font = "11px system-ui, sans-serif";
  const longest = named ? Math.max(...names.map((n) => pen.measureText(shortened(n, 16)).width)) : 0;
  const margin = named ? Math.ceil(longest) + 8 : 4;
  const available = Math.max(240, Math.min(620, byId("matrix").parentElement.clientWidth - 40));
  const cell = Math.min(28, (available - margin) / d);
  const side = margin + Math.ceil(cell * d) + 4;
  const sharp = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = side * sharp;
  canvas.height = side * sharp;
  canvas.style.width = side + "px";
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);

  const colours = palette();
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, side, side);
  const whole = largestSize() || 1;
  for (let arc = 0; arc < arcCount; arc++) {
    const share = Math.sqrt(sizeOf(arc) / whole);
    const [r, g, b] = colours[signOf(arc)];
    pen.fillStyle = `rgba(${r}, ${g}, ${b}, ${0.15 + 0.85 * share})`;
    const x = margin + cell * place[arcs.to[arc]];
    const y = margin + cell * place[arcs.from[arc]];
    pen.fillRect(x, y, Math.max(cell - 0.5, 1), Math.max(cell - 0.5, 1));
  }
  pen.strokeStyle = colours.line;
  pen.strokeRect(margin, margin, cell * d, cell * d);
  pen.beginPath();
  pen.moveTo(margin, margin);
  pen.lineTo(margin + cell * d, margin + cell * d);
  pen.stroke();
  if (named) nameCells(pen, colours, margin, cell);

  const text = byId("matrix-text");
  const usual =
    "Causes are rows, effects are columns, causes first: all arcs are above the diagonal." +
    (data.signed ? " Blue is positive, orange negative." : "");
  text.textContent = usual;
  const at = new Map();
  for (let arc = 0; arc < arcCount; arc++) at.set(place[arcs.from[arc]] * d + place[arcs.to[arc]], arc);
  canvas.onmousemove = (event) => {
    const scale = side / canvas.clientWidth;
    const column = Math.floor((event.offsetX * scale - margin) / cell);
    const row = Math.floor((event.offsetY * scale - margin) / cell);
    const inside = row >= 0 && column >= 0 && row < d && column < d;
    const arc = inside ? at.get(row * d + column) : undefined;
    text.textContent = arc === undefined
      ? usual
      : `${arcName(arc)}${weightText(arc) && `: ${weightText(arc)}`}`;
  };
}

function nameCells(pen, colours, margin, cell) {
  pen.fillStyle = colours.ink;
  pen.font = `${Math.min(11, Math.max(7, cell - 1))}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  inOrder().forEach((variable, i) => {
    const label = shortened(names[variable], 16);
    const middle = margin + cell * (i + 0.5);
    pen.textAlign = "right";
    pen.fillText(label, margin - 4, middle);
    pen.save();
    pen.translate(middle, margin - 4);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(label, 0, 0);
    pen.restore();
  });
}
