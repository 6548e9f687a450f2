"""The baselines as the COSMO paper ran them, with its configurations, compared with its AUC.

    python benchmarks/paper_variants.py dagma nocurl nocurl-u -o benchmarks/paper_variants.md
    python benchmarks/paper_variants.py notears --epochs 2000 --device gpu

All graphs of both data sets are one batch of problems. The difference from the paper is divided by
its standard error, √(s₁²/n₁ + s₂²/n₂), with the standard deviations and numbers of runs of both.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from cosmodag import (
    NoCurlU,
    StochasticDagma,
    StochasticNoCurl,
    StochasticNotears,
    metrics,
    simulate,
)
from cosmodag.solve.plan import solve_many
from cosmodag.solve.readout import read_out
from cosmodag.solve.watch import Watch
from environment import header, table

LEARNERS = {
    "notears": StochasticNotears,
    "dagma": StochasticDagma,
    "nocurl": StochasticNoCurl,
    "nocurl-u": NoCurlU,
}
# Learning rate, λ₁, and the paper's AUC: mean, standard deviation, runs.
PUBLISHED = {
    "notears": {
        "ER4": (2.73e-4, 2.216e-4, 0.9726, 0.0203, 5),
        "SF4": (3.645e-4, 8.433e-4, 0.9841, 0.0160, 5),
    },
    "dagma": {
        "ER4": (2.098e-4, 2.194e-3, 0.9853, 0.0134, 5),
        "SF4": (6.04e-4, 5.556e-4, 0.9959, 0.0055, 5),
    },
    "nocurl": {
        "ER4": (7.994e-4, 1.266e-3, 0.9669, 0.0083, 5),
        "SF4": (5.953e-4, 5.588e-3, 0.9828, 0.0138, 5),
    },
    "nocurl-u": {
        "ER4": (2.509e-4, 5.798e-4, 0.6940, 0.0591, 10),
        "SF4": (1.311e-4, 1.228e-4, 0.7415, 0.0822, 10),
    },
}
FIRST_SEED = 80_000


def solve(name: str, graphs: int, epochs: int | None, device: str, most: float | None) -> list[Any]:
    """Rows of one learner, with the graphs of both data sets in one batch."""
    cap = {} if epochs is None else {"epochs": epochs}
    problems, truths, kinds = [], [], []
    for kind, (rate, lambda1, *_) in PUBLISHED[name].items():
        model = LEARNERS[name](learning_rate=rate, lambda1=lambda1, **cap)
        for seed in range(FIRST_SEED, FIRST_SEED + graphs):
            data = simulate.load(f"n1000_d30_{kind}_gauss", seed=seed)
            x = (data.X - data.X.mean(0)).astype(np.float32)
            problems += model.set_params(random_state=seed).problems_for(x)
            truths.append(data.graph)
            kinds.append(kind)
    solver = model.solver_for(1000, 30)
    begin = time.perf_counter()
    with Watch(1, name, max_time=most) as watch:
        solved = solve_many(solver, problems, device=device, watch=watch)
        found = {one.index: one.solution for one in solved}
    taken = time.perf_counter() - begin
    rows = []
    for kind, (*_, paper, spread, runs) in PUBLISHED[name].items():
        members = [index for index, other in enumerate(kinds) if other == kind]
        weights = [read_out(found[i], problems[i], 0.3, jax.devices("cpu")[0]) for i in members]
        scores = [
            metrics.evaluate(truths[i], one.strengths)
            for i, one in zip(members, weights, strict=True)
        ]
        auc = np.array([score["auc"] for score in scores])
        nhd = np.array([score["nhd"] for score in scores])
        error = np.sqrt(auc.var(ddof=1) / len(auc) + spread**2 / runs)
        stopped = found[0].stopped or "finished"
        rows.append(
            [
                f"{name}, {kind}-gauss",
                f"{auc.mean():.3f} ± {auc.std(ddof=1):.3f}",
                f"{nhd.mean():.2f}",
                f"{paper:.3f} ± {spread:.3f}",
                f"{(auc.mean() - paper) / error:+.1f}",
                model.epochs,
                f"{taken:.0f} s, {stopped}, {jax.devices(device)[0].device_kind}",
            ]
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Solve the problems, and write or extend the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="+", choices=list(LEARNERS))
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=None, help="per problem; the paper has 5000")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--max-time", type=float, default=None)
    parser.add_argument("-o", "--output", type=Path, default=None)
    options = parser.parse_args()
    rows = [
        row
        for name in options.learners
        for row in solve(name, options.graphs, options.epochs, options.device, options.max_time)
    ]
    text = header("The paper's baselines, as the paper ran them", ("jax", "numpy"))
    text += f"\nn = 1000, d = 30, {options.graphs} fresh graphs each.\n\n"
    columns = [
        "learner, data",
        "AUC",
        "NHD",
        "paper's AUC",
        "difference / its SE",
        "epochs per problem",
    ]
    text += table([*columns, "the whole batch"], rows)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
