"""Accuracy of NOTEARS, DAGMA and NOCURL: as their authors have them, and as the paper ran them.

    python benchmarks/constrained.py --variant original --output benchmarks/constrained.md
    python benchmarks/constrained.py --variant paper --output benchmarks/constrained_paper.md

The originals are fitted one after another with their defaults, and NOTEARS also with the λ₁ of its
authors' examples, on graphs on which no default was chosen. The paper's variants take the
hyper-parameters that the paper's search selected for each data set, and all graphs of both data
sets are solved in one batch a method, on the CPU or on a GPU (``--device gpu``). They are compared
with the paper's figures by standard errors of the difference, √(s₁²/n₁ + s₂²/n₂), s the sample
standard deviations over graphs. NOTEARS takes some 18 problems of 5000 epochs; ``--epochs`` caps
them all, and the table says so.
"""

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosmodag import Dagma, NoCurl, Notears, metrics, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.learners.constrained import ConstrainedLearner
from cosmodag.solver.many import solve_many
from cosmodag.solver.watch import Watch
from environment import header, table

FIRST_SEED = 60_000
DATA = ("n1000_d30_ER4_gauss", "n1000_d30_SF4_gauss")
BARS = {"Dagma()": "≥ 0.985, NHD ≤ 0.7", "Notears()": "≥ 0.97", "NoCurl()": "≥ 0.94"}


class Published(NamedTuple):
    """What the paper selected for one data set, and what it reports."""

    learning_rate: float
    lambda1: float
    auc: float
    auc_deviation: float
    nhd: float
    runs: int


class Method(NamedTuple):
    """A learner as the paper ran it, with its figures for each of `DATA`."""

    learner: type[ConstrainedLearner]
    options: dict[str, Any]
    published: tuple[Published, Published]


METHODS = {
    "dagma": Method(
        Dagma,
        {},
        (
            Published(2.098e-4, 2.194e-3, 0.9853, 0.0134, 0.7067, 5),
            Published(6.04e-4, 5.556e-4, 0.9959, 0.0055, 0.36, 5),
        ),
    ),
    "nocurl": Method(
        NoCurl,
        {},
        (
            Published(7.994e-4, 1.266e-3, 0.9669, 0.0083, 1.6533, 5),
            Published(5.953e-4, 5.588e-3, 0.9828, 0.0138, 0.9667, 5),
        ),
    ),
    "nocurl-u": Method(
        NoCurl,
        {"joint": True},
        (
            Published(2.509e-4, 5.798e-4, 0.694, 0.0591, 5.6233, 10),
            Published(1.311e-4, 1.228e-4, 0.7415, 0.0822, 4.41, 10),
        ),
    ),
    "notears": Method(
        Notears,
        {},
        (
            Published(2.73e-4, 2.216e-4, 0.9726, 0.0203, 0.9133, 5),
            Published(3.645e-4, 8.433e-4, 0.9841, 0.016, 0.5533, 5),
        ),
    ),
}
ORIGINALS: dict[str, ConstrainedLearner] = {
    "Dagma()": Dagma(),
    "Notears()": Notears(),
    "Notears(lambda1=0.1)": Notears(lambda1=0.1),
    "Notears(constraint='truncated')": Notears(constraint="truncated"),
    "Notears(constraint='spectral')": Notears(constraint="spectral"),
    "NoCurl()": NoCurl(),
}


def graphs_of(name: str, count: int) -> Iterator[simulate.Dataset]:
    """Fresh graphs and data of one kind."""
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        yield simulate.load(name, seed=seed)


def spread(values: np.ndarray, digits: int = 4) -> str:
    """Mean ± sample standard deviation."""
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}"


def measure_original(learner: ConstrainedLearner, name: str, count: int) -> list[object]:
    """One line of the table of originals."""
    scores, seconds, repairs = [], [], 0
    for data in graphs_of(name, count):
        begin = time.perf_counter()
        model = learner.fit(data.X)
        seconds.append(time.perf_counter() - begin)
        scores.append(metrics.evaluate(data.graph, model.raw_weights_))
        repairs += model.was_cyclic_
    auc, nhd, tpr = (np.array([s[key] for s in scores]) for key in ("auc", "nhd", "tpr"))
    return [spread(auc), spread(nhd, 2), spread(tpr, 3), repairs, f"{np.median(seconds):.1f}"]


def originals(options: argparse.Namespace) -> str:
    """Measure every original on every data set."""
    rows: list[list[object]] = []
    for name in DATA:
        for label, learner in ORIGINALS.items():
            bar = BARS.get(label, "") if "ER4" in name else ""
            rows.append([name, label, *measure_original(learner, name, options.graphs), bar])
            print(rows[-1], flush=True)
    columns = ["data", "learner", "AUC", "NHD", "TPR", "repairs", "median s", "bar (AUC)"]
    return f"\n{options.graphs} graphs each, defaults, one thread.\n\n" + table(columns, rows)


def compare(name: str, found: list[dict[str, float]], paper: Published) -> list[object]:
    """One line of the table of the paper's variants."""
    auc, nhd = (np.array([scores[key] for scores in found]) for key in ("auc", "nhd"))
    error = math.sqrt(auc.var(ddof=1) / len(auc) + paper.auc_deviation**2 / paper.runs)
    return [
        name,
        spread(auc),
        f"{paper.auc:.4f} ± {paper.auc_deviation:.4f} ({paper.runs})",
        f"{(auc.mean() - paper.auc) / error:+.2f}",
        spread(nhd, 2),
        f"{paper.nhd:.2f}",
    ]


def solve_batch(
    method: Method, options: argparse.Namespace
) -> tuple[list[list[dict[str, float]]], float, str]:
    """Scores of every graph of every data set, seconds, and how it ended."""
    problems, truths = [], []
    for name, paper in zip(DATA, method.published, strict=True):
        learner = method.learner(
            variant="paper",
            epochs=options.epochs,
            learning_rate=paper.learning_rate,
            lambda1=paper.lambda1,
            **method.options,
        )
        for place, data in enumerate(graphs_of(name, options.graphs)):
            centred = (data.X - data.X.mean(axis=0)).astype(np.float32)
            problems.append(learner.problem_for(centred, FIRST_SEED + place))
            truths.append(data.graph)
    solver = learner.solver_for(problems[0].data.shape[1])
    begin = time.perf_counter()
    with Watch(18 * options.epochs * len(problems), "batch", options.max_time) as watch:
        found = dict(solve_many(solver, problems, device=options.device, watch=watch))
    seconds = time.perf_counter() - begin
    scores = [
        metrics.evaluate(truth, np.asarray(solver.read_out(found[place].parameters), np.float64))
        for place, truth in enumerate(truths)
    ]
    solutions = [found[place] for place in range(len(problems))]
    rounds = max(len(solution.history) for solution in solutions)
    ended = f"{solutions[0].epochs} epochs, {rounds} records, stopped: {solutions[0].stopped}"
    for key in ("acyclicity", "accepted"):
        if key in solutions[0].history[-1]:
            ended += f", last {key} at most {max(s.history[-1][key] for s in solutions):.2g}"
    per = options.graphs
    return [scores[begin : begin + per] for begin in range(0, len(scores), per)], seconds, ended


def papers(options: argparse.Namespace) -> str:
    """Measure the paper's variants, one batch a method."""
    rows: list[list[object]] = []
    notes = ""
    for label in options.methods:
        method = METHODS[label]
        groups, seconds, ended = solve_batch(method, options)
        for name, scores, paper in zip(DATA, groups, method.published, strict=True):
            rows.append([label, *compare(name, scores, paper)])
            print(rows[-1], flush=True)
        notes += f"- {label}: {len(DATA) * options.graphs} fits in {seconds:.0f} s; {ended}\n"
        print(notes, flush=True)
    columns = ["method", "data", "AUC here", "AUC in the paper", "difference / its s.e."]
    text = f"\n{options.graphs} graphs each, {options.epochs} epochs a problem (paper: 5000).\n\n"
    return text + table([*columns, "NHD here", "NHD in the paper"], rows) + "\n" + notes


def main() -> None:
    """Measure and write the table of one variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", choices=["original", "paper"], default="original")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=5000)
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="auto")
    parser.add_argument("--max-time", type=float, default=None, help="seconds for each batch")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    measured = originals if options.variant == "original" else papers
    text = header(f"Constrained methods, {options.variant} variants") + measured(options)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
