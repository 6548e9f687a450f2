"""The noise that `Cosmo()` assumes, and the effect of this assumption on the graph.

Figures of each table: the chosen noise; the distance of the class from the true one, also for
`OrderSearch(noise="gaussian")`; the fraction of wrong arrows among those that the shape of the
graph fixes; NHD and AUC.
"""

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from trust_sections import tables
from trust_sections.base import Cell, Found, Row, mean_row, values

SECTION = "noise"
ABOUT = (
    "Arrows *fixed by the graph* are those whose basis is `shape of the graph`, without those "
    "whose basis is `weak evidence`."
)


def cells() -> list[Cell]:
    """Kinds of tables, with their generator, its settings and their target."""
    found = []
    for d in (10, 20, 50):
        for n in (200, 500, 1000):
            settings = {"d": d, "n": n, "degree": 1.5, "weights": (0.1, 0.5)}
            settings["units"] = "standardised"
            found.append(_cell(f"standardised, weak, d={d} n={n}", "linear", "weak", settings))
    for degree in (2, 4):
        for d, n in ((10, 500), (20, 500), (30, 1000)):
            settings = {"d": d, "n": n, "degree": degree, "weights": (0.5, 2.0)}
            found.append(
                _cell(f"equal variances, ER{degree} d={d} n={n}", "linear", "equal", settings)
            )
    misfits = {
        "binary": ("binary", {}),
        "counts": ("counts", {}),
        "log-counts": ("counts", {"logs": True}),
        "heteroscedastic": ("heteroscedastic", {}),
        "sin/quadratic": ("curved", {"curve": "sin/quadratic"}),
        "tanh": ("curved", {"curve": "tanh"}),
    }
    for name, (draw, more) in misfits.items():
        for n in (500, 2000):
            settings = {"d": 20, "n": n, **more}
            found.append(_cell(f"{name}, d=20 n={n}", draw, "misfit", settings))
    for n in (500, 1000, 5000, 50_000):
        settings = {"d": 20, "n": n, "curve": "slight"}
        found.append(_cell(f"y = x + .1 x², d=20 n={n}", "curved", "misfit", settings))
    for noise in ("laplace", "uniform", "exponential", "t5", "gumbel"):
        for d, n, degree in ((20, 500, 2.0), (30, 1000, 4.0)):
            settings = {"d": d, "n": n, "degree": degree, "weights": (0.5, 1.5)}
            settings |= {"noise": noise, "deviations": (0.5, 2.0)}
            found.append(_cell(f"{noise}, ER{degree:g} d={d} n={n}", "linear", "lingam", settings))
    return found


def _cell(name: str, draw: str, kind: str, settings: dict) -> Cell:
    return Cell(SECTION, name, {"draw": draw, "kind": kind, "settings": settings})


def measure(cell: Cell, seed: int) -> Found:
    """Fit `Cosmo()` and the scale-free search to one table."""
    from cosmodag import Cosmo, OrderSearch, metrics
    from cosmodag.graph.equivalence import class_distance

    X, graph = getattr(tables, cell.settings["draw"])(seed, **cell.settings["settings"])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = Cosmo(random_state=seed, verbose=False).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = OrderSearch(noise="gaussian", random_state=seed, verbose=False).fit(X)
    arcs = np.asarray(model.adjacency_) != 0
    named = np.isin(model.arrow_basis_, ["shape of the graph"])
    fixed = np.zeros_like(arcs)
    fixed[model.edges_.row[named], model.edges_.col[named]] = True
    scores = metrics.evaluate(graph, np.abs(model.adjacency_), threshold=0.0)
    return {
        "equal": float(model.noise_ == "equal-variance"),
        "non-gaussian": float(model.noise_ == "non-gaussian"),
        "class": float(class_distance(graph, arcs)),
        "class, gaussian": float(class_distance(graph, np.asarray(plain.adjacency_) != 0)),
        "fixed": float(fixed.sum()),
        "fixed, wrong": float((fixed & ~graph).sum()),
        "nhd": float(scores["nhd"]),
        "auc": float(scores["auc"]),
        "warned": float(any(one.category.__name__ == "ModelWarning" for one in said)),
    }


def rows(cells: Sequence[Cell], results: Sequence[Sequence[Found]]) -> list[Row]:
    """Rows of the page, by the target of each kind of table."""
    lines: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if found:
            lines += _LINES[cell.settings["kind"]](cell, found)
    return lines


def _weak(cell: Cell, found: Sequence[Found]) -> list[Row]:
    at_most = partial(_at_most, 0.02)
    return [
        *mean_row(cell, found, "equal", "equal variances chosen", "≤ .02", at_most),
        *_as_gaussian(cell, found),
        *_fixed_wrong(cell, found),
    ]


def _equal(cell: Cell, found: Sequence[Found]) -> list[Row]:
    at_least = partial(_at_least, 0.95)
    return [
        *mean_row(cell, found, "equal", "equal variances chosen", "≥ .95", at_least),
        *mean_row(cell, found, "nhd", "NHD"),
    ]


def _misfit(cell: Cell, found: Sequence[Found]) -> list[Row]:
    at_most = partial(_at_most, 0.05)
    return [
        *mean_row(cell, found, "non-gaussian", "non-Gaussian chosen", "≤ .05", at_most),
        *_as_gaussian(cell, found),
        *_fixed_wrong(cell, found, target=False),
        *mean_row(cell, found, "warned", "a warning says what was seen"),
    ]


def _lingam(cell: Cell, found: Sequence[Found]) -> list[Row]:
    at_least = partial(_at_least, 0.95)
    return [
        *mean_row(cell, found, "non-gaussian", "non-Gaussian chosen", "≥ .95", at_least),
        *mean_row(cell, found, "auc", "AUC"),
    ]


_LINES = {"weak": _weak, "equal": _equal, "misfit": _misfit, "lingam": _lingam}


def _as_gaussian(cell: Cell, found: Sequence[Found]) -> list[Row]:
    """Row of the distance of the class, compared with the Gaussian score on the same tables."""
    beside = float(values(found, "class, gaussian").mean())
    return mean_row(
        cell,
        found,
        "class",
        "class SHD",
        "≤ 1.1 × Gaussian score's",
        partial(_at_most, 1.1 * beside),
        f"Gaussian score: {beside:.3g}",
    )


def _fixed_wrong(cell: Cell, found: Sequence[Found], target: bool = True) -> list[Row]:
    """Fraction of wrong arrows among all that the shape of the graphs fixes."""
    fixed, wrong = values(found, "fixed").sum(), values(found, "fixed, wrong").sum()
    if not fixed:
        return []
    share = float(wrong / fixed)
    figure = "wrong among arrows fixed by the graph"
    note = f"{wrong:.0f} of {fixed:.0f}"
    if not target:
        return [Row(SECTION, cell.table, figure, "", share, None, len(found), note)]
    return [Row(SECTION, cell.table, figure, "≤ .10", share, share <= 0.10, len(found), note)]


def _at_most(limit: float, value: float) -> bool:
    return value <= limit + 1e-9


def _at_least(limit: float, value: float) -> bool:
    return value >= limit - 1e-9
