// Controls of the graph.

function startControls() {
  const list = byId("variable-names");
  for (const name of names) list.append(option(null, name));
  const search = byId("search");
  search.addEventListener("change", () => findVariable(search.value));
  search.addEventListener("input", () => say(""));
  if (names.length > MOST_AT_ONCE) byId("scope").querySelector('[value="all"]').remove();
  if (names.length <= FEW_VARIABLES) byId("scope").querySelector('[value="hubs"]').remove();
  if (!data.pag) byId("kind").querySelector('[value="pag"]').remove();
  if (!data.signed) byId("colour").querySelector('[value="sign"]').remove();
  if (!hasShares()) byId("measure").querySelector('[value="probability"]').remove();
  for (const id of ["scope", "kind", "direction", "colour"]) {
    byId(id).addEventListener("change", (event) => {
      const value = event.target.value;
      const needs = id === "scope" && !["all", "hubs", "paths"].includes(value) && state.chosen === null;
      say(needs ? "Select a variable first: click one, or find it by name."
        : value === "paths" && (state.cause === null || state.effect === null)
          ? "Choose two variables under “Effect” first." : "");
      change({ [id]: value });
    });
  }
  byId("controls").open = !IS_NARROW;
  startSlider();
  byId("labels").addEventListener("change", (event) => change({ labels: event.target.checked }));
  byId("thin").addEventListener("click", () => change({ thinned: !state.thinned, cut: 0 }));
  byId("arrange").addEventListener("click", arrange);
  byId("fit").addEventListener("click", fit);
  byId("larger").addEventListener("click", () => zoomBy(1.3));
  byId("smaller").addEventListener("click", () => zoomBy(1 / 1.3));
  byId("save-svg").addEventListener("click", saveSvg);
  byId("save-png").addEventListener("click", savePng);
  onChange(showControls);
  onChange(describe);
  onChange((before) => {
    if (["kind", "colour", "scope"].some((name) => before[name] !== state[name])) drawLegend();
  });
  drawLegend();
  showControls();
  describe();
}

function startSlider() {
  const cut = byId("cut");
  cut.max = Math.max(0, arcCount - 1);
  cut.disabled = arcCount < 2;
  let sorted = sortedMeasures();
  byId("measure").addEventListener("change", (event) => {
    change({ measure: event.target.value, cut: 0 });
    sorted = sortedMeasures();
  });
  cut.addEventListener("input", () => {
    const step = Number(cut.value);
    change({ cut: step === 0 ? 0 : sorted[step] });
  });
}

/** The measure of all arcs, weakest first: every step of the slider hides one more arc. */
function sortedMeasures() {
  return arcs.from.map((_, arc) => measured(arc)).sort((a, b) => a - b);
}

/** Bring controls and counters up to date with the state. */
function showControls() {
  for (const id of ["scope", "kind", "direction", "colour", "measure"]) byId(id).value = state[id];
  byId("labels").checked = state.labels;
  const below = state.cut ? arcs.from.filter((_, arc) => measured(arc) < state.cut).length : 0;
  if (Number(byId("cut").value) !== below) byId("cut").value = below;
  byId("cut-text").textContent = viewText(view);
  const thin = byId("thin");
  const canThin = view.inScope > FEW_ARCS;
  thin.hidden = !canThin;
  thin.textContent = state.thinned ? `Show all ${view.inScope.toLocaleString("en")} arcs` : "Show the strongest";
}

/** Find a variable by its name or a part of it; undefined if there is none. */
function foundVariable(text) {
  const lower = text.toLowerCase();
  const rules = [
    (name) => name === text,
    (name) => name.toLowerCase().startsWith(lower),
    (name) => name.toLowerCase().includes(lower),
  ];
  const place = rules.map((rule) => names.findIndex(rule)).find((found) => found >= 0);
  return place;
}

function findVariable(text) {
  if (!text) return say("");
  const place = foundVariable(text);
  if (place === undefined) return sayNotFound(text);
  say("");
  choose(place);
  bringIntoView([place]);
}

function sayNotFound(text) {
  say(`No variable has “${text}” in its name.`);
}

/** Show a message next to the counters. */
function say(text) {
  byId("message").textContent = text;
}
