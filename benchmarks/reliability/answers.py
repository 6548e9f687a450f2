"""How soon a fit answers Ctrl-C: the time from the key to the end of ``fit``, by learner and size.

Each fit runs in a process of its own; the key is pressed at several moments, so that compilation,
training and refinement are all met.
"""

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import header, table, verdict

TARGET = 2.0
"""Seconds within which the process has to answer."""

LEARNERS = {
    "Cosmo": "Cosmo(random_state=0, verbose=False)",
    "Cosmo, prune": "Cosmo(random_state=0, refine='prune', verbose=False)",
    "OrderSearch": "OrderSearch(random_state=0, verbose=False)",
    "OrderSearch, non-Gaussian": (
        "OrderSearch(random_state=0, noise='non-gaussian', verbose=False)"
    ),
    "CosmoMLP": "CosmoMLP(random_state=0, verbose=False)",
    "Notears": "Notears(random_state=0, verbose=False)",
    "Dagma": "Dagma(random_state=0, verbose=False)",
    "DagmaMLP": "DagmaMLP(random_state=0, verbose=False)",
    "NotearsMLP": "NotearsMLP(random_state=0, verbose=False)",
    "NoCurl": "NoCurl(random_state=0, verbose=False)",
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


def answer(learner: str, d: int, delay: float, rows: int = 1000) -> tuple[float | None, str]:
    """Press Ctrl-C so many seconds into a fit; seconds to its end (None: it had ended before)."""
    script = SCRIPT.replace("MODEL", LEARNERS[learner])
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(d), learner, str(rows)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        process.wait(delay)
        return None, process.stdout.readline().strip()
    except subprocess.TimeoutExpired:
        pass
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        how = _line(process, 60)
        return time.monotonic() - begin, how
    finally:
        process.kill()
        process.wait()


def _line(process: subprocess.Popen[str], patience: float) -> str:
    import select

    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], patience)
    return process.stdout.readline().strip() if ready else "no answer"


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
            times, ends = [], []
            for delay in asked.delays:
                seconds, how = answer(learner, d, delay)
                print(f"{learner:28} d={d:5} after {delay:4.1f} s: {seconds} {how}", flush=True)
                if seconds is None:
                    break
                times.append(seconds)
                ends.append(how)
            cells = [f"{t:.2f}" for t in times] + ["over"] * (len(asked.delays) - len(times))
            worst = max(times, default=0.0)
            rows.append([learner, d, *cells, verdict(worst <= TARGET)])
    columns = ["learner", "d", *(f"after {delay:g} s" for delay in asked.delays), "≤ 2 s"]
    page = (
        header("Seconds to an answer to Ctrl-C", ("jax", "numba", "numpy", "scipy"))
        + "\nSeconds from the key to the end of `fit`, pressed so long after the fit began "
        "(1,000 rows, ER4, Gaussian); `over`: the fit had ended before.\n\n" + table(columns, rows)
    )
    if asked.write:
        (Path(__file__).parent / "answers.md").write_text(page)
    else:
        print(page)


if __name__ == "__main__":
    main()
