"""Graphs of mixed tables and of curves, with noise that is not Gaussian, beside an earlier release.

    python benchmarks/skewed.py --previous CHECKOUT --output benchmarks/skewed.md

Numbers are sums of lines or curves of their causes plus noise of a given shape; categories of three
levels are drawn from a multinomial logit. Each release fits the same tables in a process of its
own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROWS, FIRST_SEED = 800, 1000
NOISES = {
    "exponential": lambda random: random.exponential(size=ROWS) - 1,
    "log-normal": lambda random: np.exp(0.6 * random.normal(size=ROWS)),
    "uniform": lambda random: random.uniform(-1.7, 1.7, size=ROWS),
    "Gaussian": lambda random: random.normal(size=ROWS),
}
# Variables, categories among them, and share of effects that are curves.
FAMILIES = {
    "categories, lines": (12, 3, 0.0),
    "categories, half curves": (12, 3, 0.5),
    "categories, half curves, 40 variables": (40, 10, 0.5),
    "numbers, half curves": (12, 0, 0.5),
    "numbers, curves": (12, 0, 1.0),
}


def draw(family: str, noise: str, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw a table; return it with the true arcs and a mask of the categories."""
    d, categories, curved = FAMILIES[family]
    random = np.random.default_rng(seed)
    order = random.permutation(d)
    is_category = np.isin(np.arange(d), random.choice(d, categories, replace=False))
    values, arcs = np.zeros((ROWS, d)), np.zeros((d, d), bool)
    columns: dict[str, Any] = {f"v{v}": None for v in range(d)}
    for place, v in enumerate(order):
        total = np.zeros(ROWS)
        for u in order[:place]:
            if random.random() >= 3.0 / d:
                continue
            arcs[u, v] = True
            x = (values[:, u] - values[:, u].mean()) / values[:, u].std()
            weight = random.uniform(0.5, 1.2) * random.choice([-1, 1])
            is_curve = random.random() < curved
            total += weight * (np.tanh(2 * x) + 0.3 * np.sin(3 * x) if is_curve else x)
        if is_category[v]:
            utilities = np.outer(total, 1.5 * random.normal(size=3))
            values[:, v] = np.argmax(utilities + random.gumbel(size=(ROWS, 3)), axis=1)
            columns[f"v{v}"] = np.array(list("abc"))[values[:, v].astype(int)]
        else:
            values[:, v] = total + NOISES[noise](random)
            columns[f"v{v}"] = values[:, v]
    return pd.DataFrame(columns), arcs, is_category


def measure(family: str, noise: str, seed: int) -> dict[str, float]:
    """Fit one table; count wrong arcs per variable, and arrows between numbers by basis."""
    from cosmodag import BlockSearch

    X, truth, is_category = draw(family, noise, seed)
    begin = time.process_time()
    model = BlockSearch(random_state=0).fit(X)
    seconds = time.process_time() - begin
    found = np.asarray(model.adjacency_ != 0)
    counts: Counter[str] = Counter()
    for arc in model.arcs_.itertuples():
        u, v = int(arc.cause[1:]), int(arc.effect[1:])
        if arc.basis == "curves" and not is_category[[u, v]].any():
            counts["claimed"] += 1
            counts["wrong"] += not truth[u, v]
    nhd = np.count_nonzero(truth != found) / len(truth)
    return {"nhd": nhd, "seconds": seconds, **{key: counts[key] for key in ("claimed", "wrong")}}


def measure_all(graphs: int) -> dict[str, list[dict[str, float]]]:
    """Measure all tables with the package that is on the path."""
    warnings.simplefilter("ignore")
    measure("numbers, curves", "Gaussian", 0)  # compiles
    return {
        f"{family} | {noise}": [
            measure(family, noise, FIRST_SEED + number) for number in range(graphs)
        ]
        for family in FAMILIES
        for noise in NOISES
    }


def of_release(source: Path, graphs: int) -> dict[str, list[dict[str, float]]]:
    """Measure all tables with the package of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--as-json", "--graphs", str(graphs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def page(before: dict[str, Any], now: dict[str, Any], graphs: int) -> str:
    """Write the page."""
    from environment import header, table, with_error

    lines = []
    for name in now:
        old, new = before[name], now[name]
        lines.append(
            [
                *name.split(" | "),
                with_error([one["nhd"] for one in old]),
                with_error([one["nhd"] for one in new]),
                *(f"{total(run, 'wrong')} of {total(run, 'claimed')}" for run in (old, new)),
                f"{np.mean([one['seconds'] for one in old]):.2f}",
                f"{np.mean([one['seconds'] for one in new]):.2f}",
            ]
        )
    columns = ["table", "noise", "NHD, before", "now", "wrong arrows, before", "now", "s, before"]
    text = (
        f"\nWrong arcs per variable (NHD) of `BlockSearch()`, mean ± standard error over {graphs}\n"
        f'tables of {ROWS} rows, in which variables have 1.5 causes on average; "before" is the\n'
        "earlier release. Wrong arrows are those between two numbers whose direction has the\n"
        "basis `curves`, but that are not in the true graph. Seconds are CPU time.\n\n"
    )
    return header("Noise of other shapes") + text + table([*columns, "now"], lines)


def total(run: list[dict[str, float]], name: str) -> float:
    """Sum of a count over tables."""
    return sum(one[name] for one in run)


def main() -> None:
    """Measure both releases, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--previous", type=Path, help="checkout of another release")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--as-json", action="store_true", help="print the results of this package")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.as_json:
        print(json.dumps(measure_all(given.graphs)))
        return
    if given.previous is None:
        parser.error("--previous is required")
    before = of_release(given.previous / "src", given.graphs)
    now = of_release(Path(__file__).parents[1] / "src", given.graphs)
    text = page(before, now, given.graphs)
    print(text)
    if given.output is not None:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
