"""Whether the defaults of `Cosmo()` are earned by what a user gets: refined NHD, and time.

    OMP_NUM_THREADS=1 python benchmarks/defaults_answer.py --jobs 2 -o benchmarks/defaults_answer.md

Every rule is changed by one factor: the number of steps from a quarter to four times, both rates
and the shift by two, and all settings by the paper's. Each is fitted to tables of every family and
noise from 20 to 500 variables; the default and the two best are then fitted to fresh graphs.
Noise that is "uneven" is Gaussian with a standard deviation from U(0.5, 2) for each variable.
"""

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosmodag import Cosmo, metrics, simulate
from cosmodag.learners.optimised.settings import (
    default_settings,
    default_steps,
    paper_settings,
)
from environment import header, in_processes, table, with_error

SAMPLES, BATCH = 1000, 64
FIRST_SEED, FRESH_SEED = 70_000, 80_000
GRAPHS = ("ER4", "SF4", "ER6", "SF6")
NOISES = ("gauss", "exp", "gumbel", "uneven")
DEFAULT = "as it is"
# At 500 variables fits take seconds: only the number of steps is varied, on fewer families.
LARGE = 500


class Task(NamedTuple):
    """One fit."""

    rule: str
    family: str
    seed: int


class Fit(NamedTuple):
    """What it gave."""

    task: Task
    nhd: float
    seconds: float


def rules(d: int) -> dict[str, dict[str, Any]]:
    """Parameters of `Cosmo` for each rule."""
    usual, steps = default_settings(d), default_steps("order")
    passes = steps // -(-SAMPLES // BATCH)
    made: dict[str, dict[str, Any]] = {DEFAULT: {}}
    for factor in (0.25, 0.5, 2, 4):
        made[f"steps × {factor:g}"] = {"epochs": round(passes * factor)}
    if d < LARGE:
        for name in ("learning_rate", "priority_learning_rate", "shift"):
            for factor in (0.5, 2):
                made[f"{name} × {factor:g}"] = {name: usual[name] * factor}
        made["the paper's settings"] = dict(paper_settings(d))
    return made


def draw(family: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Table and true graph."""
    data = simulate.load(family.replace("uneven", "gauss"), seed=seed)
    if not family.endswith("uneven"):
        return data.X, data.graph
    random = np.random.default_rng(seed)
    scales = random.uniform(0.5, 2, len(data.graph))
    return simulate.sample_linear(data.weights, len(data.X), random, scales=scales), data.graph


def fit(task: Task) -> Fit:
    """Fit one rule to one table, on one core."""
    warnings.simplefilter("ignore")
    X, graph = draw(task.family, task.seed)
    model = Cosmo(**rules(X.shape[1])[task.rule], random_state=task.seed, verbose=False)
    begin = time.process_time()
    model.fit(X)
    seconds = time.process_time() - begin
    return Fit(task, metrics.evaluate(graph, model.adjacency_, threshold=0.0)["nhd"], seconds)


def families(d: int) -> list[str]:
    """Names of the tables of one size."""
    graphs, noises = (GRAPHS, NOISES) if d < LARGE else (GRAPHS[:2], NOISES[::3])
    return [f"n{SAMPLES}_d{d}_{graph}_{noise}" for graph, noise in product(graphs, noises)]


def score(d: int, names: Sequence[str], seeds: Sequence[int], jobs: int) -> dict[str, list[Fit]]:
    """Fits of some rules, each to the same tables; one more before them compiles."""
    fit(Task(DEFAULT, families(d)[0], FIRST_SEED - 1))
    tasks = [Task(*task) for task in product(names, families(d), seeds)]
    found: dict[str, list[Fit]] = {name: [] for name in names}
    for one in in_processes(fit, tasks, jobs):
        found[one.task.rule].append(one)
    return found


def rows(d: int, found: Mapping[str, list[Fit]]) -> list[list[object]]:
    """One row for each rule: NHD, its difference from the default's, time as a share of it."""
    made: list[list[object]] = []
    usual = found[DEFAULT]
    for name, fits in found.items():
        differences = [f.nhd - u.nhd for f, u in zip(fits, usual, strict=True)]
        share = np.mean([f.seconds for f in fits]) / np.mean([u.seconds for u in usual])
        nhd = with_error([f.nhd for f in fits], 3)
        made.append([d, name, nhd, with_error(differences, 3), f"{share:.2f}", len(fits)])
    return made


def best(found: Mapping[str, list[Fit]], count: int = 2) -> list[str]:
    """Names of the default, and of the rules with the fewest errors beside it."""
    others = sorted(
        (name for name in found if name != DEFAULT),
        key=lambda name: np.mean([fit.nhd for fit in found[name]]),
    )
    return [DEFAULT, *others[:count]]


def main() -> None:
    """Search, validate, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 50, 100, 200, 500])
    parser.add_argument("--graphs", type=int, default=2, help="per family, searched and fresh")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    searched, validated = [], []
    for d in options.sizes:
        count = options.graphs if d < 200 else 1
        found = score(d, list(rules(d)), range(FIRST_SEED, FIRST_SEED + count), options.jobs)
        searched += rows(d, found)
        fresh = range(FRESH_SEED, FRESH_SEED + count)
        validated += rows(d, score(d, best(found), fresh, options.jobs))
        print(*searched[-len(found) :], *validated[-3:], sep="\n", flush=True)
    columns = ["d", "rule", "NHD", "minus the default's", "time / the default's", "tables"]
    text = header("Defaults of `Cosmo()`, by what a user gets")
    text += "\n## Searched\n\n" + table(columns, searched)
    text += "\n## The default and the two best rules on fresh graphs\n\n" + table(
        columns, validated
    )
    text += "\nMean ± standard error; differences are paired. Processor seconds, one thread.\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
