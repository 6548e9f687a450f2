"""How soon a fit answers Ctrl-C: the time from the key to a word or the end, by learner and size.

Each fit runs in a process of its own; the key is pressed at several moments, so that compilation,
training and refinement are all met.
"""

import argparse
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import header, table, verdict

TARGET = 2.0
"""Seconds within which the process has to answer."""

PYTHONS_OWN = ("Exception ignored", "Traceback", "File", "KeyboardInterrupt", "^", "~", "if", "_")

PATIENCE = 60.0
"""Seconds after which there is no answer."""

LEARNERS = {
    "Cosmo": "Cosmo(random_state=0)",
    "Cosmo, prune": "Cosmo(random_state=0, refine='prune')",
    "OrderSearch": "OrderSearch(random_state=0)",
    "OrderSearch, non-Gaussian": ("OrderSearch(random_state=0, noise='non-gaussian')"),
    "CosmoMLP": "CosmoMLP(random_state=0)",
    "Notears": "Notears(random_state=0)",
    "Dagma": "Dagma(random_state=0)",
    "DagmaMLP": "DagmaMLP(random_state=0)",
    "NotearsMLP": "NotearsMLP(random_state=0)",
    "NoCurl": "NoCurl(random_state=0)",
    "EqualVariance": "EqualVariance()",
}
# Networks of the originals grow with d² and more: at these sizes their memory is refused.
_NETWORKS = ("CosmoMLP", "DagmaMLP", "NotearsMLP")

SCRIPT = """
import sys, time, warnings, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
import numpy as np
from cosmodag import *
d = int(sys.argv[1])
random = np.random.default_rng(0)
W = np.triu(random.normal(size=(d, d)) * (random.random((d, d)) < 4 / d), 1)
noise = random.normal(size=(int(sys.argv[3]), d))
X = np.linalg.solve((np.eye(d) - W).T, noise.T).T
X /= np.std(X)
print("begin", flush=True)
try:
    model = MODEL
    model.fit(X)
    print("returned", getattr(model, "stopped_", None), flush=True)
except KeyboardInterrupt:
    print("raised", flush=True)
except Exception as error:
    print("failed", type(error).__name__, error, flush=True)
"""


class Answer(NamedTuple):
    """Seconds from the key to the first word, or to the end; and to the end."""

    first: float
    end: float
    how: str


def answer(learner: str, d: int, delay: float, rows: int = 1000) -> Answer | None:
    """Press Ctrl-C so many seconds into a fit; None where it had ended before."""
    script = SCRIPT.replace("MODEL", LEARNERS[learner])
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(d), learner, str(rows)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    try:
        if _line([process.stdout], delay):
            return None
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = _line([process.stdout, process.stderr], PATIENCE) or "no answer"
        while said.startswith(PYTHONS_OWN):  # a key that Python dropped, and says so
            said = _line([process.stdout, process.stderr], PATIENCE) or "no answer"
        first = time.monotonic() - begin
        if said.startswith("Ctrl-C"):
            said = _line([process.stdout], PATIENCE) or "no end"
        return Answer(first, time.monotonic() - begin, said)
    finally:
        process.kill()
        process.wait()


def _line(streams: list[TextIO], patience: float) -> str:
    ready, _, _ = select.select(streams, [], [], patience)
    return ready[0].readline().strip() if ready else ""


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 500, 2000, 5000])
    parser.add_argument("--delays", type=float, nargs="+", default=[0.3, 2.0, 6.0, 15.0])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    parser.add_argument("--write", action="store_true", help="write the page beside this file")
    asked = parser.parse_args()
    rows: list[list[object]] = []
    for learner in asked.learners:
        for d in asked.sizes:
            if learner in _NETWORKS and d > 500:
                continue
            found = []
            for delay in asked.delays:
                one = answer(learner, d, delay)
                print(f"{learner:28} d={d:5} after {delay:4.1f} s: {one}", flush=True)
                if one is None:
                    break
                found.append(one)
            cells = [f"{a.first:.2f}, {a.end:.2f}" for a in found]
            cells += ["over"] * (len(asked.delays) - len(found))
            worst = max((a.first for a in found), default=0.0)
            rows.append([learner, d, *cells, verdict(worst <= TARGET)])
    columns = ["learner", "d", *(f"after {delay:g} s" for delay in asked.delays), "≤ 2 s"]
    page = (
        header("Seconds to an answer to Ctrl-C", ("jax", "numba", "numpy", "scipy"))
        + "\nSeconds from the key to the answer, which is the end of `fit` or a word on what it "
        "is finishing or waiting for, and to the end; the key was pressed so long after the fit "
        "began (1,000 rows, ER4, Gaussian). `over`: the fit had ended before.\n\n"
        + table(columns, rows)
    )
    if asked.write:
        (Path(__file__).parent / "answers.md").write_text(page)
    else:
        print(page)


if __name__ == "__main__":
    main()
