// Fill the page, from top to bottom.

function fillText() {
  document.title = `${data.title} · cosmodag report`;
  byId("title").textContent = data.title;
  byId("subtitle").textContent = `Graph learnt by ${data.learner}`;
  pairs(byId("summary"), data.summary, true);
  byId("summary").hidden = data.summary.length === 0;
  pairs(byId("origin"), data.reproduce.facts);
  byId("code").textContent = data.reproduce.code;
  const isSetting = (title) => ["Settings", "Computed by", "Starts", "Noise, scores compared"].includes(title);
  const listed = data.choices.map((choice) => [choice.title, choice.text]);
  pairs(byId("choices"), listed.filter(([title]) => !isSetting(title)));
  const settings = listed.filter(([title]) => isSetting(title));
  pairs(byId("settings"), settings);
  byId("settings-details").hidden = !settings.length && !data.starts.length && data.history.at.length < 2;
}

/** The first card: the strongest arcs, the bases of their directions, the assumptions. */
function fillStory() {
  byId("story-found").textContent = data.story.found;
  const list = byId("strongest");
  byId("strongest-title").textContent = data.story.title;
  byId("strongest-title").hidden = data.story.strongest.length === 0;
  for (const arc of data.story.strongest) {
    const share = hasShares() && arcs.p_edge[arc] !== null ? `; joined in ${percent(arcs.p_edge[arc])} of resamples` : "";
    const button = buttonFor(arcName(arc), () => {
      chooseArc(arc);
      bringIntoView(arcEnds());
    }, "arc-button");
    const item = element("li");
    item.append(button, (arcs.category[arc] ? "" : `: ${weightText(arc)} (standardised)`) + `${share}; ` +
      `direction ${arcs.grade[arc]}, basis: ${data.bases[arcs.basis[arc]].name}`);
    list.append(item);
  }
  pairs(byId("story-points"), data.story.points, true);
  if (data.verdict) byId("story").classList.toggle("rejected", data.verdict.rejected);
}

function fillFindings() {
  const box = byId("findings");
  for (const finding of data.findings) {
    const line = element("p", null, "finding " + finding.severity);
    if (finding.severity === "warning") line.append(element("b", "Warning. "));
    line.append(finding.sentence);
    box.append(line);
  }
  if (!data.diagnosed) {
    box.append(element("p", "The data was not available when this page was made.", "quiet"));
  } else if (!data.findings.length) {
    box.append(element("p", "The diagnosis of the table found no problems."));
  }
}

function fillStarts() {
  const columns = [...new Set(data.starts.flatMap((start) => Object.keys(start)))];
  byId("starts-part").hidden = data.starts.length === 0;
  const cell = (value) =>
    typeof value === "boolean" ? (value ? "yes" : "")
    : typeof value === "number" ? Number(value.toPrecision(6))
    : value ?? "";
  fillPlain(byId("starts"), columns, data.starts.map((s) => columns.map((c) => cell(s[c]))));
}

function fillStability() {
  const found = data.stability;
  byId("stability-section").hidden = found === null;
  if (found === null) return;
  const often = (shares) => shares.filter((share) => share >= 0.95).length;
  byId("stability-text").textContent =
    `The fit was repeated on ${found.resamples} resamples of the rows. ` +
    `In at least 95% of them, the ends of ${often(arcs.p_edge)} of ${arcCount} arcs were joined ` +
    `(p edge), and ${counted(often(arcs.p_direction), "arc")} had this direction, neither as a free choice nor ` +
    "by the units of the columns (p direction)." +
    (found.doubts.length ? ` These shares are ${found.note}.` : "") +
    (found.missed.length ? " These pairs were joined in most resamples, but not in the graph:" : "");
  const records = found.missed.map(([u, v, share]) => [names[u], names[v], share]);
  if (records.length) fillPlain(byId("missed"), ["variable", "other variable", "p edge"], records);
}

function repaint() {
  restyle();
  drawLegend();
  drawMatrix();
}

function startTheme() {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  byId("print").addEventListener("click", () => window.print());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  // Pages are printed in the light theme.
  let before;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    repaint();
  });
  window.addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    repaint();
  });
}

fillText();
fillStory();
fillFindings();
fillStarts();
fillStability();
fillSections();
startTable();

// The text appears at once; drawings, which are slower, follow after the first paint.
function startDrawings() {
  startGraph();
  startControls();
  startEffects();
  startLink();
  drawMatrix();
  drawHistory();
  drawCurves();
  startTheme();
  // For use of the graph from the browser's console.
  window.cosmodag = { graph: cy, data, state, choose, chooseArc, change, graphAsSvg };
  byId("graph").dataset.ready = "true";
}

if (document.hidden) startDrawings();
else requestAnimationFrame(() => setTimeout(startDrawings));
