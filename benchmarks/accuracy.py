"""Accuracy of linear COSMO on simulated graphs, with the paper's metrics.

    python benchmarks/accuracy.py --output benchmarks/accuracy.md

Measures the optimised weights without refinement: 2000 epochs, raw weights, threshold 0.3
(`answer.py` measures the default learner). The first table uses one fixed configuration with one
learning rate for strengths and priorities, with and without the priority penalty, on 20 graphs. The
second uses the default settings on 10 graphs per data set, and compares them with the paper's
figures for its tuned COSMO, with `paper_settings(d)`, and with the AUC of the previous release. No
search for settings has used the seeds of these graphs.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from cosmodag import Cosmo, metrics, paper_settings, simulate
from environment import header, spread, table

PLAIN: dict[str, Any] = {"epochs": 2000, "refine": None, "threshold": 0.3}
FIXED: dict[str, Any] = {
    "learning_rate": 7.9e-3,
    "priority_learning_rate": None,
    "lambda1": 9.4e-4,
    "lambda2": 2.17e-2,
    "lambda_p": 1.7e-4,
    "shift": 1.34e-2,
    "temperature_start": 0.45,
    "temperature_end": 9.8e-4,
}
DEFAULT_TARGETS = {
    "n1000_d30_ER4_gauss": (0.965, 0.984),
    "n1000_d30_SF4_gauss": (0.98, 0.997),
    "n1000_d100_ER4_gauss": (0.96, 0.961),
}
OTHERS = {
    "n1000_d30_ER4_exp": 0.989,
    "n1000_d30_ER4_gumbel": 0.914,
    "n1000_d30_ER6_gauss": 0.921,
    "n1000_d100_SF4_gauss": 0.991,
    "n1000_d100_ER4_exp": 0.985,
    "n1000_d100_ER4_gumbel": 0.973,
}
PREVIOUS = {
    "n1000_d30_ER4_gauss": (0.988, 0.005),
    "n1000_d30_SF4_gauss": (0.997, 0.002),
    "n1000_d100_ER4_gauss": (0.987, 0.010),
    "n1000_d30_ER4_exp": (0.989, 0.006),
    "n1000_d30_ER4_gumbel": (0.988, 0.005),
    "n1000_d30_ER6_gauss": (0.940, 0.028),
    "n1000_d100_SF4_gauss": (0.984, 0.033),
    "n1000_d100_ER4_exp": (0.984, 0.012),
    "n1000_d100_ER4_gumbel": (0.986, 0.012),
}
"""AUC of the previous release: mean and standard deviation over 10 graphs."""
FIRST_SEED = 70_000


def measure(name: str, graphs: int, parameters: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return AUC, NHD, TPR and seconds on fresh graphs of one data set."""
    results: dict[str, list[float]] = {key: [] for key in ("auc", "nhd", "tpr", "seconds")}
    for seed in range(FIRST_SEED, FIRST_SEED + graphs):
        data = simulate.load(name, seed=seed)
        begin = time.perf_counter()
        model = Cosmo(random_state=seed, **PLAIN, **parameters).fit(data.X)
        results["seconds"].append(time.perf_counter() - begin)
        scores = metrics.evaluate(data.graph, model.raw_weights_)
        for key in ("auc", "nhd", "tpr"):
            results[key].append(scores[key])
    return {key: np.array(values) for key, values in results.items()}


def beside_previous(name: str, auc: np.ndarray) -> str:
    """AUC of the previous release, and the difference from it in standard errors."""
    mean, deviation = PREVIOUS[name]
    error = np.sqrt(deviation**2 / 10 + auc.var(ddof=1) / len(auc))
    return f"{mean:.3f} ({(auc.mean() - mean) / error:+.1f} SE)"


def row(label: str, found: dict[str, np.ndarray], *more: object) -> list[object]:
    """Make and print one row of a table."""
    line = [
        label,
        *(spread(found[key]) for key in ("auc", "nhd", "tpr")),
        f"{np.median(found['seconds']):.2f}",
        *more,
    ]
    print(line, flush=True)
    return line


def main() -> None:
    """Measure and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    columns = ["", "AUC", "NHD", "TPR", "median s"]
    name = "n1000_d30_ER4_gauss"
    fixed = [
        row("λ_p = 1.7e-4", measure(name, 2 * options.graphs, FIXED), "≥ 0.950"),
        row("λ_p = 0", measure(name, 2 * options.graphs, {**FIXED, "lambda_p": 0.0}), "≥ 0.955"),
    ]
    defaults = []
    for name, (target, paper) in {
        **DEFAULT_TARGETS,
        **{name: (None, paper) for name, paper in OTHERS.items()},
    }.items():
        d = int(name.split("_")[1][1:])
        ours = measure(name, options.graphs, {})
        theirs = measure(name, options.graphs, dict(paper_settings(d)))
        more = (
            f"≥ {target}" if target else "",
            paper or "",
            spread(theirs["auc"]),
            spread(theirs["nhd"]),
            beside_previous(name, ours["auc"]),
        )
        defaults.append(row(name, ours, *more))
    text = header("Accuracy of linear COSMO")
    text += (
        f"\n## One fixed configuration, {2 * options.graphs} graphs of n1000_d30_ER4_gauss\n\n"
        "lr 7.9e-3 for both, λ₁ 9.4e-4, λ₂ 2.17e-2, t_end 9.8e-4, ε 1.34e-2, 2000 epochs.\n\n"
    )
    text += table([*columns, "target (AUC)"], fixed)
    text += f"\n## Defaults, {options.graphs} graphs each\n\n"
    text += table(
        [
            *columns,
            "target (AUC)",
            "paper's tuned COSMO (AUC)",
            "paper_settings: AUC",
            "paper_settings: NHD",
            "previous release: AUC",
        ],
        defaults,
    )
    text += "\nMean ± sample standard deviation over graphs; raw weights, all d² entries.\n"
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
