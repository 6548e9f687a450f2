// The view is stored in the address, so that a copied address opens the same drawing.

const BY_NAME = ["chosen", "cause", "effect"];
const AS_NUMBER = ["arc", "cut"];
const AS_FLAG = ["thinned", "labels"];
const AS_WORD = {
  kind: ["dag", "class", "pag"], scope: ["all", "hubs", "1", "2", "blanket", "part", "paths"],
  measure: ["weight", "probability"], direction: ["auto", "down", "right"], colour: ["sign", "basis"],
};

function startLink() {
  onChange(writeLink);
  window.addEventListener("hashchange", () => {
    change({ ...FIRST, ...linkedState() });
    showControls();
  });
  byId("copy-link").addEventListener("click", async () => {
    writeLink();
    let message = "The address of this page now opens this view: copy it from the address bar.";
    try {
      await navigator.clipboard.writeText(location.href);
      message = "The link was copied. It opens this view.";
    } catch {
      // Browsers forbid copying for some pages; the address bar has the link.
    }
    say(message);
  });
}

/** Write the state, as far as it differs from the first view, into the address after '#'. */
function writeLink() {
  const kept = new URLSearchParams();
  for (const name of BY_NAME) if (state[name] !== null) kept.set(name, names[state[name]]);
  for (const name of [...AS_NUMBER, "expanded", ...AS_FLAG, ...Object.keys(AS_WORD)]) {
    if (state[name] !== FIRST[name]) kept.set(name, String(state[name]));
  }
  const text = kept.toString();
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function readLink() {
  Object.assign(state, linkedState());
}

/** Read the state from the address, ignoring entries that are not valid in this page. */
function linkedState() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const [name, text] of kept) {
    const number = Number(text);
    if (BY_NAME.includes(name) && names.includes(text)) found[name] = names.indexOf(text);
    else if (name === "arc" && Number.isInteger(number) && number >= 0 && number < arcCount) found.arc = number;
    else if (name === "cut" && Number.isFinite(number)) found.cut = number;
    else if (AS_FLAG.includes(name)) found[name] = text === "true";
    else if (name === "expanded") {
      const places = text.split(",").filter((one) => one !== "" && Number(one) in names);
      found.expanded = places.join(",");
    } else if (Object.hasOwn(AS_WORD, name) && AS_WORD[name].includes(text)) found[name] = text;
  }
  if (found.kind === "pag" && !data.pag) delete found.kind;
  if (found.measure === "probability" && !hasShares()) delete found.measure;
  return found;
}
