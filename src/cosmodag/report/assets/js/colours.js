// Colours that readers with any kind of colour vision can distinguish (Okabe and Ito), with dashes
// for prints in grey.

const BASIS_STYLES = {
  "shape of the graph": { light: "#0072B2", dark: "#56B4E9", dash: [] },
  "weak evidence": { light: "#3E86B0", dark: "#9CCBE8", dash: [8, 3] },
  "stated": { light: "#1D1D1D", dark: "#F2F2F2", dash: [] },
  "time": { light: "#332288", dark: "#A79BE0", dash: [] },
  "knowledge": { light: "#AA4488", dark: "#DD99C0", dash: [] },
  "interventions": { light: "#008862", dark: "#2CC79C", dash: [] },
  "intervention (found target)": { light: "#008862", dark: "#2CC79C", dash: [8, 3] },
  "curves": { light: "#7A5195", dark: "#C3A4DB", dash: [10, 3] },
  "non-Gaussianity": { light: "#9A6600", dark: "#E69F00", dash: [10, 3] },
  "uneven noise": { light: "#9A6600", dark: "#E69F00", dash: [3, 3] },
  "equal variances": { light: "#C25500", dark: "#F0864A", dash: [6, 4] },
  "scale of the columns": { light: "#8C5A3C", dark: "#C99A7A", dash: [4, 2] },
  "free choice": { light: "#6B6B6B", dark: "#A8A8A8", dash: [2, 3] },
};
const OTHER_BASIS = { light: "#555555", dark: "#BBBBBB", dash: [8, 3, 2, 3] };
const SIGN_STYLES = {
  positive: { light: "#0072B2", dark: "#56B4E9", dash: [] },
  negative: { light: "#C25500", dark: "#F0864A", dash: [7, 4] },
  none: { light: "#5A6572", dark: "#AAB4C0", dash: [] },
};
// Tints of nodes, on all of which names are readable.
const GROUP_TINTS = {
  light: ["#dcebfa", "#fde8cf", "#dff3e4", "#f3e0ee", "#fbf6c8", "#e4e2f7", "#f7dedb", "#d8f1f3"],
  dark: ["#1f3a57", "#54391a", "#1f4a33", "#4d2b46", "#4a4617", "#37335f", "#57302b", "#1d474b"],
};

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function inTheme(style) {
  return { colour: isDark() ? style.dark : style.light, dash: style.dash };
}

function basisStyle(basis) {
  return inTheme(BASIS_STYLES[data.bases[basis].name] || OTHER_BASIS);
}

function signStyle(sign) {
  return inTheme(SIGN_STYLES[sign]);
}

function signOf(arc) {
  if (arc === null || !data.signed || arcs.category[arc]) return "none";
  return arcs.weight[arc] < 0 ? "negative" : "positive";
}

/** Colour and dash of an edge, by the sign of its weight or by the basis of its direction. */
function edgeStyle(arc) {
  if (state.colour === "basis" && arc !== null) return basisStyle(arcs.basis[arc]);
  return signStyle(signOf(arc));
}

function groupTint(group) {
  const tints = GROUP_TINTS[isDark() ? "dark" : "light"];
  return tints[group % tints.length];
}

function palette() {
  return isDark()
    ? {
        paper: "#1d2129", ink: "#e5e9ef", node: "#2b323d", border: "#5c6878", line: "#353c48",
        chosen: "#F0E442", chosenInk: "#14171c", ancestor: "#1f5d85", descendant: "#8a5200",
        positive: [86, 180, 233], negative: [240, 134, 74], none: [170, 180, 192],
      }
    : {
        paper: "#ffffff", ink: "#1b2430", node: "#eef2f6", border: "#8a97a6", line: "#d9dee5",
        chosen: "#F0E442", chosenInk: "#1b2430", ancestor: "#bfe3f7", descendant: "#fbdcae",
        positive: [0, 114, 178], negative: [213, 94, 0], none: [90, 101, 114],
      };
}
