r"""Bootstrap probabilities: their calibration, and the time they take.

    python benchmarks/bootstrap.py --jobs 8 --output benchmarks/bootstrap.md \
        --figure docs/figures/reliability.png
    python benchmarks/bootstrap.py --graphs 1 --resamples 10 --families n1000_d30_ER4_gauss

`Cosmo()` is fitted to resamples of every table, drawn in each of two ways, and probabilities are
pooled over the graphs of a family. The last section times one bootstrap of 200 resamples at d = 30
on two cores, with refinement, after compilation.
"""

import argparse
import os
import time
import warnings
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from answer import draw
from cosmodag import Cosmo, OrderSearch, simulate
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.texts import counted
from environment import header, in_processes, standardised, table, verdict
from peers import in_arbitrary_units

FIRST_SEED = 560_000
FAMILIES = (
    "n1000_d30_ER4_gauss",
    "n200_d30_ER4_gauss",
    "n1000_d30_ER4_uneven",
    "standardised n1000_d30_ER4_gumbel",
    "units",
)
SAMPLES = ("bootstrap", "half")
SURE, PRECISION, RECALL, SECONDS = 0.95, 0.90, 0.50, 90
LEVELS = np.array([0.0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0 + 1e-9])


def table_of(family: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table, and return it with its true graph."""
    if family == "units":
        return in_arbitrary_units(30, seed)
    X, graph = draw(family.removeprefix("standardised "), seed)
    X = standardised(X) if family.startswith("standardised") else X
    return X, np.asarray(graph) != 0


def measure(task: tuple[str, str, int], resamples: int) -> np.ndarray:
    """Probability and truth of every arc of one graph: (2, d (d − 1))."""
    family, sample, seed = task
    warnings.simplefilter("ignore", CosmodagWarning)
    X, graph = table_of(family, seed)
    found = bootstrap(Cosmo(), X, resamples, sample=sample, random_state=seed, verbose=False)
    off = ~np.eye(len(graph), dtype=bool)
    print(family, sample, seed, found, flush=True)
    return np.stack([found.arc_probabilities[off], graph[off]])


def line_of(family: str, sample: str, pairs: np.ndarray) -> list[object]:
    """One row of the page: precision and recall of arcs with a high probability."""
    probabilities, truth = pairs[0], pairs[1] > 0
    sure = probabilities >= SURE
    precision = truth[sure].mean() if sure.any() else float("nan")
    recall = sure[truth].mean()
    aimed = family == FAMILIES[0]
    return [
        family,
        sample,
        int(sure.sum()),
        f"{precision:.3f}" + (f" ({verdict(precision >= PRECISION)})" if aimed else ""),
        f"{recall:.3f}" + (f" ({verdict(recall >= RECALL)})" if aimed else ""),
        f"{np.mean((probabilities - truth) ** 2):.5f}",
    ]


def reliability(pairs: np.ndarray) -> list[tuple[float, float, int]]:
    """Mean probability, fraction of true arcs and number of arcs in each interval."""
    probabilities, truth = pairs
    found = []
    for low, high in pairwise(LEVELS):
        among = (probabilities >= low) & (probabilities < high) & (probabilities > 0)
        if among.any():
            mean = float(probabilities[among].mean())
            found.append((mean, float(truth[among].mean()), int(among.sum())))
    return found


def draw_curves(pooled: dict[tuple[str, str], np.ndarray], path: Path) -> None:
    """Plot the fraction of true arcs against probability, a panel for each way of drawing rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(SAMPLES), figsize=(9, 4.2), sharey=True)
    for panel, sample in zip(panels, SAMPLES, strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=1)
        for (family, drawn), pairs in pooled.items():
            if drawn == sample:
                means, shares, _ = zip(*reliability(pairs), strict=True)
                panel.plot(means, shares, marker="o", markersize=4, label=family)
        panel.set(title=sample, xlabel="probability of an arc")
    panels[0].set_ylabel("fraction of true arcs")
    panels[0].legend(fontsize=7, loc="upper left")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def time_section(resamples: int) -> str:
    """Time one bootstrap on at most two cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    X = simulate.load("n1000_d30_ER4_gauss", seed=FIRST_SEED).X
    lines = []
    for model in (Cosmo(), OrderSearch()):
        bootstrap(model, X, 2, random_state=0, verbose=False)
        begin = time.perf_counter()
        bootstrap(model, X, resamples, random_state=0, verbose=False)
        seconds = time.perf_counter() - begin
        aim = verdict(seconds < SECONDS) if isinstance(model, Cosmo) else ""
        lines.append([f"{type(model).__name__}()", f"{seconds:.1f}", aim])
    cores = counted(len(os.sched_getaffinity(0)), "core")
    columns = ["learner", "s", f"target: < {SECONDS} s"]
    return (
        f"\n## Time\n\nn1000_d30_ER4_gauss, {resamples} resamples on {cores}, refinement "
        f"included.\n\n{table(columns, lines)}"
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--figure", type=Path, help="file for the reliability curve")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.graphs)
    tasks = [(f, s, seed) for f in given.families for s in SAMPLES for seed in seeds]
    results = in_processes(partial(measure, resamples=given.resamples), tasks, given.jobs)
    pooled: dict[tuple[str, str], np.ndarray] = {}
    for family in given.families:
        for sample in SAMPLES:
            own = [r for t, r in zip(tasks, results, strict=True) if t[:2] == (family, sample)]
            pooled[family, sample] = np.concatenate(own, axis=1)
    lines = [line_of(family, sample, pairs) for (family, sample), pairs in pooled.items()]
    curve = [
        [family, sample, f"{mean:.3f}", f"{share:.3f}", number]
        for (family, sample), pairs in pooled.items()
        for mean, share, number in reliability(pairs)
    ]
    columns = ["tables", "rows drawn", f"arcs ≥ {SURE}", "fraction true", "fraction of true arcs"]
    text = (
        header("Bootstrap probabilities")
        + f"\n## Calibration\n\n`Cosmo()`, {given.resamples} resamples of each of {given.graphs} "
        f"tables, d = 30. Targets for the first family: at least {PRECISION:.0%} of arcs "
        f"with probability ≥ {SURE} are true, and they include at least {RECALL:.0%} of the true "
        "arcs. Brier: "
        "mean squared difference between probability and truth over all pairs.\n\n"
        + table([*columns, "Brier"], lines)
        + "\n## Reliability\n\nArcs found in at least one resample, by probability.\n\n"
        + table(["tables", "rows drawn", "mean probability", "share true", "arcs"], curve)
        + time_section(given.resamples)
    )
    if given.figure:
        draw_curves(pooled, given.figure)
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
