"""Missing values: false arcs compared with the complete table, and agreement between seeds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag import Cosmo, OrderSearch

from .base import Cell, Row

SECTION = "missing"
SHARE = 0.2
LEARNERS = {
    "Cosmo()": lambda seed, **more: Cosmo(random_state=seed, verbose=False, **more),
    "OrderSearch(noise='gaussian')": lambda seed, **more: OrderSearch(
        noise="gaussian", random_state=seed, verbose=False, **more
    ),
}


def cells() -> list[Cell]:
    """20 % of the entries missing completely at random, or depending on complete columns."""
    return [
        Cell(
            SECTION,
            f"{learner}: {kind}, n={n}, d={d}",
            {"kind": kind, "n": n, "d": d, "learner": learner},
        )
        for learner in LEARNERS
        for kind in ("MCAR", "MAR")
        for n in (300, 1000)
        for d in (10, 20)
    ]


def measure(cell: Cell, seed: int) -> dict[str, float]:
    """Fit the complete table, and the table with gaps from two seeds."""
    n, d = cell.settings["n"], cell.settings["d"]
    X, truth = linear_table(n, d, seed)
    holed = with_gaps(X, cell.settings["kind"], seed)
    learner = LEARNERS[cell.settings["learner"]]
    whole = joined(learner(0).fit(X))
    gaps = [joined(learner(s, missing="impute").fit(holed)) for s in (0, 1)]
    related = truth | truth.T
    return {
        "false_whole": float(np.count_nonzero(np.triu(whole & ~related))),
        "false_gaps": float(np.count_nonzero(np.triu(gaps[0] & ~related))),
        "found_whole": float(np.count_nonzero(np.triu(whole & related))),
        "found_gaps": float(np.count_nonzero(np.triu(gaps[0] & related))),
        "seeds_differ_whole": float(np.count_nonzero(np.triu(whole ^ joined(learner(1).fit(X))))),
        "seeds_differ": float(np.count_nonzero(np.triu(gaps[0] ^ gaps[1]))),
    }


def rows(cells: list[Cell], results: list[list[dict[str, float]]]) -> list[Row]:
    """Compare false adjacencies, pooled over the tables of a row, with the target."""
    made = []
    for cell, found in zip(cells, results, strict=True):
        if not found:
            continue
        means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        ratio = means["false_gaps"] / max(means["false_whole"], 1 / len(found))
        note = (
            f"false {means['false_gaps']:.2f} / {means['false_whole']:.2f}, "
            f"true {means['found_gaps']:.1f} / {means['found_whole']:.1f}"
        )
        made += [
            Row(
                SECTION,
                cell.table,
                "false arcs / whole table",
                "≤ 1.5",
                ratio,
                ratio <= 1.5,
                len(found),
                note,
            ),
            Row(
                SECTION,
                cell.table,
                "adjacencies by which two seeds differ",
                "≤ 1",
                means["seeds_differ"],
                means["seeds_differ"] <= 1,
                len(found),
                f"on the whole table {means['seeds_differ_whole']:.2f}",
            ),
        ]
    return made


def linear_table(n: int, d: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Linear Gaussian data with unequal noise and arbitrary units; average degree 3."""
    random = np.random.default_rng([seed, n, d])
    weights = np.triu(random.random((d, d)) < 3 / (d - 1), 1) * random.uniform(0.3, 0.9, (d, d))
    weights *= random.choice([-1, 1], (d, d))
    noise = random.normal(size=(n, d)) * random.uniform(0.5, 2, d)
    X = noise @ np.linalg.inv(np.eye(d) - weights)
    places = random.permutation(d)
    return X[:, places] * random.uniform(0.2, 5, d), (weights != 0)[np.ix_(places, places)]


def with_gaps(X: NDArray[np.float64], kind: str, seed: int) -> NDArray[np.float64]:
    """Remove 20 % of the entries; under MAR, a third of the columns determine the gaps."""
    random = np.random.default_rng([seed, 7])
    n, d = X.shape
    if kind == "MCAR":
        return np.where(random.random((n, d)) < SHARE, np.nan, X)
    absent, whole = np.zeros((n, d), bool), d // 3
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    for v in range(whole, d):
        cause = standard[:, random.integers(whole)]
        chance = 2 * SHARE * d / (d - whole) / (1 + np.exp(-2 * cause))
        absent[:, v] = random.random(n) < np.minimum(chance, 1)
    return np.where(absent, np.nan, X)


def joined(model: Any) -> NDArray[np.bool_]:
    """Skeleton of a graph, as a Boolean matrix."""
    arcs = model.adjacency_ != 0
    return np.asarray(arcs | arcs.T)
