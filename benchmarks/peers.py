"""Learners of this package and of other packages, on the same tables, in one run.

    pip install -r benchmarks/requirements-peers.txt
    python benchmarks/peers.py --output benchmarks/peers.md
    python benchmarks/peers.py --sections units non-gaussian --graphs 3

Sections: `dagma` compares linear DAGMA with its authors' package; `units`, on tables in arbitrary
units, the order search with causal-learn's BOSS; `non-gaussian`, on standardised tables, the order
search with DirectLiNGAM. A fit of another table comes first, so that compilation is not timed.
"""

import argparse
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cosmodag import Cosmo, OrderSearch, metrics, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.equivalence import essential_graph
from environment import header, standardised, table, verdict, with_error
from peers_dagma import dagma_section

FIRST_SEED = 520_000
PENALTIES = (0.5, 1.0, 2.0)
UNIT_SIZES = (50, 100)
NON_GAUSSIAN = tuple(
    f"n1000_{kind}_{noise}" for kind in ("d20_ER2", "d30_ER4") for noise in ("gumbel", "exp")
)


def in_arbitrary_units(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table: small coefficients, noise from 0.1 to 10, columns times 10^U(−3, 3)."""
    rng = np.random.default_rng(seed)
    graph = simulate.erdos_renyi(d, 2 * d, rng)
    weights = simulate.random_weights(graph, rng, 0.1, 1.0)
    scales = np.exp(rng.uniform(np.log(0.1), np.log(10), d))
    X = simulate.sample_linear(weights, 1000, rng, scales=scales)
    return X * 10 ** rng.uniform(-3, 3, d), graph.toarray() != 0


def boss_class(X: np.ndarray, penalty: float, seed: int) -> np.ndarray:
    """Fit causal-learn's BOSS; return its class, with [u, v] and [v, u] for a reversible arc.

    Columns are standardised: its score does not depend on units, but its matrix inverses lose
    digits in arbitrary units.
    """
    from causallearn.search.PermutationBased.BOSS import boss

    random.seed(seed)  # BOSS shuffles with it
    found = boss(standardised(X), parameters={"lambda_value": penalty}, verbose=False)
    return np.asarray(found.graph) == -1


def class_of(model: OrderSearch | Cosmo, X: np.ndarray) -> np.ndarray:
    """Fit a learner of this package; return the class of its graph."""
    return essential_graph(model.fit(X).adjacency_)


def marked_differently(first: np.ndarray, second: np.ndarray) -> int:
    """Structural Hamming distance between two classes: pairs of variables marked differently."""
    differs = first != second
    return int((differs | differs.T).sum()) // 2


class Found(NamedTuple):
    """Distance to the true class, and seconds, of one fit."""

    distance: int
    seconds: float


def measure_units(d: int, seed: int) -> tuple[dict[str, Found], bool]:
    """Fit all learners to one table; check that powers of two do not change OrderSearch's graph."""
    X, graph = in_arbitrary_units(d, seed)
    search = OrderSearch(random_state=seed)
    fits: dict[str, Callable[[], np.ndarray]] = {
        "OrderSearch()": lambda: class_of(search, X),
        'Cosmo(refine="order")': lambda: class_of(Cosmo(refine="order", random_state=seed), X),
    }
    for penalty in PENALTIES:
        fits[f"BOSS, penalty {penalty:g}"] = lambda penalty=penalty: boss_class(X, penalty, seed)
    results = {}
    for name, fit in fits.items():
        begin = time.perf_counter()
        found = fit()
        seconds = time.perf_counter() - begin
        results[name] = Found(marked_differently(essential_graph(graph), found), seconds)
        print(d, seed, name, results[name], flush=True)
    powers = 2.0 ** np.random.default_rng(seed).integers(-10, 11, d)
    again = OrderSearch(random_state=seed).fit(X * powers).adjacency_ != 0
    return results, bool(np.array_equal(again, search.adjacency_ != 0))


def units_section(graphs: int) -> str:
    """Write the section on tables in arbitrary units: distances between classes, and times."""
    text = (
        "\n## Tables in arbitrary units\n\nER2, n = 1000, coefficients ±U(0.1, 1), noise with a "
        f"standard deviation log-uniform in [0.1, 10], columns times 10^U(−3, 3); {graphs} graphs "
        "each. Structural Hamming distance between equivalence classes, mean ± standard error; "
        "BOSS is causal-learn's, on standardised columns; its best penalty has the lowest mean "
        "distance.\n"
    )
    for d in UNIT_SIZES:
        seeds = range(FIRST_SEED + d, FIRST_SEED + d + graphs)
        measured = [measure_units(d, seed) for seed in seeds]
        names = list(measured[0][0])
        distances = {n: np.array([one[n].distance for one, _ in measured]) for n in names}
        seconds = {n: np.array([one[n].seconds for one, _ in measured]) for n in names}
        best = min(names[2:], key=lambda name: distances[name].mean())
        rows: list[list[object]] = []
        for name in names:
            ratio = float(np.median(seconds[name] / seconds[best]))
            line = [name, with_error(distances[name]), f"{np.median(seconds[name]):.3f}"]
            line += [f"{ratio:.4f}"]
            if name in names[:2]:
                most = 1 / 50 if name == names[0] else 1.0
                line.append(verdict(bool(distances[name].mean() <= distances[best].mean())))
                line.append(f"≤ {most:g}: {verdict(ratio <= most)}")
            else:
                line += ["", ""]
            rows.append(line)
        same = sum(is_same for _, is_same in measured)
        columns = ["learner", "SHD of classes", "median s", "time / best BOSS"]
        columns += ["SHD ≤ best BOSS", "target for time"]
        text += (
            f"\n### d = {d}\n\n{table(columns, rows)}\nBest of BOSS: {best}. Columns times powers "
            f"of two: `OrderSearch` gave the same graph on {same} of {len(measured)} tables "
            f"(target: all; {verdict(same == len(measured))}).\n"
        )
    return text


def direct_lingam(X: np.ndarray) -> np.ndarray:
    """Fit DirectLiNGAM; [u, v] is the weight of u → v."""
    import lingam

    weights: np.ndarray = lingam.DirectLiNGAM().fit(X).adjacency_matrix_.T
    return weights


def measure_non_gaussian(name: str, seed: int) -> dict[str, tuple[float, float, float, str]]:
    """AUC, NHD, seconds and assumed noise of every learner on one standardised table."""
    data = simulate.load(name, seed=seed)
    X = standardised(data.X)
    models = {
        'OrderSearch(noise="non-gaussian")': OrderSearch(noise="non-gaussian", random_state=seed),
        'OrderSearch(noise="auto")': OrderSearch(random_state=seed),
        "Cosmo(refine=None)": Cosmo(refine=None, random_state=seed),
    }
    results = {}
    for label in (*models, "DirectLiNGAM"):
        model = models.get(label)
        begin = time.perf_counter()
        weights = direct_lingam(X) if model is None else model.fit(X).weights_
        seconds = time.perf_counter() - begin
        cut = 0.3 if label.startswith("Cosmo") else 0.0
        scores = metrics.evaluate(data.graph, weights, threshold=cut)
        picked = getattr(model, "noise_", "")
        results[label] = (scores["auc"], scores["nhd"], seconds, picked)
        print(name, seed, label, results[label], flush=True)
    return results


def non_gaussian_section(graphs: int) -> str:
    """Write the section on standardised tables with non-Gaussian noise."""
    rows: list[list[object]] = []
    for place, name in enumerate(NON_GAUSSIAN):
        first = FIRST_SEED + 1000 * (1 + place)
        measured = [measure_non_gaussian(name, seed) for seed in range(first, first + graphs)]
        peer = np.array([one["DirectLiNGAM"][2] for one in measured])
        for label in measured[0]:
            auc, nhd, seconds = np.array([one[label][:3] for one in measured], float).T
            ratio = float(np.median(seconds / peer))
            picked = [one[label][3] for one in measured]
            target = ""
            if label.endswith('"non-gaussian")'):
                target = verdict(bool(auc.mean() >= 0.98 and ratio <= 1))
            elif label.endswith('"auto")'):
                target = f"{picked.count('non-gaussian')} of {graphs} non-gaussian"
            line = [name, label, with_error(auc, 3), with_error(nhd), f"{np.median(seconds):.2f}"]
            rows.append([*line, f"{ratio:.2f}", target])
    columns = ["data", "learner", "AUC", "NHD", "median s", "time / DirectLiNGAM"]
    return (
        f"\n## Standardised, non-Gaussian noise\n\n{graphs} graphs each, n = 1000, columns of unit "
        "variance, so variances do not reveal directions. Arcs are the non-zero weights (COSMO's: "
        "above 0.3). Target: AUC ≥ 0.98, no slower than DirectLiNGAM.\n\n"
        + table([*columns, "target, or noise chosen"], rows)
    )


def warm_up() -> None:
    """Compile all programs on other tables."""
    X = standardised(simulate.load("n500_d10_ER1_exp", seed=0).X)
    OrderSearch(noise="non-gaussian", random_state=0).fit(X)
    OrderSearch(random_state=0).fit(X)
    for d in {*UNIT_SIZES, 20, 30}:
        Cosmo(epochs=1, refine=None).fit(in_arbitrary_units(d, 0)[0])
    Cosmo(epochs=1, refine="order", random_state=0).fit(in_arbitrary_units(10, 0)[0])


SECTIONS: dict[str, tuple[Callable[[int], str], int]] = {
    "dagma": (dagma_section, 5),
    "units": (units_section, 10),
    "non-gaussian": (non_gaussian_section, 10),
}
"""Sections, and the default number of graphs of each kind."""


def main() -> None:
    """Measure the requested sections and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sections", nargs="+", choices=[*SECTIONS], default=[*SECTIONS])
    parser.add_argument("--graphs", type=int, default=None, help="number of graphs of each kind")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    packages = ("dagma", "causal-learn", "lingam", "jax", "numba", "numpy", "scipy")
    text = header("Comparison with other packages", packages)
    warm_up()
    for name in options.sections:
        section, usual = SECTIONS[name]
        text += section(options.graphs or usual)
        if options.output:
            options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
