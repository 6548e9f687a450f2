"""Effects: errors and intervals on known equations, compared with DoWhy; networks by simulation.

Only pairs of variables count whose effect is determined by the learnt class, and whose true or
estimated effect differs from zero: an effect that is zero in the truth and in the graph would
always be estimated correctly and lie in its interval.
"""

import warnings
from typing import Any

import numpy as np

from questions_sections.tables import Curved, Linear, linear
from trust_sections.base import Cell, Found, Row, values

RESAMPLES = 100
PAIRS_FOR_DOWHY = 3
TABLES_PER_DOWHY = 10  # DoWhy runs on one table in ten: it takes longer than everything else
ROWS = 1_000
ER2: dict[str, dict[str, Any]] = {
    "unequal variances": {},
    "equal variances": {"deviations": (1.0, 1.0)},
    "Laplace noise": {"noise": "laplace"},
}


def cells() -> list[Cell]:
    """Linear tables for the order search, one kind for COSMO, and curved ones for networks."""
    kinds = [(kind, "OrderSearch") for kind in ER2] + [("unequal variances", "Cosmo")]
    made = [
        Cell(
            "effects",
            f"linear ER2 d=20 n=1,000, {kind}, {learner}()",
            {"kind": kind, "learner": learner},
        )
        for kind, learner in kinds
    ]
    made.append(Cell("effects", "tanh equations d=5 n=1,000, CosmoMLP()", {"networks": True}))
    return made


def measure(cell: Cell, seed: int) -> Found:
    """Fit one table and compare all effects with the true ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.settings.get("networks"):
            return _networks(seed)
        table = linear(seed, d=20, n=ROWS, **ER2[cell.settings["kind"]])
        return _linear(table, cell.settings["learner"], seed)


def _linear(table: Linear, learner: str, seed: int) -> Found:
    import cosmodag
    from cosmodag.assess import Effects, refit_resamples

    model = getattr(cosmodag, learner)(random_state=seed, verbose=False).fit(table.X)
    fits = refit_resamples(model, RESAMPLES, random_state=seed, verbose=False)
    resampled, analytic = Effects.of(model, resampled=fits), Effects.of(model)
    totals, d = table.totals, len(table.weights)
    errors, inside, inside_analytic, decided, asked = [], [], [], 0, 0
    for x, y in [(x, y) for x in range(d) for y in range(d) if x != y]:
        truth = float(totals[x, y])
        short = analytic.effect(x, y)
        if truth == 0 and short.is_nothing:
            continue
        asked += 1
        if not short.identified:
            continue
        decided += 1
        long = resampled.effect(x, y)
        inside.append(long.low <= truth <= long.high)
        inside_analytic.append(short.low <= truth <= short.high)
        if truth:
            errors.append(abs(long.estimate - truth) / abs(truth))
    found = {
        "relative error": float(np.median(errors)),
        "inside": float(np.sum(inside)),
        "inside, standard errors": float(np.sum(inside_analytic)),
        "decided": float(decided),
        "asked": float(asked),
    }
    return found | (_dowhy(model, table.X) if seed % TABLES_PER_DOWHY == 0 else {})


def _dowhy(model: Any, X: np.ndarray) -> Found:
    """Compare some effects with DoWhy's on the same graph, if DoWhy is installed."""
    try:
        import logging

        logging.disable(logging.WARNING)
        from dowhy import CausalModel
        from dowhy.causal_estimators.linear_regression_estimator import LinearRegressionEstimator
    except ImportError:
        return {}
    import networkx as nx
    import pandas as pd

    names = [f"x{v}" for v in range(X.shape[1])]
    data = pd.DataFrame(X, columns=names)
    graph = nx.relabel_nodes(model.graph_, dict(enumerate(names)))
    differences: list[float] = []
    d = len(names)
    for x, y in [(x, y) for x in range(d) for y in range(d) if x != y]:
        effect = model.effect(x, y)
        if len(differences) == PAIRS_FOR_DOWHY or not effect.identified or effect.is_nothing:
            continue
        theirs = CausalModel(data, names[x], names[y], graph=graph)
        estimand = theirs.identify_effect(method_name="efficient-adjustment")
        regression = LinearRegressionEstimator(estimand).fit(data, effect_modifier_names=[])
        estimate = regression.estimate_effect(data, control_value=0, treatment_value=1).value
        differences.append(abs(estimate - effect.estimate) / abs(estimate))
    return {"difference": max(differences)} if differences else {}


def _networks(seed: int) -> Found:
    """Compare E[y | do(x)] of networks with the true one, in standard errors of resamples."""
    from cosmodag import CosmoMLP

    equations = Curved.draw(seed, d=5)
    X = equations.rows(seed + 1, ROWS)
    model = CosmoMLP(random_state=seed, verbose=False).fit(X)
    arcs = model.fitted_.arcs.toarray()
    within, total, wrong, repeated = 0, 0, 0, []
    for x, y in np.argwhere(equations.a != 0).tolist():
        start, end = -1.0, 1.0
        low, high = (equations.rows(seed + 2, 50_000, {x: v})[:, y].mean() for v in (start, end))
        found = model.effect(x, y, values=(start, end), bootstrap=20)
        # Two standard errors are half the width of a 95 % interval.
        error = max((found.high - found.low) / 4, 1e-12)
        total += 1
        within += abs(found.estimate - (high - low)) <= 2 * error
        wrong += bool(arcs[y, x])
        drawn = [model.sample(20_000, seed + 3, do={x: v})[:, y] for v in (start, end)]
        change = drawn[1] - drawn[0]
        spread = np.hypot(change.std() / np.sqrt(20_000), change.std() / np.sqrt(10_000))
        repeated.append(abs(change.mean() - found.estimate) <= 2 * spread + 1e-9)
    return {
        "within": float(within),
        "total": float(total),
        "turned": float(wrong),
        "repeated": float(np.sum(repeated)),
    }


def rows(cells: list[Cell], results: list[list[Found]]) -> list[Row]:
    """Medians of errors, and shares of intervals pooled over tables."""
    made: list[Row] = []
    for cell, found in zip(cells, results, strict=True):
        if not found:
            continue
        made += _network_rows(cell, found) if cell.settings.get("networks") else _rows(cell, found)
    return made


def _rows(cell: Cell, found: list[Found]) -> list[Row]:
    total = {name: sum(one[name] for one in found) for name in ("inside", "decided", "asked")}
    short = sum(one["inside, standard errors"] for one in found)
    error = float(np.median(values(found, "relative error")))
    share = total["inside"] / total["decided"]
    pairs = f"{total['decided']:.0f} pairs"
    made = [
        _row(cell, found, "median relative error where the class decides", "≤ .1", error,
             error <= 0.1, "median over tables of the median over pairs"),
        _row(cell, found, "interval of 100 resamples contains the truth", ".90 to .98", share,
             0.9 <= share <= 0.98, pairs),
        _row(cell, found, "interval of standard errors contains the truth", "",
             short / total["decided"], None, pairs),
        _row(cell, found, "pairs that the class decides", "", total["decided"] / total["asked"],
             None, f"of {total['asked']:.0f}"),
    ]  # fmt: skip
    differences = values(found, "difference")
    if len(differences):
        worst = float(differences.max())
        note = f"{PAIRS_FOR_DOWHY} effects on {len(differences)} tables, optimal adjustment set"
        figure = "largest relative difference from DoWhy on the same graph"
        made.append(_row(cell, found, figure, "≤ 1e-4", worst, worst <= 1e-4, note))
    return made


def _network_rows(cell: Cell, found: list[Found]) -> list[Row]:
    within, total, turned, repeated = (
        sum(one[name] for one in found) for name in ("within", "total", "turned", "repeated")
    )
    share, again = within / total, repeated / total
    return [
        _row(cell, found, "effects of true arcs within two standard errors of the truth", "≥ .9",
             share, share >= 0.9,
             f"{within:.0f} of {total:.0f}; {turned:.0f} arcs were found turned; 20 resamples"),
        _row(cell, found, "effects within two standard errors of own samples", "≥ .9", again,
             again >= 0.9, f"{repeated:.0f} of {total:.0f}; sample(do=...) with other noise"),
    ]  # fmt: skip


def _row(
    cell: Cell,
    found: list[Found],
    figure: str,
    target: str,
    now: float,
    met: bool | None,
    note: str,
) -> Row:
    return Row(cell.section, cell.table, figure, target, now, met, len(found), note)
