"""A checkpointed fit, killed at random moments and started again: the same result to the last bit.

A process fits with ``checkpoint=``, recording where it stands after every piece, and is ended by
SIGKILL (or SIGTERM, or Ctrl-C) after a random time, until it has been ended so many times; then it
is left to finish. Its weights are compared with those of a fit that nobody interrupted.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import header, table, verdict

SCRIPT = """
import sys, signal, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from cosmodag import Cosmo, CosmoMLP
from cosmodag.solve.training import train
train.SAVE_EVERY = 0.0
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(200, 20)) @ np.triu(random.normal(size=(20, 20)) * 0.5 + np.eye(20))
folder = sys.argv[2] if len(sys.argv) > 2 else None
model = {
    "Cosmo": Cosmo(epochs=40_000, refine=None, random_state=0, checkpoint=folder),
    "Cosmo, likelihood": Cosmo(
        epochs=3_000, loss="likelihood", refine=None, random_state=0, checkpoint=folder
    ),
    "CosmoMLP": CosmoMLP(
        epochs=2_000, hidden=(3,), refine=None, random_state=0, checkpoint=folder
    ),
}[sys.argv[1]]
print("begin", flush=True)
model.fit(X)
if model.stopped_ is None:
    print(model.raw_weights_.tobytes().hex(), flush=True)
"""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def run(learner: str, folder: Path | None, cut: tuple[float, int] | None = None) -> str:
    """Run the fit, perhaps cut after some seconds by a signal; what it printed at its end."""
    command = [sys.executable, "-c", SCRIPT, learner, *([] if folder is None else [str(folder)])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    if cut is not None:
        seconds, number = cut
        _wait_for_progress(process, folder)
        time.sleep(seconds)
        process.send_signal(number)
    return process.communicate()[0].strip()


def _wait_for_progress(process: "subprocess.Popen[str]", folder: Path | None) -> None:
    """Wait until this run has written: a run that never gets on would never end."""
    assert folder is not None
    begin = time.time()
    while process.poll() is None:
        newest = max((p.stat().st_mtime for p in folder.glob("*.safetensors")), default=0.0)
        if newest > begin:
            return
        time.sleep(0.01)


def interrupted(learner: str, times: int, random: np.random.Generator) -> list[object]:
    """Row of the table: how often it was cut, in how many fits, and whether the ends are the same.

    A fit that has come to its end is begun anew, until there were so many cuts in all.
    """
    whole = run(learner, None)
    cuts, ends, left = 0, [], 0
    while cuts < times:
        with tempfile.TemporaryDirectory() as name:
            folder, ended = Path(name), ""
            while cuts < times and not ended:
                number = SIGNALS[cuts % len(SIGNALS)]
                ended = run(learner, folder, (float(random.uniform(0, 0.15)), number))
                cuts += not ended
            ends.append(ended or run(learner, folder))
            left += len(list(folder.iterdir()))
    is_same = all(end == whole for end in ends)
    print(learner, cuts, len(ends), is_same, left, flush=True)
    return [learner, cuts, len(ends), "yes" if is_same else "no", left, verdict(is_same)]


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, nargs="+", default=[30, 10, 10])
    parser.add_argument("--write", action="store_true", help="write the page beside this file")
    asked = parser.parse_args()
    random = np.random.default_rng(14)
    names = ("Cosmo", "Cosmo, likelihood", "CosmoMLP")
    rows = [interrupted(n, t, random) for n, t in zip(names, asked.times, strict=True) if t]
    page = (
        header("Fits that are interrupted and resumed", ("jax", "numba", "numpy"))
        + "\nEach fit was ended by SIGKILL, SIGTERM and SIGINT in turn, at random moments after "
        "its first record, and begun again; `left`: files in the folder at the end.\n\n"
        + table(["fit", "interruptions", "fits", "same to the last bit", "left", ""], rows)
    )
    if asked.write:
        (Path(__file__).parent / "interruptions.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
