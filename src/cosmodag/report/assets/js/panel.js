// The panel beside the graph: the selected variable or arc.

function describe() {
  const box = byId("chosen");
  box.replaceChildren();
  if (state.arc !== null) describeArc(box, state.arc);
  else if (state.chosen !== null) describeVariable(box, state.chosen);
  else {
    box.append(element("p", "Click a variable to see its causes and effects, or an arc to see the evidence for it.", "quiet"));
  }
}

function describeArc(box, arc) {
  const [from, to] = arcEnds();
  box.append(element("h3", arcName(arc)), pairs(element("dl"), edgeFacts(arc)));
  const curve = arcs.category[arc] && effectCurves.get(from + " " + to);
  if (curve) box.append(element("p", meanText(from, to, curve)), levelMeans(curve));
  const { name, meaning } = data.bases[arcs.basis[arc]];
  if (meaning) box.append(element("p", `Meaning of “${name}”: ${meaning}.`, "quiet"));
  const buttons = element("p", null, "buttons");
  buttons.append(
    buttonFor("Effect", () => change({ cause: from, effect: to, arc: null })),
    buttonFor(shortened(names[from], 14), () => choose(from)),
    buttonFor(shortened(names[to], 14), () => choose(to)),
  );
  box.append(buttons);
}

function describeVariable(box, chosen) {
  box.append(element("h3", names[chosen]));
  const group = data.variables.group[chosen];
  const where = `Position ${placeInOrder[chosen] + 1} of ${names.length} in causal order`;
  box.append(element("p", where + (group === null ? "." : `, ${data.groups[group]}.`), "quiet"));
  const buttons = element("p", null, "buttons");
  buttons.append(buttonFor("Effect on …", () => change({ cause: chosen, effect: null, picking: true })));
  const isExpanded = expandedOnes().includes(chosen);
  const more = undrawn(chosen, view.variables);
  if (isExpanded) buttons.append(buttonFor("Remove its neighbours", () => toggleExpanded(chosen)));
  else if (more) buttons.append(buttonFor(`Draw its neighbours (+${more})`, () => toggleExpanded(chosen)));
  box.append(buttons);
  const causes = ancestorsOf(chosen).variables.size;
  const effects = descendantsOf(chosen).variables.size;
  box.append(listOf("causes", "direct cause", causes, into[chosen], arcs.from));
  box.append(listOf("effects", "direct effect", effects, outOf[chosen], arcs.to));
}

function listOf(kind, word, all, numbers, ends) {
  const part = element("div");
  part.append(element("h4", `${counted(numbers.length, word)} (${all} including indirect ones)`, kind));
  const list = element("ul");
  for (const arc of [...numbers].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const button = buttonFor(null, () => choose(ends[arc]));
    button.append(element("span", names[ends[arc]]), element("span", weightText(arc)));
    const item = element("li");
    item.append(button);
    list.append(item);
  }
  part.append(list);
  return part;
}
