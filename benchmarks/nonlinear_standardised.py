"""`CosmoMLP()` on the paper's non-linear tables: raw, standardised, and in random units.

python benchmarks/nonlinear_standardised.py --jobs 16 --tables 10 \
    --output benchmarks/nonlinear_standardised.md

`--devices cpu gpu` times training by both losses on these devices instead, in this process.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

FIRST_SEED = 600_000
FAMILIES = {
    "n1000_d20_ER4_mlp": 1.0,
    "n1000_d20_SF4_mlp": 1.3,
    "n1000_d40_ER4_mlp": 1.4,
    "n1000_d40_SF4_mlp": 1.8,
}
"""Families, and the NHD aimed at after standardising."""
UNITS = ("raw", "standardised", "random units")
EVIDENCE_ROWS, EVIDENCE_STEPS = 500, 40
EPOCHS = 400
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PAGE = """
Wrong arcs per variable (NHD), mean ± standard error; the empty graph has 4. In random units every
standardised column is multiplied by a power of two between 1/64 and 64. *Evidence*: mean log
evidence of the graph that was found less that of the true graph, by Gaussian processes on 500 rows,
less 3 nats for each arc: if it is negative, the search is the limit; if it is positive, the score.

"""


class Fit(NamedTuple):
    """What one fit gave."""

    nhd: float
    loss: str
    advantage: float
    seconds: float
    arcs: bytes


def in_units(X: Any, units: str, seed: int) -> Any:
    """Give a table in one of `UNITS`."""
    import numpy as np

    if units == "raw":
        return X
    factors = 2.0 ** np.random.default_rng(seed).integers(-6, 7, X.shape[1])
    standardised = X / X.std(axis=0)
    return standardised * factors if units == "random units" else standardised


def measure(task: tuple[str, int, str]) -> Fit:
    """Fit one table."""
    import numpy as np

    from cosmodag import CosmoMLP, metrics, simulate

    family, seed, units = task
    data = simulate.load(family, seed=seed)
    table = in_units(data.X, units, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What is compiled or imported at first use is not the time of a fit.
        CosmoMLP(epochs=1, loss="likelihood", verbose=False).fit(table[:100, :5])
        begin = time.process_time()
        model = CosmoMLP(random_state=0, verbose=False, device="cpu").fit(table)
        seconds = time.process_time() - begin
    truth, found = np.asarray(data.graph) != 0, np.asarray(model.adjacency_) != 0
    nhd = float(metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["nhd"])
    advantage = evidence(table, found) - evidence(table, truth)
    print(f"{family}, {seed}, {units}: NHD {nhd:.2f}, {model.loss_}, evidence {advantage:+.0f}, "
          f"{seconds:.0f} CPU s", file=sys.stderr, flush=True)  # fmt: skip
    return Fit(nhd, model.loss_, advantage, seconds, found.tobytes())


def evidence(X: Any, adjacency: Any) -> float:
    """Log evidence of a graph, less the price of its arcs."""
    import numpy as np

    from cosmodag.refinement.networks.families import Families, SearchEffort
    from cosmodag.refinement.networks.problem import NetworkProblem

    problem = NetworkProblem.of(X, np.arange(len(adjacency)))
    families = Families(problem, SearchEffort(rows=EVIDENCE_ROWS, steps=EVIDENCE_STEPS))
    return -families.total(families.of(adjacency))


def accuracy(options: argparse.Namespace) -> str:
    """Measure all tables, and write the section."""
    import numpy as np

    from environment import in_processes, table, verdict, with_error

    families = [
        name for name in FAMILIES if f"_d{options.variables}_" in name or not options.variables
    ]
    seeds = range(FIRST_SEED, FIRST_SEED + options.tables)
    tasks = [(name, seed, units) for seed in seeds for units in UNITS for name in families]
    fits = dict(zip(tasks, in_processes(measure, tasks, options.jobs), strict=True))
    rows: list[list[object]] = []
    for name in families:
        for units in UNITS:
            found = [fits[name, seed, units] for seed in seeds]
            nhd = [one.nhd for one in found]
            aim, met = f"≤ {FAMILIES[name]:.1f}", verdict(float(np.mean(nhd)) <= FAMILIES[name])
            if units == "raw":
                aim = met = ""
            same = sum(
                fits[name, seed, units].arcs == fits[name, seed, "standardised"].arcs
                for seed in seeds
            )
            rows.append(
                [
                    name,
                    units,
                    len(found),
                    with_error(nhd),
                    aim,
                    met,
                    sum(one.loss == "likelihood" for one in found),
                    with_error([one.advantage for one in found], 0),
                    f"{np.median([one.seconds for one in found]):.1f}",
                    same if units == "random units" else "",
                ]
            )
    columns = ["data", "units", "tables", "NHD", "aim", "", "by likelihood", "evidence"]
    return PAGE + table([*columns, "CPU s", "arcs as standardised"], rows)


def times(options: argparse.Namespace) -> str:
    """Time training by both losses, compiled before, and write the section."""
    import numpy as np

    from cosmodag import CosmoMLP, simulate
    from environment import table, verdict

    rows: list[list[object]] = []
    for device in options.devices:
        clock = time.process_time if device == "cpu" else time.perf_counter
        for d in (20, 100):
            X = simulate.load(f"n1000_d{d}_ER4_mlp", seed=FIRST_SEED).X
            X = X / X.std(axis=0)
            seconds: dict[str, list[float]] = {"squared-error": [], "likelihood": []}
            backends = []
            for repeat in range(4):
                for loss, own in seconds.items():
                    model = CosmoMLP(
                        loss=loss, refine=None, epochs=EPOCHS, device=device, verbose=False
                    )
                    begin = clock()
                    model.fit(X)
                    if repeat:
                        own.append(clock() - begin)
                    else:
                        backends.append(model.backend_)
            squared, likelihood = (float(np.median(own)) for own in seconds.values())
            ratio = likelihood / squared
            shown = [f"{number:.2f}" for number in (squared, likelihood, ratio)]
            rows.append([device, ", ".join(backends), d, *shown, verdict(ratio <= 1.5)])
    columns = ["device", "backends", "d", "squared error s", "likelihood s", "ratio", "≤ 1.5"]
    return f"\n## Time of {EPOCHS} epochs\n\n" + table(columns, rows)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--variables", type=int, default=None, help="only families of this size")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--devices", nargs="+", choices=("cpu", "gpu"), default=[])
    options = parser.parse_args()
    # Workers inherit these: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from environment import header

    section = times(options) if options.devices else accuracy(options)
    page = header("Non-linear tables in any units") + section
    if options.output is None:
        print(page)
    else:
        options.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
