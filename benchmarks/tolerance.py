"""How acyclic plain COSMO's solution is, and what a guarantee costs.

Plain `Cosmo(refine=None)` is trained on ER4 graphs. For its orientation S and its weights W at the
temperature of the read-out: Theorem 2's bound on h(S) = tr e^S − d, h(S) itself, h(W ∘ W), and the
share of graphs whose weights above 0.3 have a cycle. The same with `acyclicity_tolerance=1e-2`,
which reads the solution out at a lower temperature.

    OMP_NUM_THREADS=1 python benchmarks/tolerance.py --jobs 16
"""

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import expm

from environment import header, table

FIRST_SEED = 93_000
TOLERANCES = (None, 1e-2)


def figures_of(d: int, seed: int, tolerance: float | None) -> list[float]:
    """AUC, NHD, bound, h(S), h(W ∘ W), and whether the thresholded weights have a cycle."""
    from cosmodag import Cosmo, metrics, simulate
    from cosmodag.graph.dags import is_dag
    from cosmodag.model.orientation import host_orientation_rows, log_acyclicity_bound

    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = Cosmo(acyclicity_tolerance=tolerance, refine=None, epochs=2000, verbose=False)
        model = learner.set_params(random_state=seed).fit(data.X)
    settings, weights = model.settings_, np.asarray(model.raw_weights_, np.float64)
    cold = settings.get("read_out_temperature_end", settings["temperature_end"])
    orientation = host_orientation_rows(model.priorities_, cold, settings["shift"], 0, d)
    scores = metrics.evaluate(data.graph, weights, threshold=0.3)
    return [
        scores["auc"],
        scores["nhd"],
        log_acyclicity_bound(cold, settings["shift"], d) / math.log(10),
        float(np.trace(expm(orientation)) - d),
        float(np.trace(expm(weights**2)) - d),
        float(not is_dag(np.abs(weights) > 0.3)),
    ]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".md"))
    options = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + options.graphs)
    cells = [(d, s, t) for d in sorted(options.sizes)[::-1] for t in TOLERANCES for s in seeds]
    results = Parallel(options.jobs)(delayed(figures_of)(*cell) for cell in cells)
    found = dict(zip(cells, results, strict=True))
    lines = []
    for d in options.sizes:
        plain = np.array([found[d, seed, None] for seed in seeds])
        for tolerance in TOLERANCES:
            own = np.array([found[d, seed, tolerance] for seed in seeds])
            cost = own[:, 0] - plain[:, 0]
            error = cost.std(ddof=1) / math.sqrt(len(cost))
            lines.append(
                [
                    f"ER4, {d}",
                    "none" if tolerance is None else f"{tolerance:g}",
                    f"{own[:, 0].mean():.4f}",
                    "" if tolerance is None else f"{cost.mean():+.4f} ± {error:.4f}",
                    f"{own[:, 1].mean():.3f}",
                    f"10^{own[0, 2]:.1f}",
                    f"{np.median(own[:, 3]):.2g} ({own[:, 3].min():.2g} to {own[:, 3].max():.2g})",
                    f"{np.median(own[:, 4]):.2g}",
                    f"{own[:, 5].mean():.0%}",
                ]
            )
    columns = ["data", "tolerance", "AUC", "difference", "NHD at 0.3", "bound on h(S)", "h(S)"]
    page = (
        header("How acyclic plain COSMO's solution is")
        + f"\n{options.graphs} graphs per row, 1,000 rows each; medians of h. The returned graph "
        "is a DAG in every case: arcs against the learnt order are left out, whatever h is.\n\n"
        + table([*columns, "h(W ∘ W)", "cycle at 0.3"], lines)
    )
    options.output.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
