"""Background knowledge: whether every learner obeys it, and how much it improves graphs.

    python benchmarks/knowledge.py --jobs 16 --output benchmarks/knowledge.md

1. *Violations*: random tables of 3 to 6 variables, and some of 30, each with random knowledge that
   some graph satisfies but that is unrelated to the data. Every learner of the registry is fitted
   with the quick settings of the tests, and once more with refinement if it has the choice.
   `tests/random_knowledge.py` defines violations, without any code of the library.
2. *Accuracy*: graphs with 200 rows, with the true tiers in three layers, in the data's own units
   and standardised; for comparison, with the whole true order, the most that tiers can tell.
3. *Time*: the same fit with and without tiers, at several sizes.
4. *Ranking*: AUC of COSMO's optimised weights with some true arcs known, where training keeps the
   priorities of a known arc one shift apart, as the package does, or three.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from cosmodag import Cosmo, Knowledge, OrderSearch, metrics, simulate
from cosmodag.cli.terminal.cache_folder import keep_compiled_programs
from cosmodag.fit.dag.known import Known
from cosmodag.graph.dags import topological_order
from environment import header, table, verdict, with_error

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from learner_catalogue import CATALOGUE
from random_knowledge import random_knowledge, violations

FIRST_SEED = 95_000
SIZES = (30, 100)
UNITS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "own units": lambda X: X,
    "standardised": lambda X: X / X.std(axis=0),
}


def learners_for(d: int) -> dict[str, Any]:
    """Every learner; those that have `refine` also with refinement."""
    made = {name: make() for name, make in CATALOGUE.items()}
    for name in list(made):
        known = made[name].get_params()
        if known.get("refine", "no such parameter") is None:
            networks = "MLP" in name
            for method in ("prune",) if networks else ("prune", "order"):
                made[f"{name}, {method}"] = CATALOGUE[name]().set_params(refine=method)
    if d > 6:  # small limits, so that thirty variables take no longer than six
        for model in made.values():
            if "max_iter" in model.get_params():
                model.set_params(max_iter=min(model.max_iter, 200))
    return made


def check_one(seed: int, d: int | None = None) -> tuple[int, list[str]]:
    """Fit every learner to one table; return the number of fits and the violations."""
    warnings.simplefilter("ignore")
    random = np.random.default_rng(seed)
    d = int(random.integers(3, 7)) if d is None else d
    names = [f"v{k}" for k in range(d)]
    mixing = np.triu(random.normal(size=(d, d)) * (random.random((d, d)) < 4 / d), 1) + np.eye(d)
    rows = random.normal(size=(80, d)) @ mixing
    frame = pd.DataFrame(rows[:, random.permutation(d)], columns=names)
    known = random_knowledge(names, random)
    found = []
    learners = learners_for(d)
    for name, model in learners.items():
        model.set_params(knowledge=known).fit(frame)
        found += [f"table {seed}, {name}: {what}" for what in violations(model, known)]
    return len(learners), found


def true_tiers(graph: np.ndarray, layers: int = 3) -> Knowledge:
    """Cut a causal order of the true graph into layers."""
    order = topological_order(graph)
    return Knowledge(tiers=[part.tolist() for part in np.array_split(order, layers)])


def accuracy_one(seed: int) -> dict[str, float]:
    """Return the NHD of two learners with and without tiers, in own units and standardised."""
    warnings.simplefilter("ignore")
    data = simulate.load("n200_d30_ER4_gauss", seed=seed)
    found = {}
    tiers, order = true_tiers(data.graph), true_tiers(data.graph, layers=len(data.graph))
    for units, X in UNITS.items():
        for label, given in (("without", None), ("with", tiers), ("order", order)):
            for learner in (Cosmo, OrderSearch):
                model = learner(knowledge=given, random_state=seed).fit(X(data.X))
                scores = metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)
                found[f"{learner.__name__}(), {units}, {label}"] = scores["nhd"]
    return found


def seconds(name: str, layers: int, units: str, learner: Any) -> tuple[float, float]:
    """Mean seconds of fits without and with tiers, five graphs; a first fit is not timed."""
    warnings.simplefilter("ignore")
    taken: list[list[float]] = [[], []]
    for seed in range(FIRST_SEED, FIRST_SEED + 5):
        data = simulate.load(name, seed=seed)
        X = UNITS[units](data.X)
        for times, given in zip(taken, (None, true_tiers(data.graph, layers)), strict=True):
            model = learner(knowledge=given, random_state=0, verbose=False)
            if not times:
                model.fit(X)
            begin = time.perf_counter()
            model.fit(X)
            times.append(time.perf_counter() - begin)
    return float(np.mean(taken[0])), float(np.mean(taken[1]))


def ranking_one(seed: int, known: int) -> dict[str, float]:
    """AUC of optimised weights without and with known arcs, one and three shifts apart."""
    warnings.simplefilter("ignore")
    data = simulate.load("n1000_d30_ER4_gauss", seed=seed)
    arcs = np.argwhere(data.graph)
    drawn = np.random.default_rng(seed).permutation(len(arcs))[:known]
    given = Knowledge(required_edges=arcs[drawn].tolist())
    shortest = Known.gaps.fget
    assert shortest is not None
    found = {}
    for label, knowledge, shifts in (("none", None, 1), ("one", given, 1), ("three", given, 3)):
        longer = property(lambda of, k=shifts: None if of.bounds is None else k * shortest(of))
        with patch.object(Known, "gaps", longer):
            model = Cosmo(epochs=2000, refine=None, knowledge=knowledge, random_state=seed)
            model.fit(data.X)
        found[label] = metrics.evaluate(data.graph, model.raw_weights_)["auc"]
    return found


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--large", type=int, default=20, help="number of tables of 30 variables")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument(
        "--known", type=int, default=20, help="number of known arcs, of 120; 0 skips the section"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    text = header("Knowledge")
    # All processes share the compiled programs, of which each shape and learner needs one.
    keep_compiled_programs()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        if options.tables or options.large:
            text += violation_section(pool, options.tables, options.large)
        if options.graphs:
            text += accuracy_section(pool, options.graphs)
        if options.known:
            text += ranking_section(pool, options.known)
    if options.sizes:
        text += time_section(options.sizes)
    print(text)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


def violation_section(pool: ProcessPoolExecutor, small: int, large: int) -> str:
    """Tabulate the number of violations."""
    rows = []
    for label, count, d in (("3 to 6 variables", small, None), ("30 variables", large, 30)):
        results = []
        for one in pool.map(partial(check_one, d=d), range(count)):
            results.append(one)
            print(f"\r{label}: {len(results)} of {count}", end="", file=sys.stderr, flush=True)
        found = [what for _, some in results for what in some]
        print(*found, sep="\n", flush=True)
        fits = sum(number for number, _ in results)
        rows.append([label, count, fits, len(found), verdict(not found)])
    columns = ["tables", "number", "fits", "violations", "target: none"]
    return f"\n## Every learner, random knowledge\n\n{table(columns, rows)}"


def accuracy_section(pool: ProcessPoolExecutor, graphs: int) -> str:
    """Tabulate NHD with and without tiers."""
    seeds = range(FIRST_SEED, FIRST_SEED + graphs)
    found = list(pool.map(accuracy_one, seeds))
    rows = []
    for learner in ("Cosmo()", "OrderSearch()"):
        for units in ("own units", "standardised"):
            without = [one[f"{learner}, {units}, without"] for one in found]
            given = [one[f"{learner}, {units}, with"] for one in found]
            ordered = [one[f"{learner}, {units}, order"] for one in found]
            fall = 1 - np.mean(given) / np.mean(without)
            target = learner == "Cosmo()" and units == "own units"
            rows.append(
                [
                    f"`{learner}`, {units}",
                    with_error(without, 3),
                    with_error(given, 3),
                    f"{100 * fall:.0f}%",
                    verdict(fall >= 1 / 3) if target else "",
                    with_error(ordered, 3),
                ]
            )
    columns = ["learner", "NHD without", "NHD with tiers", "falls by", "target: a third"]
    columns.append("NHD with the whole order")
    return (
        f"\n## True tiers in three layers, {graphs} graphs of n200_d30_ER4_gauss\n\n"
        f"{table(columns, rows)}"
    )


def ranking_section(pool: ProcessPoolExecutor, known: int, graphs: int = 20) -> str:
    """Tabulate the AUC with and without known arcs."""
    seeds = range(FIRST_SEED, FIRST_SEED + graphs)
    found = list(pool.map(partial(ranking_one, known=known), seeds))
    cells = [with_error([one[label] for one in found], 3) for label in ("none", "one", "three")]
    columns = ["nothing known", "known, one shift apart", "known, three shifts apart"]
    return (
        f"\n## AUC of COSMO's optimised weights, {known} true arcs known, {graphs} graphs of "
        f"n1000_d30_ER4_gauss\n\n{table(columns, [cells])}"
    )


def time_section(sizes: list[int]) -> str:
    """Tabulate seconds with and without tiers."""
    rows = []
    for d, units, learner in product(sizes, UNITS, (Cosmo, OrderSearch)):
        for layers in (3, 10):
            without, given = seconds(f"n1000_d{d}_ER4_gauss", layers, units, learner)
            ratio = f"{without / given:.1f}"
            name = f"`{learner.__name__}()`, {units}"
            rows.append([name, d, layers, f"{without:.3f}", f"{given:.3f}", ratio])
            print(rows[-1], flush=True)
    columns = ["learner", "variables", "tiers", "s without", "s with", "ratio"]
    return f"\n## Time, 1,000 rows, ER4, means of five graphs\n\n{table(columns, rows)}"


if __name__ == "__main__":
    main()
