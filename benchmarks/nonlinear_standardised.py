"""`CosmoMLP()` on the paper's non-linear tables: raw, standardised, and in random units.

    python benchmarks/nonlinear_standardised.py --jobs 16 --tables 10 --variables 20 40 --resume
    python benchmarks/nonlinear_standardised.py --devices cpu gpu          the time of both losses

Each fit is written to `nonlinear_standardised.csv` when it ends, and the page summarises all fits
in that file; `--resume` skips those that it already holds. `--devices` instead times training by
both losses on the given devices, in this process.
"""

import argparse
import csv
import hashlib
import os
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FIRST_SEED = 600_000
FAMILIES = {
    "n1000_d20_ER4_mlp": 1.0,
    "n1000_d20_SF4_mlp": 1.3,
    "n1000_d40_ER4_mlp": 1.4,
    "n1000_d40_SF4_mlp": 1.8,
}
"""Families, and the target for the NHD of standardised tables."""
UNITS = ("raw", "standardised", "random units")
EVIDENCE_ROWS, EVIDENCE_STEPS = 500, 40
EPOCHS = 100
HERE = Path(__file__).parent
FITS = ("data", "seed", "units", "machine", "nhd", "loss", "evidence", "seconds", "arcs")
TIMES = ("device", "d", "backends", "epochs", "squared", "likelihood")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PAGE = """
Wrong arcs per variable (NHD), mean ± standard error; the empty graph has 4. In random units every
standardised column is multiplied by a power of two between 1/64 and 64. *Evidence*: log evidence
by Gaussian processes on 500 rows minus 3 nats per arc, of the found graph minus that of the true
graph (mean). A negative value means that the search missed a better graph, a positive value that
the score prefers a wrong one. If a table was measured on two machines, the last fit counts; arcs
are compared only between fits of one machine.

"""


def in_units(X: Any, units: str, seed: int) -> Any:
    """Convert a table to one of `UNITS`."""
    import numpy as np

    if units == "raw":
        return X
    factors = 2.0 ** np.random.default_rng(seed).integers(-6, 7, X.shape[1])
    standardised = X / X.std(axis=0)
    return standardised * factors if units == "random units" else standardised


def measure(task: tuple[str, int, str]) -> dict[str, object]:
    """Fit one table and return its row of the file."""
    import numpy as np

    from cosmodag import CosmoMLP, metrics, simulate
    from environment import machine

    family, seed, units = task
    data = simulate.load(family, seed=seed)
    table = in_units(data.X, units, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compilation and imports are not timed.
        CosmoMLP(epochs=1, loss="likelihood", verbose=False).fit(table[:100, :5])
        begin = time.process_time()
        model = CosmoMLP(random_state=0, verbose=False, device="cpu").fit(table)
        seconds = time.process_time() - begin
    truth, found = np.asarray(data.graph) != 0, np.asarray(model.adjacency_) != 0
    nhd = float(metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["nhd"])
    advantage = evidence(table, found) - evidence(table, truth)
    arcs = hashlib.sha256(np.packbits(found).tobytes()).hexdigest()[:12]
    figures = (f"{nhd:.4f}", model.loss_, f"{advantage:.2f}", f"{seconds:.2f}", arcs)
    return dict(zip(FITS, (family, seed, units, machine(), *figures), strict=True))


def evidence(X: Any, adjacency: Any) -> float:
    """Log evidence of a graph minus the penalty of its arcs."""
    import numpy as np

    from cosmodag.search.networks.families import Families, SearchEffort
    from cosmodag.search.networks.network_problem import NetworkProblem

    problem = NetworkProblem(X, np.arange(len(adjacency)))
    families = Families(problem, SearchEffort(rows=EVIDENCE_ROWS, steps=EVIDENCE_STEPS))
    return -families.total(families.of(adjacency))


def fit_tables(options: argparse.Namespace) -> None:
    """Measure the tables that are not in the file yet, the longest fits first."""
    from cosmodag.runtime.engines import Failure, each
    from environment import Kept, machine

    kept = Kept(options.output.with_suffix(".csv"), FITS, 4, options.resume)
    seeds = range(FIRST_SEED, FIRST_SEED + options.tables)
    families = [one for one in FAMILIES if _variables(one) in options.variables]
    families.sort(key=_variables, reverse=True)
    tasks = [
        (name, seed, units)
        for name in families
        for seed in seeds
        for units in options.units
        if not kept.is_done(name, seed, units, machine())
    ]
    for index, row in each(measure, tasks, jobs=None if options.jobs == 1 else options.jobs):
        if isinstance(row, Failure):
            raise RuntimeError(f"{tasks[index]}: {row.message}")
        kept.add(**row)


def _variables(family: str) -> int:
    return int(family.split("_")[1].removeprefix("d"))


def accuracy(lines: list[dict[str, str]]) -> str:
    """Write the section on accuracy."""
    import numpy as np

    from environment import table, verdict, with_error

    rows: list[list[object]] = []
    for name in FAMILIES:
        same = {
            (line["seed"], line["machine"]): line["arcs"]
            for line in lines
            if line["data"] == name and line["units"] == "standardised"
        }
        for units in UNITS:
            own = [one for one in lines if one["data"] == name and one["units"] == units]
            found = list({one["seed"]: one for one in own}.values())
            if not found:
                continue
            nhd = list(_column(found, "nhd"))
            aim, met = f"≤ {FAMILIES[name]:.1f}", verdict(float(np.mean(nhd)) <= FAMILIES[name])
            if units == "raw":
                aim = met = ""
            pairs = [(one["arcs"], same.get((one["seed"], one["machine"]))) for one in found]
            both = sum(arcs is not None for _, arcs in pairs)
            alike = sum(arcs == other for arcs, other in pairs)
            rows.append(
                [
                    name,
                    units,
                    len(found),
                    with_error(nhd),
                    aim,
                    met,
                    sum(one["loss"] == "likelihood" for one in found),
                    with_error(_column(found, "evidence"), 0),
                    f"{np.median(list(_column(found, 'seconds'))):.1f}",
                    f"{alike} of {both}" if units == "random units" else "",
                    "; ".join(dict.fromkeys(one["machine"] for one in found)),
                ]
            )
    columns = ["data", "units", "tables", "NHD", "aim", "", "by likelihood", "evidence"]
    return PAGE + table([*columns, "CPU s", "arcs as standardised", "machine"], rows)


def _column(lines: Iterable[dict[str, str]], name: str) -> Iterable[float]:
    return (float(line[name]) for line in lines)


def time_losses(options: argparse.Namespace) -> None:
    """Time training by both losses, after compilation."""
    import numpy as np

    from cosmodag import CosmoMLP, simulate
    from environment import Kept

    kept = Kept(_times_file(options.output), TIMES, 2, resume=True)
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
                        loss=loss, refine=None, epochs=options.epochs, device=device, verbose=False
                    )
                    begin = clock()
                    model.fit(X)
                    if repeat:
                        own.append(clock() - begin)
                    else:
                        backends.append(model.backend_)
            squared, likelihood = (f"{np.median(own):.3f}" for own in seconds.values())
            used = ", ".join(dict.fromkeys(backends))
            row = (device, d, used, options.epochs, squared, likelihood)
            kept.add(**dict(zip(TIMES, row, strict=True)))


def times(lines: list[dict[str, str]]) -> str:
    """Write the section on time; of repeated measurements the last counts."""
    from environment import table, verdict

    rows: list[list[object]] = []
    for line in {(one["device"], one["d"]): one for one in lines}.values():
        ratio = float(line["likelihood"]) / float(line["squared"])
        rows.append([*line.values(), f"{ratio:.2f}", verdict(ratio <= 1.5)])
    columns = ["device", "d", "backends", "epochs", "squared error s", "likelihood s", "ratio"]
    return "\n## Time of training\n\n" + table([*columns, "≤ 1.5"], rows)


def _times_file(output: Path) -> Path:
    return output.with_name(f"{output.stem}_times.csv")


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE / "nonlinear_standardised.md")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--variables", type=int, nargs="+", choices=(20, 40), default=[20, 40])
    parser.add_argument("--units", nargs="+", choices=UNITS, default=list(UNITS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="keep the fits of an earlier run")
    parser.add_argument("--devices", nargs="+", choices=("cpu", "gpu"), default=[])
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of training that is timed")
    options = parser.parse_args()
    # Workers inherit these variables: one thread each, since there are as many workers as cores.
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from environment import header

    if options.devices:
        time_losses(options)
    else:
        fit_tables(options)
    page = header("Non-linear tables in any units")
    if fits := _lines(options.output.with_suffix(".csv")):
        page += accuracy(fits)
    if timed := _lines(_times_file(options.output)):
        page += times(timed)
    options.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
