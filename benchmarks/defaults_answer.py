"""Whether other settings of `Cosmo()` and `CosmoMLP()` would improve the refined graph.

    OMP_NUM_THREADS=1 python benchmarks/defaults_answer.py --jobs 2 -o benchmarks/defaults_answer.md

Judges settings by the NHD of the refined graph and the time of the fit. Each alternative changes
one rule: the number of steps by a factor from a quarter to four, rates, shift and λ₁ by a factor of
two, or all settings to those of the paper. Each is fitted to tables of every family and noise,
linear ones of 20 to 500 variables and networks of 20 to 100; the default and the two best
alternatives are then fitted to fresh graphs. "Uneven" noise is Gaussian with a standard deviation
from U(0.5, 2) for each variable; "standard" is Gaussian noise, with columns divided by their
standard deviations.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosmodag import Cosmo, CosmoMLP, metrics, simulate
from cosmodag.learners.trained.settings import (
    default_mlp_settings,
    default_settings,
    default_steps,
    paper_mlp_settings,
    paper_settings,
)
from environment import header, in_processes, is_first, table, with_error

BATCH = 64
FIRST_SEED, FRESH_SEED = 70_000, 80_000
GRAPHS = ("ER4", "SF4", "ER6", "SF6")
NOISES = ("gauss", "exp", "gumbel", "uneven", "standard")
DEFAULT = "as it is"


@dataclass(frozen=True)
class Size:
    """Tables of one size: number per family, and number of graph families.

    Where fits take long (`is_large`), only the number of steps is varied, on fewer kinds of noise.
    """

    rows: int
    variables: int
    tables: int
    kinds: int = len(GRAPHS)
    is_large: bool = False


@dataclass(frozen=True)
class Study:
    """One learner, its rules, and the tables to which it is fitted."""

    learner: Callable[..., Any]
    settings: Callable[[int], Mapping[str, Any]]
    paper: Callable[[int], Mapping[str, Any]]
    steps: int
    noises: Sequence[str]
    sizes: Sequence[Size]

    def rules(self, size: Size) -> dict[str, dict[str, Any]]:
        """Return the parameters of the learner for each rule."""
        usual = self.settings(size.variables)
        passes = self.steps / -(-size.rows // BATCH)
        made: dict[str, dict[str, Any]] = {DEFAULT: {}}
        for factor in (0.25, 0.5, 2, 4):
            made[f"steps × {factor:g}"] = {"epochs": round(passes * factor)}
        if not size.is_large:
            for name in ("learning_rate", "priority_learning_rate", "shift", "lambda1"):
                for factor in (0.5, 2):
                    made[f"{name} × {factor:g}"] = {name: usual[name] * factor}
            made["the paper's settings"] = dict(self.paper(size.variables))
        return made

    def families(self, size: Size) -> list[str]:
        """Return the names of the tables of one size."""
        noises = self.noises[::3] if size.is_large else self.noises
        return [
            f"n{size.rows}_d{size.variables}_{graph}_{noise}"
            for graph, noise in product(GRAPHS[: size.kinds], noises)
        ]


STUDIES = {
    "Cosmo": Study(
        Cosmo,
        default_settings,
        paper_settings,
        default_steps("order"),
        NOISES,
        (
            Size(1000, 20, 3),
            Size(200, 50, 3),
            Size(1000, 50, 3),
            Size(1000, 100, 2, kinds=2),
            Size(1000, 200, 2, kinds=2, is_large=True),
            Size(1000, 500, 2, kinds=2, is_large=True),
        ),
    ),
    "CosmoMLP": Study(
        CosmoMLP,
        default_mlp_settings,
        paper_mlp_settings,
        default_steps(None),
        ("mlp",),
        (Size(1000, 20, 4), Size(1000, 40, 1), Size(1000, 100, 1, kinds=2, is_large=True)),
    ),
}


class Task(NamedTuple):
    """One fit."""

    study: str
    rule: str
    parameters: dict[str, Any]
    family: str
    seed: int


class Fit(NamedTuple):
    """Result of one fit."""

    task: Task
    nhd: float
    seconds: float


def draw(family: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table, and return it with its true graph."""
    base, noise = family.rsplit("_", 1)
    is_named = noise not in ("uneven", "standard")
    data = simulate.load(family if is_named else f"{base}_gauss", seed=seed)
    X = data.X
    if noise == "standard":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    if noise == "uneven":
        random = np.random.default_rng(seed)
        scales = random.uniform(0.5, 2, X.shape[1])
        X = simulate.sample_linear(data.weights, len(X), random, scales=scales)
    return X, data.graph


def fit(task: Task) -> Fit:
    """Fit one rule to one table, on one core, after compilation."""
    warnings.simplefilter("ignore")
    X, graph = draw(task.family, task.seed)
    learner = STUDIES[task.study].learner
    if is_first(task.study, task.family):
        learner(random_state=0, verbose=False, epochs=1).fit(X)
    model = learner(**task.parameters, random_state=task.seed, verbose=False)
    begin = time.process_time()
    model.fit(X)
    seconds = time.process_time() - begin
    return Fit(task, metrics.evaluate(graph, model.adjacency_, threshold=0.0)["nhd"], seconds)


def score(
    name: str, size: Size, rules: Sequence[str], first: int, jobs: int
) -> dict[str, list[Fit]]:
    """Fit some rules, each to the same tables."""
    study = STUDIES[name]
    parameters, seeds = study.rules(size), range(first, first + size.tables)
    tasks = [
        Task(name, rule, parameters[rule], family, seed)
        for rule, family, seed in product(rules, study.families(size), seeds)
    ]
    found: dict[str, list[Fit]] = {rule: [] for rule in rules}
    for one in in_processes(fit, tasks, jobs):
        found[one.task.rule].append(one)
    return found


def rows(learner: str, size: Size, found: Mapping[str, list[Fit]]) -> list[list[object]]:
    """One row per rule: NHD, its difference from the default's, and time relative to it."""
    made: list[list[object]] = []
    usual = found[DEFAULT]
    for name, fits in found.items():
        differences = [f.nhd - u.nhd for f, u in zip(fits, usual, strict=True)]
        share = np.mean([f.seconds for f in fits]) / np.mean([u.seconds for u in usual])
        nhd = with_error([f.nhd for f in fits], 3)
        apart = with_error(differences, 3)
        made.append(
            [learner, size.variables, size.rows, name, nhd, apart, f"{share:.2f}", len(fits)]
        )
    return made


def best(found: Mapping[str, list[Fit]], count: int = 2) -> list[str]:
    """Return the names of the default and of the other rules with the fewest errors."""
    others = sorted(
        (name for name in found if name != DEFAULT),
        key=lambda name: np.mean([fit.nhd for fit in found[name]]),
    )
    return [DEFAULT, *others[:count]]


COLUMNS = ["learner", "d", "n", "rule", "NHD", "minus the default's", "time, share", "tables"]


def page(searched: list[list[object]], validated: list[list[object]]) -> str:
    """Write the results so far."""
    return "\n".join(
        [
            header("Defaults of `Cosmo()` and `CosmoMLP()`, judged by refined graphs"),
            "Mean ± standard error; differences are paired. Processor seconds of single fits, one",
            "thread each.",
            "",
            "## The default and the two best rules, on fresh graphs",
            "",
            table(COLUMNS, validated),
            "## Searched",
            "",
            table(COLUMNS, searched),
        ]
    )


def main() -> None:
    """Search, validate, and write the page after each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", nargs="*", default=list(STUDIES), choices=list(STUDIES))
    parser.add_argument("--sizes", type=int, nargs="*", help="numbers of variables")
    parser.add_argument("--noises", nargs="*", help="only these kinds of noise")
    parser.add_argument("--only", nargs="*", help="rules to fit to fresh graphs, without a search")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    if options.noises:
        STUDIES.update({n: replace(s, noises=options.noises) for n, s in STUDIES.items()})
    searched: list[list[object]] = []
    validated: list[list[object]] = []
    for name, size in [(n, size) for n in options.learners for size in STUDIES[n].sizes]:
        if options.sizes and size.variables not in options.sizes:
            continue
        names = [DEFAULT, *(options.only or ())]
        if not options.only:
            found = score(name, size, list(STUDIES[name].rules(size)), FIRST_SEED, options.jobs)
            searched += rows(name, size, found)
            names = best(found)
            print(*searched[-len(found) :], sep="\n", flush=True)
        validated += rows(name, size, score(name, size, names, FRESH_SEED, options.jobs))
        print(*validated[-len(names) :], sep="\n", flush=True)
        if options.output:
            options.output.write_text(page(searched, validated), encoding="utf-8")


if __name__ == "__main__":
    main()
