"""Response time of ``cosmodag fit`` to Ctrl-C: seconds to a message or the end, by method and size.

Each fit runs in a process of its own. The key is pressed at several times, so that compilation,
training and refinement are all interrupted.
"""

import argparse
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import header, table, verdict

TARGET = 2.0
"""Largest allowed number of seconds to the response."""

PATIENCE = 60.0
"""Seconds after which a missing response counts as none."""

METHODS = {
    "cosmo": [],
    "cosmo, prune": ["--refine", "prune"],
    "order-search": [],
    "order-search, non-Gaussian": ["--noise", "non-gaussian"],
    "cosmo-mlp": [],
    "notears": [],
    "dagma": [],
    "dagma-mlp": [],
    "notears-mlp": [],
    "nocurl": [],
    "equal-variance": [],
}
# These networks need memory that grows with d² or faster: larger sizes are refused.
_NETWORKS = ("cosmo-mlp", "dagma-mlp", "notears-mlp")

SCRIPT = """
import signal, sys
from cosmodag.cli import program
import cosmodag.learners.structure_learner as base
signal.signal(signal.SIGINT, signal.default_int_handler)
fit = base.fit_prepared
def announced(tasks):
    print("begin", flush=True)
    return fit(tasks)
base.fit_prepared = announced
sys.argv[1:1] = ["fit"]
program()
"""


class Answer(NamedTuple):
    """Seconds from the key to the first message or the end, and to the end."""

    first: float
    end: float
    how: str


def answer(method: str, table: Path, delay: float) -> Answer | None:
    """Press Ctrl-C some seconds after the start of a fit; None if it had ended before."""
    name, options = method.partition(",")[0], METHODS[method]
    process = subprocess.Popen(
        [
            *(sys.executable, "-W", "ignore", "-c", SCRIPT, str(table), "--method", name),
            *("-o", str(table.with_suffix(".out")), *options),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    while _line([process.stdout], PATIENCE) != "begin":
        if process.poll() is not None:
            return None
    try:
        if _line([process.stdout], delay):
            return None
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        first = _line([process.stdout, process.stderr], PATIENCE) or "no answer"
        answered = time.monotonic() - begin
        process.communicate(timeout=PATIENCE)
        return Answer(answered, time.monotonic() - begin, f"{first} ({process.returncode})")
    finally:
        process.kill()
        process.wait()


def simulated(d: int, folder: Path, rows: int = 1000) -> Path:
    """Write a table of an ER4 graph with Gaussian noise, with all columns divided by one number."""
    random = np.random.default_rng(0)
    weights = np.triu(random.normal(size=(d, d)) * (random.random((d, d)) < 4 / d), 1)
    noise = random.normal(size=(rows, d))
    X = np.linalg.solve((np.eye(d) - weights).T, noise.T).T
    names = [f"x{v}" for v in range(d)]
    pd.DataFrame(X / np.std(X), columns=names).to_parquet(folder / f"{d}.parquet")
    return folder / f"{d}.parquet"


def _line(streams: list[TextIO], patience: float) -> str:
    ready, _, _ = select.select(streams, [], [], patience)
    return ready[0].readline().strip() if ready else ""


def main() -> None:
    """Measure all methods and sizes, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 500, 2000, 5000])
    parser.add_argument("--delays", type=float, nargs="+", default=[0.3, 2.0, 6.0, 15.0])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument(
        "--write", action="store_true", help="write the page to the folder of this file"
    )
    asked = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    tables = {d: simulated(d, Path(folder.name)) for d in asked.sizes}
    rows: list[list[object]] = []
    for learner in asked.methods:
        for d in asked.sizes:
            if learner in _NETWORKS and d > 500:
                continue
            found = []
            for delay in asked.delays:
                one = answer(learner, tables[d], delay)
                print(f"{learner:28} d={d:5} after {delay:4.1f} s: {one}", flush=True)
                if one is None:
                    break
                found.append(one)
            cells = [f"{a.first:.2f}, {a.end:.2f}" for a in found]
            cells += ["over"] * (len(asked.delays) - len(found))
            worst = max((a.first for a in found), default=0.0)
            rows.append([learner, d, *cells, verdict(worst <= TARGET)])
    columns = ["method", "d", *(f"after {delay:g} s" for delay in asked.delays), "≤ 2 s"]
    page = (
        header("Seconds to the response to Ctrl-C", ("jax", "numba", "numpy", "scipy"))
        + "\nSeconds from Ctrl-C to the response of `cosmodag fit` (its end, or a message that "
        "it is finishing), and to its end; the columns say how long after the start of the fit "
        "the key was pressed (1,000 rows, ER4, Gaussian). `over`: the fit had ended before.\n\n"
        + table(columns, rows)
    )
    if asked.write:
        (Path(__file__).parent / "answers.md").write_text(page)
    else:
        print(page)


if __name__ == "__main__":
    main()
