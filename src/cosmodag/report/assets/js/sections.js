// Further sections that other parts of the package add to the page.

function fillSections() {
  const place = byId("reproduce-section");
  data.sections.forEach((section, number) => {
    const card = element("section", null, "card wide");
    const id = `section-${number}-title`;
    card.setAttribute("aria-labelledby", id);
    const heading = Object.assign(element("h2", section.title), { id });
    const body = element("div");
    if (section.text) body.append(element("p", section.text));
    if (section.columns.length) {
      const table = element("table");
      fillPlain(table, section.columns, section.rows);
      const scroll = Object.assign(element("div", null, "scroll"), { tabIndex: 0 });
      scroll.append(table);
      body.append(scroll);
    }
    if (section.curves.length) {
      const panels = element("div", null, "panels");
      for (const curve of section.curves) {
        const figure = linePlot(curve.x, curve.y, curve.label ?? "", false, curve);
        figure.prepend(element("figcaption", curve.title ?? ""));
        panels.append(figure);
      }
      body.append(panels);
    }
    if (section.folded) {
      const details = element("details");
      const summary = element("summary");
      summary.append(heading);
      details.append(summary, body);
      card.append(details);
    } else card.append(heading, body);
    place.before(card);
  });
}
