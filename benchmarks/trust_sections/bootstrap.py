"""Reliability of the bootstrap's probabilities, also where the model does not hold.

An edge or a direction counts as certified if its probability is .95 or more. Fractions are pooled
over all tables of a row. If the model is refuted and probabilities are withheld, a table certifies
nothing, and the note states the number of these tables.
"""

import warnings

import numpy as np

from trust_sections.base import Cell, Found, Row

SURE = 0.95
RESAMPLES = 60
ROWS = 500

# Kind of table: (graph, mechanism, units).
KINDS = {
    "Gaussian chains d=6, random units": ("chain", "linear", "random"),
    "Gaussian trees d=6, random units": ("tree", "linear", "random"),
    "Gaussian d=8, own units": ("random", "linear", "own"),
    "Gaussian d=8, random units": ("random", "linear", "random"),
    "Gaussian d=8, standardised": ("random", "linear", "standardised"),
    "counts d=8": ("random", "counts", "own"),
    "sin d=8": ("random", "sin", "own"),
    "quadratic d=8": ("random", "quadratic", "own"),
    "heteroscedastic d=8": ("random", "heteroscedastic", "own"),
    "latent d=8": ("random", "latent", "random"),
}
REVERSIBLE = ("chain", "tree")
ABOUT = (
    "`latent d=8`: three hidden causes with three effects each. Two effects of a hidden cause are "
    "dependent given all other variables, so a method that assumes no hidden causes joins them in "
    "every resample, and probabilities cannot reveal it. Three arcs explain three effects as well "
    "as a hidden cause does, so the finding `hidden_causes`, which needs four or more effects, "
    "seldom warns here."
)


def cells() -> list[Cell]:
    """Every kind of table for the order search; chains and linear tables also for COSMO."""
    made = [_cell(table, "OrderSearch") for table in KINDS]
    made += [_cell(table, "Cosmo") for table in list(KINDS)[:1] + list(KINDS)[3:4]]
    return made


def _cell(table: str, learner: str) -> Cell:
    graph, mechanism, units = KINDS[table]
    settings = {"graph": graph, "mechanism": mechanism, "units": units, "learner": learner}
    return Cell("bootstrap", f"{table}, {learner}()", settings)


def measure(cell: Cell, seed: int) -> Found:
    """Count the edges and directions certified on one table, and those that are true."""
    import cosmodag
    from cosmodag.assess.bootstrapping import bootstrap
    from cosmodag.graph.equivalence import compelled

    told = cell.settings
    random = np.random.default_rng(seed)
    graph, X = _table(random, told["graph"], told["mechanism"], told["units"])
    learner = getattr(cosmodag, told["learner"])(verbose=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = bootstrap(learner, X, RESAMPLES, random_state=seed, verbose=False)
    sure_edges = np.triu(result.edge_probabilities >= SURE)
    sure_arrows = result.direction_probabilities >= SURE
    open_arrows = graph & ~np.asarray(compelled(graph))
    return {
        "edges": float(sure_edges.sum()),
        "true edges": float((sure_edges & (graph | graph.T)).sum()),
        "possible edges": float(graph.sum()),
        "arrows": float(sure_arrows.sum()),
        "true arrows": float((sure_arrows & graph).sum()),
        "reversible": float(open_arrows.sum()),
        "reversible certified": float((open_arrows & (sure_arrows | sure_arrows.T)).sum()),
        "withheld": float(bool(getattr(result, "doubts", ()))),
    }


def rows(cells: list[Cell], results: list[list[Found]]) -> list[Row]:
    """Pool counts over tables."""
    made: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if not found:
            continue
        total = {name: sum(one[name] for one in found) for name in found[0]}
        if cell.settings["graph"] in REVERSIBLE:
            made.append(_share(cell, found, total, "reversible certified", "reversible", 0.01))
        least = 0.95 if cell.settings["mechanism"] == "linear" else 0.9
        made.append(_share(cell, found, total, "true edges", "edges", least))
        made.append(_share(cell, found, total, "true arrows", "arrows", least))
        recall = total["true edges"] / total["possible edges"]
        figure = "true edges that are certified"
        made.append(Row(cell.section, cell.table, figure, "", recall, None, len(found)))
    return made


def _share(
    cell: Cell, found: list[Found], total: dict[str, float], part: str, whole: str, limit: float
) -> Row:
    """Fraction of certified edges that are true, or of reversible arrows that are certified."""
    is_most = part == "reversible certified"
    share = total[part] / total[whole] if total[whole] else float("nan")
    met = not total[whole] or (share <= limit if is_most else share >= limit)
    figure = "reversible arrows certified" if is_most else f"certified {whole} that are true"
    target = f"{'≤' if is_most else '≥'} {limit:g}"
    withheld = int(total["withheld"])
    note = f"{total[part]:.0f} of {total[whole]:.0f}"
    if withheld:
        note += f"; withheld with the reason on {withheld} tables"
    now: float | str = share if total[whole] else "withheld" if withheld else "none certified"
    return Row(cell.section, cell.table, figure, target, now, met, len(found), note)


def _table(
    random: np.random.Generator, graph: str, mechanism: str, units: str
) -> tuple[np.ndarray, np.ndarray]:
    arcs = _graph(random, graph)
    hidden = 3 if mechanism == "latent" else 0
    X = _values(random, arcs, mechanism, hidden)
    if units == "random":
        X = X * 10 ** random.uniform(-1.5, 1.5, X.shape[1])
    elif units == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    mixed = random.permutation(X.shape[1])
    return arcs[np.ix_(mixed, mixed)], X[:, mixed]


def _graph(random: np.random.Generator, kind: str) -> np.ndarray:
    """Draw a DAG in the order of its columns."""
    if kind == "random":
        return np.triu(random.random((8, 8)) < 10 / 28, 1)
    arcs = np.zeros((6, 6), bool)
    for v in range(1, 6):
        arcs[v - 1 if kind == "chain" else random.integers(v), v] = True
    return arcs


def _values(
    random: np.random.Generator, arcs: np.ndarray, mechanism: str, hidden: int
) -> np.ndarray:
    d = len(arcs)
    weights = arcs * random.uniform(0.4, 1.0, arcs.shape) * random.choice([-1, 1], arcs.shape)
    noise = random.normal(size=(ROWS, d))
    for _ in range(hidden):
        ends = random.choice(d, 3, replace=False)
        noise[:, ends] += random.normal(size=(ROWS, 1)) * random.uniform(0.8, 1.5, 3)
    X = np.zeros((ROWS, d))
    for v in range(d):
        X[:, v] = _MECHANISMS[mechanism](X, weights[:, v], noise[:, v], random)
    return X


def _linear(X: np.ndarray, w: np.ndarray, e: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return X @ w + e


def _counts(X: np.ndarray, w: np.ndarray, e: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return random.poisson(np.exp(np.clip(np.log1p(X) @ w + 1.0, -3, 4))).astype(float)


def _sin(X: np.ndarray, w: np.ndarray, e: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.sin(1.5 * X) @ (2 * w) + 0.7 * e


def _quadratic(
    X: np.ndarray, w: np.ndarray, e: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    Z = np.clip(X, -4, 4)
    return (Z + 0.4 * Z**2) @ w + e


def _heteroscedastic(
    X: np.ndarray, w: np.ndarray, e: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    parents = w != 0
    size = np.sqrt(0.3 + 0.7 * (X[:, parents] ** 2).mean(axis=1)) if parents.any() else 1.0
    return X @ w + size * e


_MECHANISMS = {
    "linear": _linear,
    "latent": _linear,
    "counts": _counts,
    "sin": _sin,
    "quadratic": _quadratic,
    "heteroscedastic": _heteroscedastic,
}
