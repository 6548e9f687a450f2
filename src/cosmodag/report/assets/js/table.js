// Tables: the sortable and filterable table of arcs, and small static ones.

const FIRST_ROWS = 200;

/** A number of an arc; none if an end is a category. */
const unlessCategory = (values) => (arc) => (arcs.category[arc] ? null : values[arc]);

const COLUMNS = [
  { title: "cause", value: (arc) => names[arcs.from[arc]] },
  { title: "effect", value: (arc) => names[arcs.to[arc]] },
  {
    title: "standardised", value: unlessCategory(arcs.standardised), number: true, signed: true,
    sort: (v) => Math.abs(v),
  },
  {
    title: "weight", value: unlessCategory(arcs.weight), number: true, signed: true,
    sort: (v) => Math.abs(v),
  },
  { title: "se", value: unlessCategory(arcs.error), number: true, given: arcs.error },
  {
    title: "t", value: unlessCategory(arcs.weight.map((weight, arc) => arcs.error?.[arc] && weight / arcs.error[arc])),
    number: true, digits: 1, sort: (v) => Math.abs(v), given: arcs.error,
  },
  { title: "p edge", value: (arc) => arcs.p_edge[arc], number: true, digits: 2, given: arcs.p_edge },
  {
    title: "p direction", value: (arc) => arcs.p_direction[arc], number: true, digits: 2,
    given: arcs.p_direction,
  },
  { title: "direction", value: (arc) => arcs.grade[arc] },
  { title: "basis of direction", value: (arc) => data.bases[arcs.basis[arc]].name },
].filter((column) => column.given !== null);

const sorting = { column: 2, descending: true };
let rowsShown = FIRST_ROWS;

function startTable() {
  const head = element("tr");
  COLUMNS.forEach((column, place) => {
    const cell = element("th", null, column.number ? "number" : "");
    cell.append(buttonFor(column.title, () => sortBy(place)));
    head.append(cell);
  });
  const top = element("thead");
  top.append(head);
  byId("arcs").append(top, element("tbody"));
  const bases = byId("filter-basis");
  data.bases.forEach((basis, number) => {
    bases.append(option(basis.name, number));
  });
  const again = () => {
    rowsShown = FIRST_ROWS;
    fillTable();
  };
  for (const id of ["filter", "filter-basis", "only-drawn"]) {
    byId(id).addEventListener("input", again);
  }
  byId("more-arcs").addEventListener("click", () => {
    rowsShown += 1000;
    fillTable();
  });
  onChange(() => {
    if (byId("only-drawn").checked) again();
  });
  if (!data.signed) {
    byId("arcs-note").textContent =
      "Weights are the strengths of arcs in the networks and have no sign; standardised weights are " +
      "for causes with a standard deviation of one. The responses below show the shape of each arc.";
  } else if (arcs.error) {
    byId("arcs-note").textContent =
      "Standardised weights are for columns with a standard deviation of one, which makes them " +
      "comparable. Standard errors (se) of weights, and t = weight / se, are those of least squares on the parents shown. They treat the arcs as " +
      "known beforehand and do not include the uncertainty of choosing them from the same data.";
  }
  fillTable();
}

function sortBy(place) {
  const same = sorting.column === place;
  sorting.descending = same ? !sorting.descending : Boolean(COLUMNS[place].number);
  sorting.column = place;
  fillTable();
}

function filteredArcs() {
  const text = byId("filter").value.toLowerCase();
  const basis = byId("filter-basis").value;
  const onlyDrawn = byId("only-drawn").checked;
  const kept = [];
  const drawn = onlyDrawn ? new Set(view.edges.map((edge) => edge.arc)) : null;
  for (let arc = 0; arc < arcCount; arc++) {
    if (onlyDrawn && !drawn.has(arc)) continue;
    if (basis !== "" && arcs.basis[arc] !== Number(basis)) continue;
    const both = names[arcs.from[arc]] + "\n" + names[arcs.to[arc]];
    if (text && !both.toLowerCase().includes(text)) continue;
    kept.push(arc);
  }
  return kept;
}

function sortedArcs(kept) {
  const column = COLUMNS[sorting.column];
  const key = (arc) => {
    const value = column.value(arc);
    if (value === null || value === undefined) return column.number ? -Infinity : "";
    return column.sort ? column.sort(value) : value;
  };
  const sign = sorting.descending ? -1 : 1;
  const compare = column.number
    ? (a, b) => key(a) - key(b) || 0
    : (a, b) => key(a).localeCompare(key(b), undefined, { numeric: true });
  return kept.sort((a, b) => sign * compare(a, b));
}

function fillTable() {
  const kept = sortedArcs(filteredArcs());
  const body = byId("arcs").tBodies[0];
  body.replaceChildren(...kept.slice(0, rowsShown).map(rowFor));
  byId("arcs-count").textContent = `${kept.length} of ${counted(arcCount, "arc")}`;
  byId("more-arcs").hidden = kept.length <= rowsShown;
  byId("arcs").querySelectorAll("th").forEach((cell, place) => {
    if (place !== sorting.column) cell.removeAttribute("aria-sort");
    else cell.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
  });
}

function rowFor(arc) {
  const row = element("tr");
  const open = () => {
    chooseArc(arc);
    bringIntoView(arcEnds());
  };
  COLUMNS.forEach((column, place) => {
    const value = column.value(arc);
    const text = !column.number
      ? value
      : column.signed ? signedText(value) : numberText(value, column.digits);
    const cell = element("td", place ? text : null, column.number ? "number" : "");
    // A button makes the row accessible by keyboard.
    if (!place) cell.append(element("button", text));
    row.append(cell);
  });
  row.addEventListener("click", open);
  return row;
}

/** A static table of records. */
function fillPlain(table, columns, records) {
  const head = element("tr");
  columns.forEach((column, i) => {
    const isNumber = records.some((record) => typeof record[i] === "number");
    head.append(element("th", column, isNumber ? "number" : ""));
  });
  const top = element("thead");
  top.append(head);
  const body = element("tbody");
  for (const record of records) {
    const row = element("tr");
    for (const value of record) {
      const isNumber = typeof value === "number";
      row.append(element("td", isNumber ? String(value) : value, isNumber ? "number" : ""));
    }
    body.append(row);
  }
  table.replaceChildren(top, body);
}
