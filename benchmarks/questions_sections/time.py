"""Time series: arcs of the window graph, compared with PCMCI+ and VARLiNGAM on the same tables.

Stationary vector autoregressions with two lags and arcs at the same time: a random DAG with one arc
per variable at the same time, one and a half lagged arcs per variable from others (a third of them
from t − 2), and a lag-1 arc of most variables on themselves; weights of .2 to .5, noise deviations
between .5 and 1.5. All methods use two lags. F1 is pooled over tables; an edge at the same time
that a method leaves undirected counts as half an arc in each direction. `OrderSearch(lags=2)` has
default parameters otherwise, and its time includes the diagnosis. PCMCI+ is tigramite's, with
partial correlations, its fastest test, at the default level of .01 and at .05; VARLiNGAM is
lingam's, pruned. Tables with curves have the same graphs, with x in every arc replaced by tanh(2x),
which is almost linear, or by 2 sin(2.5x), whose correlation with x is below .2. On them
`BlockSearch(lags=2)` with default parameters is measured, and `OrderSearch` for comparison.
"""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from trust_sections.base import Cell, Found, Row, values

SECTION = "time"
TABLES = 10
LAGS = 2
BURNT = 200
LINES, CURVES = "OrderSearch", "BlockSearch"
PEERS = ("PCMCI+ .01", "PCMCI+ .05", "VARLiNGAM")
SHAPES = {
    "lines": lambda x: x,
    "tanh": lambda x: np.tanh(2 * x),
    "sine": lambda x: 2 * np.sin(2.5 * x),
}
KINDS = {
    "lagged arcs": "lagged",
    "arcs at the same time": "now",
    "edges at the same time": "joined",
}
Arcs = np.ndarray
"""(k + 1, d, d): 1 for an arc from u at t − lag to v, ½ for a direction of an undirected edge."""


def cells() -> list[Cell]:
    """Sizes and noises."""
    sizes = [(5, 200), (5, 2_000), (10, 500), (20, 200), (20, 2_000)]
    found = []
    for noise in ("Gaussian", "exponential"):
        for d, n in sizes:
            settings = {"d": d, "n": n, "noise": noise, "shape": "lines"}
            found.append(Cell(SECTION, f"{d} series, T={n:,}, {noise}", settings))
    for shape in ("tanh", "sine"):
        settings = {"d": 10, "n": 500, "noise": "Gaussian", "shape": shape}
        found.append(Cell(SECTION, f"10 series, T=500, Gaussian, {shape}", settings))
    return found


def _ours(cell: Cell) -> str:
    return LINES if cell.settings["shape"] == "lines" else CURVES


def measure(cell: Cell, seed: int) -> Found:
    """Draw a table, and compare the arcs of every method with the true ones."""
    random = np.random.default_rng([seed, *cell.table.encode()])
    weights = draw_weights(random, cell.settings["d"])
    settings = cell.settings
    X = draw_series(random, weights, settings["n"], settings["noise"], settings["shape"])
    truth = (weights != 0).astype(np.float64)
    found: Found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up()
        for name, method in METHODS.items():
            if name == CURVES and settings["shape"] == "lines":
                continue
            try:
                begin = time.process_time()
                arcs = method(X, seed)
            except ImportError:
                continue
            found[f"{name}, seconds"] = time.process_time() - begin
            found |= {f"{name}, {what}": value for what, value in compared(arcs, truth).items()}
    return found


def draw_weights(random: np.random.Generator, d: int) -> Arcs:
    """Weights of a stationary autoregression; drawn again until its largest root is below .9."""
    while True:
        weights = np.zeros((LAGS + 1, d, d))
        order = random.permutation(d)
        now = np.triu(random.random((d, d)) < 2.0 / (d - 1), 1)
        weights[0] = now[np.ix_(order, order)]
        for lag, share in ((1, 1.0), (2, 0.5)):
            weights[lag] = random.random((d, d)) < share / (d - 1)
            np.fill_diagonal(weights[lag], 0.0)
        np.fill_diagonal(weights[1], random.random(d) < 0.8)
        weights *= random.uniform(0.2, 0.5, weights.shape) * random.choice([-1, 1], weights.shape)
        if _largest_root(weights) < 0.9:
            return weights


def _largest_root(weights: Arcs) -> float:
    d = weights.shape[1]
    at_once = np.linalg.inv(np.eye(d) - weights[0])
    companion = np.zeros((LAGS * d, LAGS * d))
    for lag in range(1, LAGS + 1):
        companion[:d, (lag - 1) * d : lag * d] = (weights[lag] @ at_once).T
    companion[d:, :-d] = np.eye((LAGS - 1) * d)
    return float(np.abs(np.linalg.eigvals(companion)).max())


def draw_series(
    random: np.random.Generator, weights: Arcs, n: int, noise: str, shape: str
) -> np.ndarray:
    """Draw n successive rows, after a burn-in."""
    d = weights.shape[1]
    draws = {"Gaussian": random.normal, "exponential": random.exponential}[noise]
    X = draws(size=(n + BURNT, d))
    X = (X - (0.0 if noise == "Gaussian" else 1.0)) * random.uniform(0.5, 1.5, d)
    order = _causes_first(weights[0] != 0)
    bent = SHAPES[shape]
    for t in range(LAGS, n + BURNT):
        for lag in range(1, LAGS + 1):
            X[t] += bent(X[t - lag]) @ weights[lag]
        for v in order:
            X[t, v] += bent(X[t]) @ weights[0][:, v]
    return X[BURNT:]


def _causes_first(arcs: np.ndarray) -> list[int]:
    left, order = arcs.copy(), []
    while len(order) < len(arcs):
        ready = [v for v in range(len(arcs)) if v not in order and not left[:, v].any()]
        left[ready] = False
        order += ready
    return order


def compared(arcs: Arcs, truth: Arcs) -> Found:
    """Count right, found and true arcs of each kind."""
    found: Found = {}
    joined, are = ((part[0] + part[0].T > 0).astype(float) for part in (arcs, truth))
    parts = {
        "lagged": (arcs[1:], truth[1:]),
        "now": (arcs[0], truth[0]),
        "joined": (np.triu(joined), np.triu(are)),
    }
    for kind, (given, true) in parts.items():
        found[f"{kind} right"] = float((given * true).sum())
        found[f"{kind} found"] = float(given.sum())
        found[f"{kind} true"] = float(true.sum())
    return found


def _lines(X: np.ndarray, seed: int) -> Arcs:
    from cosmodag import OrderSearch

    return _window_arcs(OrderSearch(lags=LAGS, random_state=seed, verbose=False).fit(X))


def _curves(X: np.ndarray, seed: int) -> Arcs:
    from cosmodag import BlockSearch

    return _window_arcs(BlockSearch(lags=LAGS, random_state=seed, verbose=False).fit(X))


def _window_arcs(model: Any) -> Arcs:
    arcs = (model.lagged_weights_ != 0).astype(np.float64)
    edges = model.edges_
    for u, v, basis in zip(edges.row, edges.col, model.fitted_.arrow_basis, strict=True):
        if basis == "free choice":
            arcs[0, u, v] = arcs[0, v, u] = 0.5
    return arcs


def _pcmci(X: np.ndarray, level: float) -> Arcs:
    from tigramite import data_processing
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    frame = data_processing.DataFrame(X)
    learner = PCMCI(dataframe=frame, cond_ind_test=ParCorr(), verbosity=0)
    graph = learner.run_pcmciplus(tau_min=0, tau_max=LAGS, pc_alpha=level)["graph"]
    arcs = np.zeros((LAGS + 1, X.shape[1], X.shape[1]))
    for u, v, lag in np.argwhere(graph != ""):
        mark = graph[u, v, lag]
        arcs[lag, u, v] = (
            1.0 if mark == "-->" else 0.5 if lag == 0 and mark in ("o-o", "x-x") else 0.0
        )
    return arcs


def _pcmci_cautious(X: np.ndarray, seed: int) -> Arcs:
    return _pcmci(X, 0.01)


def _pcmci_generous(X: np.ndarray, seed: int) -> Arcs:
    return _pcmci(X, 0.05)


def _varlingam(X: np.ndarray, seed: int) -> Arcs:
    from lingam import VARLiNGAM

    model = VARLiNGAM(lags=LAGS, criterion=None, prune=True, random_state=seed)
    model.fit(X)
    # Its matrices have the effect first.
    return (np.abs(model.adjacency_matrices_).transpose(0, 2, 1) > 0).astype(np.float64)


METHODS = {
    LINES: _lines,
    CURVES: _curves,
    "PCMCI+ .01": _pcmci_cautious,
    "PCMCI+ .05": _pcmci_generous,
    "VARLiNGAM": _varlingam,
}

_warmed: list[bool] = []


def _warm_up() -> None:
    """Compile and import everything before the first measurement."""
    if not _warmed:
        random = np.random.default_rng(0)
        for noise in ("Gaussian", "exponential"):
            X = draw_series(random, draw_weights(random, 4), 300, noise, "lines")
            for method in METHODS.values():
                try:
                    method(X, 0)
                except ImportError:
                    continue
        _warmed.append(True)


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Rows of F1 of each kind of arc, and of times, with those of the other methods."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if found:
            lines += [_accuracy(cell, found, figure, kind) for figure, kind in KINDS.items()]
            lines.append(_seconds(cell, found))
    return lines


def _f1(found: Sequence[Found], name: str, kind: str) -> float:
    right, given, true = (
        values(found, f"{name}, {kind} {what}").sum() for what in ("right", "found", "true")
    )
    return float(2 * right / (given + true)) if given + true else float("nan")


def _accuracy(cell: Cell, found: Sequence[Found], figure: str, kind: str) -> Row:
    theirs = {name: _f1(found, name, kind) for name in _there(found)}
    own = _f1(found, _ours(cell), kind)
    beside = theirs if _ours(cell) == LINES else {LINES: _f1(found, LINES, kind)} | theirs
    note = ", ".join(f"{name} {value:.3f}" for name, value in beside.items())
    best = max(theirs.values(), default=float("nan"))
    has_target = bool(theirs) and kind != "joined"
    target = f"≥ {best:.3f}" if has_target else ""
    met = bool(own >= best) if has_target else None
    return Row(SECTION, cell.table, f"F1 of {figure}", target, own, met, len(found), note)


def _there(found: Sequence[Found]) -> list[str]:
    """Other methods that have figures."""
    return [name for name in PEERS if f"{name}, seconds" in found[0]]


def _seconds(cell: Cell, found: Sequence[Found]) -> Row:
    own = float(np.median(values(found, f"{_ours(cell)}, seconds")))
    theirs = {name: float(np.median(values(found, f"{name}, seconds"))) for name in _there(found)}
    note = ", ".join(f"{name} {value:.3g}" for name, value in theirs.items())
    least = min(theirs.values(), default=float("nan"))
    met = bool(own < least) if theirs else None
    target = f"< {least:.3g}" if theirs else ""
    return Row(SECTION, cell.table, "CPU seconds, median", target, own, met, len(found), note)
