"""Count the files that a fit visits, and how often it computes the same things.

    python benchmarks/walk.py --write    # replaces the tables of docs/architecture.md

Every walk runs twice in a process of its own: once to import and compile, and once under
`sys.setprofile`. A file is visited when one of its functions is called. Functions compiled by Numba
or XLA and other processes are not seen.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "cosmodag"
PAGE = ROOT / "docs" / "architecture.md"

# Numbers of files visited before fits had one pipeline, where they were counted.
BEFORE = {"Cosmo().fit": 61, "CosmoMLP().fit": 50, "OrderSearch().fit": 39}

# Functions that one fit should call once, or a few times.
WATCHED = {
    "table checked": ("io/tables/frames.py", "_all_finite"),
    "table prepared": ("fit/prepare.py", "prepare_table"),
    "diagnosis": ("data/diagnose/table_checks.py", "before_fit"),
    "deviations": ("fit/dag/preparation.py", "deviations_of"),
    "settings": ("learners/trained/trained_learner.py", "settings_for"),
    "moments": ("search/moments.py", "of"),
    "edges": ("fit/fitted_dag.py", "edges"),
    "class of the graph": ("graph/equivalence.py", "essential_graph"),
    "number of cores": ("runtime/threads.py", "cores"),
    "device": ("runtime/devices.py", "device_named"),
    "memory": ("runtime/memory.py", "main_memory"),
    "thread limits": ("runtime/threads.py", "add"),
}


@cache
def table() -> np.ndarray[Any, Any]:
    """Simulate a table of 200 rows and 8 columns, once: the fit is counted, not the simulation."""
    from cosmodag import simulate

    return np.asarray(simulate.load("n200_d8_ER2_gauss", seed=0).X)


def fit(name: str, **settings: Any) -> None:
    """Fit a learner."""
    import cosmodag

    getattr(cosmodag, name)(random_state=0, verbose=False, **settings).fit(table())


def command() -> None:
    """Run ``cosmodag fit``."""
    from cosmodag.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        np.savetxt(path, table(), delimiter=",", header=",".join("abcdefgh"), comments="")
        if main(["fit", str(path), "-o", str(Path(folder) / "out"), "--quiet"]) != 0:
            raise SystemExit("cosmodag fit failed")


def bootstrap() -> None:
    """Bootstrap an order search of two resamples."""
    from cosmodag import OrderSearch
    from cosmodag.assess import bootstrapping as stability

    learner = OrderSearch(random_state=0, verbose=False)
    stability.bootstrap(learner, table(), 2, random_state=0, verbose=False)


def bench_cell() -> None:
    """Do one cell of the benchmark."""
    from cosmodag.bench.bench_plan import Cell
    from cosmodag.bench.work import carry_out

    settings = {"refine": None, "threshold": 0.3, "scale": "none", "epochs": 5}
    carry_out((Cell("fit", "cosmo", "n200_d8_ER2_gauss", 0, settings),), "cpu")


WALKS: dict[str, Callable[[], None]] = {
    "Cosmo().fit": lambda: fit("Cosmo"),
    "CosmoMLP().fit": lambda: fit("CosmoMLP", epochs=5),
    "OrderSearch().fit": lambda: fit("OrderSearch"),
    "cosmodag fit": command,
    "bootstrap of 2": bootstrap,
    "bench cell": bench_cell,
}


def walked(walk: Callable[[], None]) -> Counter[tuple[str, str]]:
    """Count the calls of every function of the package, by file and name."""
    calls: Counter[tuple[str, str]] = Counter()
    prefix = f"{SOURCE}/"

    def notice(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(prefix) and code.co_name != "<module>":
            calls[code.co_filename.removeprefix(prefix), code.co_name] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk()
        threading.setprofile(notice)
        sys.setprofile(notice)
        try:
            walk()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return calls


def measured(name: str) -> dict[str, Any]:
    """Run a walk in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--walk", name], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def page(found: dict[str, dict[str, Any]]) -> str:
    """Write the table of files and of repeated calls, one column for each walk."""
    lines = ["| | " + " | ".join(f"`{name}`" for name in found) + " |"]
    lines.append("|---" * (len(found) + 1) + "|")
    lines.append("| files visited | " + " | ".join(str(one["files"]) for one in found.values()))
    lines.append(
        "| before one pipeline | " + " | ".join(str(BEFORE.get(name, "")) for name in found)
    )
    lines += [
        f"| {what} | " + " | ".join(str(one["watched"][what]) for one in found.values())
        for what in WATCHED
    ]
    return "\n".join(line if line.endswith("|") else f"{line} |" for line in lines)


def main() -> None:
    """Measure all walks, or run one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walk", help="run only this walk, and print the counts as JSON")
    parser.add_argument("--most", type=int, default=0, help="also list the most frequent calls")
    parser.add_argument("--write", action="store_true", help="replace the tables of the page")
    options = parser.parse_args()
    if options.walk:
        calls = walked(WALKS[options.walk])
        for (file, name), count in calls.most_common(options.most):
            print(f"{count:6} {file} {name}")
        watched = {what: calls[place] for what, place in WATCHED.items()}
        print(json.dumps({"files": len({file for file, _ in calls}), "watched": watched}))
        return
    text = page({name: measured(name) for name in WALKS})
    print(text)
    if options.write:
        before, start, rest = PAGE.read_text("utf-8").partition("<!-- walk -->\n")
        _, end, after = rest.partition("<!-- end of walk -->\n")
        PAGE.write_text(f"{before}{start}{text}\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
