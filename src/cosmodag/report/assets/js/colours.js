// Colours that readers with any kind of colour vision can tell apart (Okabe and Ito), and dashes
// for prints in grey.

const STYLES = {
  "shape of the graph": { light: "#0072B2", dark: "#56B4E9", dash: [] },
  "weak evidence": { light: "#4C9BC9", dark: "#9CCBE8", dash: [8, 3] },
  "time": { light: "#332288", dark: "#A79BE0", dash: [] },
  "knowledge": { light: "#AA4488", dark: "#DD99C0", dash: [] },
  "interventions": { light: "#009E73", dark: "#2CC79C", dash: [] },
  "intervention (found target)": { light: "#009E73", dark: "#2CC79C", dash: [8, 3] },
  "non-Gaussianity": { light: "#B87A00", dark: "#E69F00", dash: [10, 3] },
  "equal variances": { light: "#D55E00", dark: "#F0864A", dash: [6, 4] },
  "scale of the columns": { light: "#8C5A3C", dark: "#C99A7A", dash: [4, 2] },
  // Nothing decides the direction: a line, not an arrow.
  "free choice": { light: "#767676", dark: "#A8A8A8", dash: [2, 3], headless: true },
};
const OTHER = { light: "#555555", dark: "#BBBBBB", dash: [8, 3, 2, 3] };

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function arcStyle(basis) {
  const style = STYLES[data.bases[basis].name] || OTHER;
  return {
    colour: isDark() ? style.dark : style.light, dash: style.dash, headless: Boolean(style.headless),
  };
}

function palette() {
  return isDark()
    ? {
        paper: "#1d2129", ink: "#e5e9ef", node: "#2b323d", border: "#5c6878", line: "#353c48",
        chosen: "#F0E442", chosenInk: "#14171c", ancestor: "#1f5d85", descendant: "#8a5200",
        positive: [86, 180, 233], negative: [240, 134, 74],
      }
    : {
        paper: "#ffffff", ink: "#1b2430", node: "#eef2f6", border: "#8a97a6", line: "#d9dee5",
        chosen: "#F0E442", chosenInk: "#1b2430", ancestor: "#bfe3f7", descendant: "#fbdcae",
        positive: [0, 114, 178], negative: [213, 94, 0],
      };
}
