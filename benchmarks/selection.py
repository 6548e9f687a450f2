"""The automatic choice compared with single learners, on tables of four kinds.

    python benchmarks/selection.py --jobs 8 --output benchmarks/selection.md
    python benchmarks/selection.py --graphs 1 --kinds gaussian units

The error is the structural Hamming distance between equivalence classes: pairs of variables marked
differently. The best single learner of a kind has the lowest mean distance; finding it requires the
truth.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from cosmodag import Cosmo, CosmoMLP, Dagma, OrderSearch, selection, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.equivalence import essential_graph
from environment import header, in_processes, standardised, table, verdict, with_error
from peers import in_arbitrary_units, marked_differently

FIRST_SEED = 580_000
KINDS = ("gaussian", "gumbel", "mlp", "units")
NAMES = {
    "gaussian": "n1000_d30_ER4_gauss, own units",
    "gumbel": "n1000_d30_ER4_gumbel, standardised",
    "mlp": "n1000_d20_ER4_mlp, own units",
    "units": "d = 30, ER2, arbitrary units",
}
AUTO = "selection.auto"
LEARNERS = {
    "Cosmo()": Cosmo,
    "OrderSearch()": OrderSearch,
    "Dagma()": Dagma,
    "CosmoMLP()": CosmoMLP,
}
MOST = 1.1


def table_of(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table, and return it with its true graph."""
    if kind == "units":
        return in_arbitrary_units(30, seed)
    data = simulate.load(NAMES[kind].split(",")[0], seed=seed)
    return standardised(data.X) if kind == "gumbel" else data.X, data.graph


def measure(task: tuple[str, int]) -> dict[str, tuple[int, float, str]]:
    """Distance, seconds and chosen learner, for the automatic choice and for every learner."""
    kind, seed = task
    warnings.simplefilter("ignore", CosmodagWarning)
    X, graph = table_of(kind, seed)
    truth = essential_graph(np.asarray(graph) != 0)
    found = {}
    for name in (AUTO, *LEARNERS):
        begin = time.perf_counter()
        if name == AUTO:
            model = selection.auto(X, random_state=seed, verbose=False).model
        else:
            learner = LEARNERS[name]()
            if "random_state" in learner.get_params():
                learner.set_params(random_state=seed)
            model = learner.fit(X)
        seconds = time.perf_counter() - begin
        distance = marked_differently(truth, essential_graph(model.adjacency_))
        found[name] = (distance, seconds, type(model).__name__)
    print(kind, seed, found, flush=True)
    return found


def section(kind: str, found: list[dict[str, tuple[int, float, str]]]) -> str:
    """Tabulate distances and times on one kind of table."""
    means = {name: np.mean([one[name][0] for one in found]) for name in found[0]}
    best = min(LEARNERS, key=lambda name: means[name])
    lines = [
        [
            name + (" (best)" if name == best else ""),
            with_error([one[name][0] for one in found]),
            f"{np.median([one[name][1] for one in found]):.2f}",
            verdict(bool(means[name] <= MOST * means[best])) if name == AUTO else "",
        ]
        for name in found[0]
    ]
    picked = [one[AUTO][2] for one in found]
    counts = ", ".join(f"{name} {picked.count(name)} times" for name in sorted(set(picked)))
    columns = ["learner", "SHD of classes", "median s", f"target: ≤ {MOST} × best"]
    return f"\n## {NAMES[kind]}\n\n{table(columns, lines)}\nChosen: {counts}.\n"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.graphs)
    tasks = [(kind, seed) for kind in given.kinds for seed in seeds]
    results = in_processes(measure, tasks, given.jobs)
    text = header("The automatic choice") + f"\n{given.graphs} tables of each kind.\n"
    for kind in given.kinds:
        text += section(kind, [r for t, r in zip(tasks, results, strict=True) if t[0] == kind])
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
