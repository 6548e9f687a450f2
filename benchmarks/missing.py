"""Graphs from tables with missing values: values imputed, or incomplete rows dropped.

    python benchmarks/missing.py --jobs 8 --output benchmarks/missing.md
    python benchmarks/missing.py --graphs 1 --families n1000_d30_ER4_gauss

Entries are missing completely at random. `Cosmo()` is fitted to the complete table, and to the
incomplete one with `missing="impute"` and `missing="drop"`.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from answer import draw
from cosmodag import Cosmo, metrics
from cosmodag.errors import CosmodagWarning
from environment import header, in_processes, table, verdict, with_error

FIRST_SEED = 570_000
FAMILIES = ("n1000_d30_ER4_gauss", "n200_d30_ER4_gauss", "n1000_d30_ER4_uneven")
SHARES = (0.05, 0.2)
WAYS = ("whole", "impute", "drop")
MOST = 1.5


def measure(task: tuple[str, float, int]) -> dict[str, float]:
    """NHD of the three fits to one table, complete rows, rounds of imputation, and seconds."""
    family, share, seed = task
    warnings.simplefilter("ignore", CosmodagWarning)
    X, graph = draw(family, seed)
    absent = np.random.default_rng(seed).random(X.shape) < share
    holed = np.where(absent, np.nan, X)
    found: dict[str, float] = {"rows": float(np.count_nonzero(~absent.any(axis=1)))}
    for way in WAYS:
        if way == "drop" and found["rows"] < 10:
            found[way] = float("nan")
            continue
        model = Cosmo(random_state=seed, missing="error" if way == "whole" else way)
        begin = time.perf_counter()
        model.fit(X if way == "whole" else holed)
        found[f"{way} s"] = time.perf_counter() - begin
        scores = metrics.evaluate(np.asarray(graph) != 0, model.adjacency_, threshold=0.0)
        found[way] = scores["nhd"]
        if way == "impute":
            found["rounds"] = model.missing_report_["rounds"]
    print(*task, found, flush=True)
    return found


def line_of(family: str, share: float, found: list[dict[str, float]]) -> list[object]:
    """Make one row of the page."""
    nhd = {way: np.array([one[way] for one in found]) for way in WAYS}
    whole, filled = nhd["whole"].mean(), nhd["impute"].mean()
    aimed = family == FAMILIES[0] and share == SHARES[0]
    return [
        family,
        f"{share:.0%}",
        with_error(nhd["whole"], 3),
        with_error(nhd["impute"], 3),
        with_error(nhd["drop"], 3) if np.isfinite(nhd["drop"]).all() else "–",
        f"{np.mean([one['rows'] for one in found]):.0f}",
        f"{np.mean([one['rounds'] for one in found]):.1f}",
        f"{np.median([one['impute s'] for one in found]):.2f}",
        verdict(filled <= MOST * whole) if aimed else "",
    ]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.graphs)
    tasks = [(f, share, seed) for f in given.families for share in SHARES for seed in seeds]
    results = in_processes(measure, tasks, given.jobs)
    lines = []
    for family in given.families:
        for share in SHARES:
            own = [r for t, r in zip(tasks, results, strict=True) if t[:2] == (family, share)]
            lines.append(line_of(family, share, own))
    columns = ["tables", "missing", "whole", "filled in", "rows dropped", "rows left", "rounds"]
    text = (
        header("Missing values")
        + f"\nNHD of `Cosmo()`, mean ± standard error over {given.graphs} graphs; entries missing "
        "completely at random.\n\n"
        + table([*columns, "median s", f"target: ≤ {MOST} × whole"], lines)
    )
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
