"""Time per step, compared with a plain PyTorch loop and with an earlier release.

    python benchmarks/speed.py --output benchmarks/speed.md
    python benchmarks/speed.py --previous CHECKOUT --output benchmarks/speed.md

PyTorch: both implementations run the same number of epochs on the same table, in alternation, and
the median over repetitions is reported. Times are per epoch and exclude compilation. Earlier
release: both releases run `step_cost.py` alternately, each in a process of its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from cosmodag import Cosmo, simulate
from cosmodag.solve.problems import Batch
from cosmodag.solve.training.loop import REFERENCE
from environment import batch_for, header, table, timed, verdict
from step_cost import CASES

SETTINGS: dict[str, Any] = {
    "learning_rate": 7.9e-3,
    "priority_learning_rate": 7.9e-3,
    "lambda1": 9.4e-4,
    "lambda2": 2.17e-2,
    "lambda_p": 1.7e-4,
    "shift": 1.34e-2,
    "temperature_start": 0.45,
    "temperature_end": 9.8e-4,
    "epochs": 2000,
}
TARGETS = {30: 90, 100: 25, 500: 4}
EPOCHS = {30: (200, 20, 4), 100: (60, 12, 4), 500: (10, 4, 2)}
"""Epochs per repetition, by number of variables: compiled kernel, reference loop, PyTorch."""
MOST = 1.10
"""Largest allowed ratio of the time to that of the previous release."""
SOURCE = Path(__file__).resolve().parents[1] / "src"


def runner(batch: Batch) -> Callable[[int], None]:
    """Make a function that trains from scratch for a number of epochs."""

    def run(epochs: int) -> None:
        state = batch.backend.advance(batch, batch.start(), 0, epochs)
        jax.block_until_ready(state.parameters)

    return run


def compare(d: int, repetitions: int) -> dict[str, float]:
    """Median time per step, in µs, of every implementation, and the ratio to PyTorch."""
    import torch

    from plain_torch import fit as fit_torch

    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=0)
    x = (data.X - data.X.mean(0)).astype(np.float32)
    model = Cosmo(refine=None, random_state=0, **SETTINGS)
    tensor = torch.from_numpy(x)
    runs: dict[str, Callable[[int], object]] = {
        "compiled": runner(batch_for(model, x)),
        "reference": runner(batch_for(model, x, REFERENCE)),
        "torch": lambda epochs: fit_torch(tensor, SETTINGS, epochs),
    }
    epochs = dict(zip(runs, EPOCHS[d], strict=True))
    steps = -(-len(x) // 64)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for name, run in runs.items():
        run(1)
        run(epochs[name])
    for _ in range(repetitions):
        for name, run in runs.items():
            taken = timed(lambda run=run, name=name: run(epochs[name]))
            times[name].append(taken / epochs[name])
    ratios = [slow / fast for slow, fast in zip(times["torch"], times["compiled"], strict=True)]
    medians = {name: statistics.median(values) / steps * 1e6 for name, values in times.items()}
    return {**medians, "ratio": statistics.median(ratios)}


def beside_torch(repetitions: int) -> str:
    """Compare with PyTorch at every size."""
    rows: list[list[object]] = []
    for d, target in TARGETS.items():
        found = compare(d, repetitions)
        rows.append(
            [
                d,
                f"{found['torch']:,.0f}",
                f"{found['reference']:,.1f}",
                f"{found['compiled']:,.1f}",
                f"{found['ratio']:,.0f}×",
                f"≥ {target}×",
                verdict(found["ratio"] >= target),
            ]
        )
        print(rows[-1], flush=True)
    columns = ["d", "plain PyTorch", "here, reference loop", "here", "ratio", "target", ""]
    return (
        "\n## Compared with plain PyTorch\n\n"
        "Microseconds per step (batch of 64, n = 1000, ER4 Gaussian), medians of "
        f"{repetitions} alternating repetitions; the ratio is the median of the repetitions' "
        f"ratios, PyTorch loop (`benchmarks/plain_torch.py`) over this package.\n\n"
        f"{table(columns, rows)}"
    )


def cost(source: Path, case: str) -> list[float]:
    """Processor and wall seconds per step, and once per fit, with the package at a path."""
    worker = Path(__file__).with_name("step_cost.py")
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(worker), case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def beside_previous(previous: Path, cases: list[str], repetitions: int) -> str:
    """Time both releases alternately, each in a process of its own."""
    rows: list[list[object]] = []
    for case in cases:
        before, now = [], []
        for _ in range(repetitions):
            before.append(cost(previous / "src", case))
            now.append(cost(SOURCE, case))
            print(case, before[-1], now[-1], flush=True)
        old, new = np.array(before), np.array(now)
        ratios = new[:, :2] / old[:, :2]
        middle, low, high = np.median(ratios, 0), ratios.min(0), ratios.max(0)
        unit, factor = ("s per fit", 1) if case.startswith("dagma") else ("µs per step", 1e6)
        line: list[object] = [case, unit]
        for column in (0, 1):
            line += [f"{factor * np.median(both[:, column]):,.1f}" for both in (old, new)]
            line.append(f"{middle[column]:.2f} ({low[column]:.2f} to {high[column]:.2f})")
        once = [f"{1e3 * np.median(both[:, 2]):,.0f}" for both in (old, new)]
        rows.append([*line, verdict(bool(middle[0] <= MOST)), *once])
    columns = ["case", "unit"]
    for kind in ("CPU", "wall"):
        columns += [f"{kind}, previous", f"{kind}, now", f"{kind}, ratio (range)"]
    once_columns = ["once per fit, CPU ms, previous", "now"]
    return (
        f"\n## Compared with the previous release\n\nMedians of {repetitions} pairs of alternating "
        "processes; ratios are within pairs. Times exclude refinement and the search for hidden "
        "causes after a fit.\n\n"
        + table([*columns, f"CPU ratio ≤ {MOST:.2f}", *once_columns], rows)
    )


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--previous", type=Path, default=None, help="checkout of another release")
    parser.add_argument("--cases", nargs="+", choices=[*CASES], default=[*CASES])
    parser.add_argument(
        "--no-torch", action="store_true", help="leave out the comparison with PyTorch"
    )
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    text = header("Speed", ("jax", "numba", "numpy", "torch"))
    if not options.no_torch:
        text += beside_torch(options.repetitions)
    if options.previous is not None:
        text += beside_previous(options.previous.resolve(), options.cases, options.repetitions)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
