"""Baselines without learning on the paper's simulated data, raw and standardised.

    python benchmarks/baselines.py --output benchmarks/baselines.md

Every learner sees the same graphs and data: ER4 and SF4 with three kinds of noise, n = 1000. The
last row is not a learner: it regresses on the true order, and shows how much the order alone tells.
COSMO's row is the optimised weights without refinement (2000 epochs, raw weights).
"""

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cosmodag import (
    Cosmo,
    EmptyGraph,
    EqualVariance,
    R2Sort,
    RandomSort,
    VarianceSort,
    metrics,
    simulate,
)
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.dags import topological_order
from cosmodag.learners.regression import regress_on_predecessors
from environment import header, table

FAMILIES = [f"{graph}_{noise}" for graph in ("ER4", "SF4") for noise in ("gauss", "exp", "gumbel")]
SIZES = (30, 100)
SCALES = ("raw", "standardised")
MEASURES = {"auc": ".3f", "nhd": ".2f", "shd": ".0f"}
ORACLE = "(the true order)"
FIRST_SEED = 80_000


class Result(NamedTuple):
    """Result of one learner on one table."""

    d: int
    family: str
    scale: str
    learner: str
    scores: dict[str, float]
    seconds: float


Groups = dict[tuple[int, str, str, str], list[Result]]


def measure(task: tuple[int, str, int]) -> list[Result]:
    """Fit every learner to one data set, raw and standardised."""
    d, family, seed = task
    data = simulate.load(f"n1000_d{d}_{family}", seed=seed)
    raw = data.X - data.X.mean(axis=0)
    results = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", CosmodagWarning)
        for scale, X in zip(SCALES, (raw, raw / raw.std(axis=0)), strict=True):
            for learner, weights, seconds in estimates(X, data.graph, seed):
                scores = metrics.evaluate(data.graph, weights)
                results.append(Result(d, family, scale, learner, scores, seconds))
    return results


def estimates(
    X: np.ndarray, graph: np.ndarray, seed: int
) -> Iterator[tuple[str, np.ndarray, float]]:
    """Name, weights and processor seconds of each learner, and of the true order."""
    learners = [
        EmptyGraph(),
        RandomSort(random_state=seed),
        VarianceSort(),
        R2Sort(),
        EqualVariance(),
        Cosmo(epochs=2000, refine=None, random_state=seed, verbose=False, device="cpu"),
    ]
    for learner in learners:
        start = time.process_time()
        weights = learner.fit(X).raw_weights_
        yield type(learner).__name__, weights, time.process_time() - start
    start = time.process_time()
    weights = regress_on_predecessors(X, topological_order(graph))
    yield ORACLE, weights, time.process_time() - start


def grouped(results: Iterable[Result]) -> Groups:
    """Group results by size, family, scale and learner."""
    groups: Groups = defaultdict(list)
    for result in results:
        groups[result.d, result.family, result.scale, result.learner].append(result)
    return groups


def spread(results: list[Result], key: str) -> str:
    """Mean ± sample standard deviation over graphs."""
    values = np.array([result.scores[key] for result in results])
    style = MEASURES[key]
    return f"{values.mean():{style}} ± {values.std(ddof=1):{style}}"


def summary(groups: Groups, learners: list[str]) -> str:
    """Tabulate AUC and NHD of each learner over all families, and its time."""
    columns = ["", *(f"d={d}, {scale}" for d in SIZES for scale in SCALES)]
    columns += [f"median s, d={d}" for d in SIZES]
    rows = []
    for learner in learners:
        row: list[object] = [learner]
        for d, scale in product(SIZES, SCALES):
            results = [r for family in FAMILIES for r in groups[d, family, scale, learner]]
            auc, nhd = (np.mean([r.scores[key] for r in results]) for key in ("auc", "nhd"))
            row.append(f"{auc:.3f} ({nhd:.2f})")
        for d in SIZES:
            found = [
                r
                for (size, *_, name), rs in groups.items()
                for r in rs
                if (size, name) == (d, learner)
            ]
            row.append(f"{np.median([r.seconds for r in found]):.2f}")
        rows.append(row)
    return table(columns, rows)


def details(groups: Groups, learners: list[str], d: int) -> str:
    """Tabulate every measure of every learner on every family of one size."""
    columns = ["data", "learner"]
    columns += [f"{key.upper()}, {scale}" for scale in SCALES for key in MEASURES]
    return table(
        columns,
        [
            [family, learner]
            + [
                spread(groups[d, family, scale, learner], key)
                for scale in SCALES
                for key in MEASURES
            ]
            for family in FAMILIES
            for learner in learners
        ],
    )


def page(results: list[Result], graphs: int) -> str:
    """Write all tables as Markdown."""
    groups = grouped(results)
    learners = list(dict.fromkeys(result.learner for result in results))
    text = header("Baselines", ("numpy", "scipy", "scikit-learn", "jax", "numba"))
    text += (
        f"\nn = 1000, {graphs} graphs of each kind; raw weights over all d² entries, arcs above "
        "0.3; a reversed arc costs 2 in NHD and 1 in SHD. Standardised data have columns of unit "
        "variance.\n\n## AUC (NHD), mean over the six kinds of data\n\n"
    )
    text += summary(groups, learners)
    text += "\nSeconds are processor time of one thread.\n"
    for d in SIZES:
        text += f"\n## d = {d}\n\nMean ± sample standard deviation over graphs.\n\n"
        text += details(groups, learners, d)
    return text


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    kinds = list(product(SIZES, FAMILIES))
    # Every family has its own seeds: a seed gives the same graph for every kind of noise.
    tasks = [
        (d, family, FIRST_SEED + 1000 * place + graph)
        for place, (d, family) in enumerate(kinds)
        for graph in range(options.graphs)
    ]
    results: list[Result] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done, found in enumerate(pool.map(measure, tasks), start=1):
            results += found
            if done % options.graphs == 0:
                print(f"{done} of {len(tasks)} data sets", flush=True)
    text = page(results, options.graphs)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
