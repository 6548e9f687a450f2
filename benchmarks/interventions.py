"""The effect of interventions on accuracy: simulated experiments, standardised.

    python benchmarks/interventions.py --jobs 16 --output benchmarks/interventions.md

1,000 observational rows and 100 for each target. *Perfect* interventions draw a variable
independently of its parents; *imperfect* ones change its weights and noise, and keep its parents.
For comparison: the same rows with the targets ignored, and the observational rows alone. Columns
are standardised, so that variances do not reveal directions.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from cosmodag import Cosmo, OrderSearch, metrics, simulate
from environment import header, table, verdict, with_error

FIRST_SEED = 92_000
SETTINGS = {
    "n1000_d20_ER2_gauss, all targets": ("n1000_d20_ER2_gauss", "all", 0.05),
    "n1000_d20_ER2_gauss, half of them": ("n1000_d20_ER2_gauss", 10, 0.10),
    "n1000_d30_ER4_gauss, all targets": ("n1000_d30_ER4_gauss", "all", 0.10),
}
WAYS = ("targets given", "targets ignored", "observations alone")


def measure(name: str, targets: "int | str", kind: str, seed: int) -> dict[str, tuple[float, ...]]:
    """NHD, AUC and seconds of both learners, for each use of the experiments on one graph."""
    warnings.simplefilter("ignore")
    data = simulate.interventional(name, targets, rows=100, kind=kind, seed=seed)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    plain = ~data.targets.any(axis=1)
    found = {}
    for way in WAYS:
        rows = X[plain] if way == "observations alone" else X
        given = data.targets if way == "targets given" else None
        for label, learner in (
            ('Cosmo(refine="order")', Cosmo(refine="order", random_state=seed, verbose=False)),
            ("OrderSearch()", OrderSearch(random_state=seed, verbose=False)),
        ):
            begin = time.perf_counter()
            model = learner.fit(rows, interventions=given)
            seconds = time.perf_counter() - begin
            scores = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)
            found[f"{label}, {way}"] = (scores["nhd"], scores["auc"], seconds)
    return found


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + options.graphs)
    text = header("Interventions")
    text += (
        f"\n{options.graphs} graphs each, seeds from {FIRST_SEED}; standardised columns; a "
        "reversed arc counts twice in NHD (wrong arcs per variable). Mean ± standard error.\n"
    )
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for kind in ("perfect", "imperfect"):
            rows = []
            for label, (name, targets, target) in SETTINGS.items():
                found = list(pool.map(partial(measure, name, targets, kind), seeds))
                for key in found[0]:
                    nhd, auc, seconds = np.array([one[key] for one in found]).T
                    learner, way = key.rsplit(", ", 1)
                    is_goal = way == "targets given" and kind == "perfect"
                    goal = f"≤ {target:.2f}: {verdict(nhd.mean() <= target)}" if is_goal else ""
                    cells = (with_error(nhd, 3), with_error(auc, 3), f"{np.median(seconds):.2f}")
                    rows.append([label, f"`{learner}`", way, *cells, goal])
                    print(rows[-1], flush=True)
            columns = ["data", "learner", "rows", "NHD", "AUC", "median s", "target (NHD)"]
            text += f"\n## {kind.capitalize()} interventions\n\n{table(columns, rows)}"
    text += (
        "\nRows in which a variable was set do not count in its own equation. So any change of the "
        "variable is allowed, as long as other equations stay the same: imperfect interventions "
        "determine directions as well.\n"
    )
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
