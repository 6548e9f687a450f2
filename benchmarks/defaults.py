"""Search for COSMO's default hyper-parameters by random trials on simulated data.

    python benchmarks/defaults.py --variables 30 --trials 200 --graphs 4

Scores all configurations on the same graphs (four graph families × noises), then scores the best
again on fresh graphs. Rows are written to a CSV file, best first.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from cosmodag import Cosmo, metrics, simulate
from cosmodag.runtime.devices import device_named
from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.readout import read_out
from cosmodag.solve.watch import Watch

RANGES = {
    "learning_rate": (6e-3, 5e-2),
    "priority_learning_rate": (5e-4, 8e-3),
    "lambda1": (1e-4, 2e-3),
    "lambda2": (1e-2, 1.5e-1),
    "shift": (8e-4, 8e-3),
    "temperature_start": (0.1, 0.8),
    "temperature_end": (4e-4, 2.5e-3),
}
FAMILIES = ("ER4_gauss", "SF4_gauss", "ER6_gauss", "ER4_exp", "ER4_gumbel")


def draw(random: np.random.Generator, fixed: dict[str, float]) -> dict[str, float]:
    """Draw a configuration, log-uniform in the ranges."""
    drawn = {
        name: float(np.exp(random.uniform(np.log(low), np.log(high))))
        for name, (low, high) in RANGES.items()
    }
    return {**drawn, "lambda_p": 0.0, **fixed}


def tables(d: int, seeds: range) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Return the family, true graph and centred data of every graph."""
    for family in FAMILIES:
        for seed in seeds:
            data = simulate.load(f"n1000_d{d}_{family}", seed=seed)
            yield family, data.graph, (data.X - data.X.mean(0)).astype(np.float32)


def score(configurations: list[dict[str, float]], d: int, seeds: range) -> pd.DataFrame:
    """Compute AUC and NHD of every configuration on every graph."""
    solver = Cosmo().solver_for(1000, d)
    fixed = {"rounds": 2000.0, "beta1": 0.9, "beta2": 0.999}
    cases = list(tables(d, seeds))
    problems = [
        Problem(data, {**configuration, **fixed}, seed=place)
        for configuration in configurations
        for place, (_, _, data) in enumerate(cases)
    ]
    rows = []
    with Watch(2000, "search") as watch:
        for index, solution, _ in solve_many(solver, problems, device="auto", watch=watch):
            configuration, case = divmod(index, len(cases))
            weights = read_out(solution, problems[index], 0.3, device_named("cpu")).strengths
            finite = np.isfinite(weights).all()
            result = metrics.evaluate(cases[case][1], weights if finite else np.zeros((d, d)))
            rows.append(
                {
                    "configuration": configuration,
                    "family": cases[case][0],
                    "auc": result["auc"] if finite else 0.5,
                    "nhd": result["nhd"],
                }
            )
    return pd.DataFrame(rows)


def main() -> None:
    """Search, then score the best again on fresh graphs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--graphs", type=int, default=3)
    parser.add_argument("--keep", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    start = time.time()
    configurations = [draw(random, {}) for _ in range(options.trials)]
    first = score(configurations, options.variables, range(options.graphs))
    means = first.groupby("configuration")[["auc", "nhd"]].mean()
    best = means.sort_values("auc", ascending=False).index[: options.keep]
    finalists = [configurations[index] for index in best]
    again = score(finalists, options.variables, range(1000, 1000 + 2 * options.graphs))
    table = again.pivot_table(index="configuration", columns="family", values=["auc", "nhd"])
    table.columns = ["_".join(column) for column in table.columns]
    table["auc"] = again.groupby("configuration")["auc"].mean()
    table["nhd"] = again.groupby("configuration")["nhd"].mean()
    table["auc_search"] = means.loc[best, "auc"].to_numpy()
    for name in finalists[0]:
        table[name] = [finalist[name] for finalist in finalists]
    table = table.sort_values("auc", ascending=False)
    print(table.to_string(float_format="%.4g"))
    print(f"{time.time() - start:.0f} s")
    if options.output:
        table.to_csv(options.output, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
