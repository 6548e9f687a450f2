"""Linear DAGMA in this package and in its authors' package: a section of `peers.py`.

Both solve the same sequence of problems with the same stopping rules (λ₁ = 0.03, five stages of at
most 30,000 iterations, 60,000 in the last). This package fixes the diagonal of W to zero; in the
other only the barrier keeps it small. The comparison is of the objective of the last stage,
μ (‖X − XW‖²/2n + λ₁‖W‖₁) − log det(sI − W∘W) + d log s at μ = 1e-4 and s = 1, of the seconds of
the whole fit, and of accuracy.
"""

import time
from typing import NamedTuple

import numpy as np

from cosmodag import Dagma, metrics, simulate
from cosmodag.graph.closed_forms import log_determinant_value_and_gradient
from environment import table

LAMBDA1 = 0.03
LAST_WEIGHT = 1e-4
FIRST_SEED = 90_000
SIZES = (30, 100)


class Result(NamedTuple):
    """One fit."""

    seconds: float
    objective: float
    auc: float
    nhd: float


def final_objective(data: np.ndarray, weights: np.ndarray) -> float:
    """Evaluate the objective of the last stage at s = 1: either package may have changed s."""
    centred = np.asarray(data, np.float64) - np.mean(data, axis=0, dtype=np.float64)
    score = float(np.sum((centred - centred @ weights) ** 2)) / (2 * len(data))
    barrier = log_determinant_value_and_gradient(weights)[0]
    return LAST_WEIGHT * (score + LAMBDA1 * float(np.abs(weights).sum())) + barrier


def fit_here(data: np.ndarray) -> np.ndarray:
    """Fit `Dagma()`."""
    return Dagma(verbose=False).fit(data).raw_weights_


def fit_there(data: np.ndarray) -> np.ndarray:
    """Fit the authors' package with its defaults, without a threshold; it centres the copy."""
    from dagma.linear import DagmaLinear

    values = np.array(data, np.float64)
    weights: np.ndarray = DagmaLinear(loss_type="l2").fit(values, LAMBDA1, w_threshold=0.0)
    return weights


FITS = {"cosmodag": fit_here, "dagma (PyPI)": fit_there}


def measure(name: str, seed: int) -> dict[str, Result]:
    """Fit both packages to one table."""
    data = simulate.load(name, seed=seed)
    results = {}
    for package, fit in FITS.items():
        begin = time.perf_counter()
        weights = fit(data.X)
        seconds = time.perf_counter() - begin
        scores = metrics.evaluate(data.graph, weights)
        objective = final_objective(data.X, weights)
        results[package] = Result(seconds, objective, scores["auc"], scores["nhd"])
        print(name, seed, package, results[package], flush=True)
    return results


def section(name: str, rows: list[dict[str, Result]]) -> str:
    """Write the table of one data set, and a comparison of the means."""
    columns = ["graph", "package", "seconds", "final objective", "AUC", "NHD"]
    lines: list[list[object]] = []
    for place, row in enumerate(rows):
        for package, r in row.items():
            lines.append(
                [
                    place,
                    package,
                    f"{r.seconds:.2f}",
                    f"{r.objective:.6f}",
                    f"{r.auc:.4f}",
                    f"{r.nhd:.2f}",
                ]
            )
    here = np.array([row["cosmodag"] for row in rows])
    there = np.array([row["dagma (PyPI)"] for row in rows])
    share = here[:, 0].sum() / there[:, 0].sum()
    excess = (here[:, 1] / there[:, 1] - 1).max()
    return (
        f"\n### {name}\n\n{table(columns, lines)}\n"
        f"Time: {share:.3f} times the package's. Final objective: at worst {excess:+.2%} above it. "
        f"Mean AUC {here[:, 2].mean():.4f} against {there[:, 2].mean():.4f}, mean NHD "
        f"{here[:, 3].mean():.3f} against {there[:, 3].mean():.3f}.\n"
    )


def dagma_section(graphs: int) -> str:
    """Measure both packages at every size."""
    fit_here(simulate.load("n100_d5_ER1_gauss", seed=0).X)
    text = "\n## DAGMA compared with its authors' package\n"
    for d in SIZES:
        name = f"n1000_d{d}_ER4_gauss"
        seeds = range(FIRST_SEED, FIRST_SEED + graphs)
        text += section(name, [measure(name, seed) for seed in seeds])
    return text
