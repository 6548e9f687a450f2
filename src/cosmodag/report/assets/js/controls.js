// Controls of the graph, and the panel about the selected variable.

function startControls() {
  const list = byId("variable-names");
  for (const name of names) list.append(Object.assign(element("option"), { value: name }));
  const search = byId("search");
  search.addEventListener("change", () => findVariable(search.value));
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") findVariable(search.value);
  });

  const scope = byId("scope");
  if (names.length > MOST_AT_ONCE) scope.options[0].remove();
  scope.value = state.scope;
  scope.addEventListener("change", () => change({ scope: scope.value }));

  const measure = byId("measure");
  if (!arcs.p_edge || data.stability.doubts.length) measure.options[1].remove();
  const cut = byId("cut");
  cut.max = Math.max(0, arcCount - 1);
  cut.disabled = arcCount < 2;
  let sorted = sortedMeasures();
  measure.addEventListener("change", () => {
    cut.value = 0;
    change({ measure: measure.value, cut: 0 });
    sorted = sortedMeasures();
  });
  cut.addEventListener("input", () => {
    const step = Number(cut.value);
    change({ cut: step === 0 ? 0 : sorted[step] });
  });

  const labels = byId("labels");
  labels.checked = state.labels;
  labels.addEventListener("change", () => change({ labels: labels.checked }));
  byId("arrange").addEventListener("click", () => arrange(cy));
  byId("fit").addEventListener("click", () => fit(cy));
  byId("save-svg").addEventListener("click", saveSvg);
  byId("save-png").addEventListener("click", savePng);
  drawLegend();
  onChange(describe);
  describe();
}

/** Every step of the slider hides one more arc, the weakest first. */
function sortedMeasures() {
  return arcs.weight.map((_, arc) => measured(arc)).sort((a, b) => a - b);
}

function findVariable(text) {
  if (!text) return;
  const lower = text.toLowerCase();
  let place = names.indexOf(text);
  if (place < 0) place = names.findIndex((name) => name.toLowerCase().startsWith(lower));
  if (place < 0) place = names.findIndex((name) => name.toLowerCase().includes(lower));
  if (place < 0) return;
  choose(place);
  const node = cy.getElementById("v" + place);
  if (state.scope === "all") cy.animate({ center: { eles: node }, duration: 250 });
}

function describe() {
  const drawn = arcs.weight.filter((_, arc) => isDrawn(arc)).length;
  const what = state.measure === "weight" ? "|standardised weight|" : "p edge";
  const limit = state.cut ? ` (${what} ≥ ${numberText(state.cut)})` : "";
  byId("cut-text").textContent = `${drawn} of ${arcCount} arcs${limit}`;
  const box = byId("chosen");
  box.replaceChildren();
  if (state.chosen === null) {
    box.append(element("p", "Click a variable to see its causes and effects.", "quiet"));
    return;
  }
  const chosen = state.chosen;
  box.append(element("h3", names[chosen]));
  const causes = ancestorsOf(chosen).variables.size;
  const effects = descendantsOf(chosen).variables.size;
  const place = inOrder().indexOf(chosen) + 1;
  box.append(element("p", `Position ${place} of ${names.length} in causal order.`, "quiet"));
  box.append(listOf("causes", `direct causes (${causes} in all)`, into[chosen], arcs.from));
  box.append(listOf("effects", `direct effects (${effects} in all)`, outOf[chosen], arcs.to));
}

function listOf(kind, title, numbers, ends) {
  const part = element("div");
  const drawn = numbers.filter(isDrawn);
  part.append(element("h4", `${drawn.length} ${title}`, kind));
  const list = element("ul");
  drawn.sort((a, b) => sizeOf(b) - sizeOf(a));
  for (const arc of drawn) {
    const button = element("button");
    button.type = "button";
    button.append(element("span", names[ends[arc]]), element("span", signedText(arcs.standardised[arc])));
    button.addEventListener("click", () => choose(ends[arc]));
    const item = element("li");
    item.append(button);
    list.append(item);
  }
  part.append(list);
  return part;
}

function drawLegend() {
  const legend = byId("legend");
  legend.replaceChildren();
  data.bases.forEach((basis, number) => {
    const style = arcStyle(number);
    const sample = svgElement("svg", { width: 44, height: 12, "aria-hidden": "true" });
    sample.append(
      svgElement("line", {
        x1: 0, y1: 6, x2: style.headless ? 43 : 34, y2: 6, stroke: style.colour, "stroke-width": 2.5,
        "stroke-dasharray": style.dash.join(" "),
      }),
    );
    if (!style.headless) {
      sample.append(svgElement("path", { d: "M33 1 L43 6 L33 11 Z", fill: style.colour }));
    }
    const item = element("li");
    const text = element("span");
    text.append(element("b", basis.name), basis.meaning ? ": " + basis.meaning : "");
    item.append(sample, text);
    legend.append(item);
  });
  if (arcCount) legend.append(element("li", "The thicker an arc, the larger its |standardised weight|.", "quiet"));
}
