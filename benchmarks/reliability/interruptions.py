"""Fits with a checkpoint, killed at random times and resumed: the result must be the same bits.

A process fits with ``checkpoint=``, which records the state after every piece of training, and is
stopped by SIGKILL, SIGTERM or Ctrl-C after a random time. After a given number of interruptions it
runs to its end, and its weights are compared with those of an uninterrupted fit.
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
    """Run the fit, optionally stopped by a signal after some seconds; return its output."""
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
    """Wait until this run has written a record, so that repeated runs make progress."""
    assert folder is not None
    begin = time.time()
    while process.poll() is None:
        newest = max((p.stat().st_mtime for p in folder.glob("*.safetensors")), default=0.0)
        if newest > begin:
            return
        time.sleep(0.01)


def interrupted(learner: str, times: int, random: np.random.Generator) -> list[object]:
    """Row of the table: numbers of interruptions and of fits, and whether results are equal.

    Fits that reach their end are started again until the number of interruptions is reached.
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
    """Run all learners and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, nargs="+", default=[30, 10, 10])
    parser.add_argument(
        "--write", action="store_true", help="write the page to the folder of this file"
    )
    asked = parser.parse_args()
    random = np.random.default_rng(14)
    names = ("Cosmo", "Cosmo, likelihood", "CosmoMLP")
    rows = [interrupted(n, t, random) for n, t in zip(names, asked.times, strict=True) if t]
    page = (
        header("Fits that are interrupted and resumed", ("jax", "numba", "numpy"))
        + "\nEach fit was stopped by SIGKILL, SIGTERM and SIGINT in turn, at random times after "
        "its first record, and resumed; `left`: files in the folder at the end.\n\n"
        + table(["fit", "interruptions", "fits", "same to the last bit", "left", ""], rows)
    )
    if asked.write:
        (Path(__file__).parent / "interruptions.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
