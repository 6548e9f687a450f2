"""Speed of linear COSMO against a plain PyTorch loop, in one run and on the same data.

    python benchmarks/speed.py --output benchmarks/speed.md

Both run the same number of epochs on the same table; the two alternate, and the median of the
repetitions counts. What is compared is time per epoch, so compilation is not in it.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import torch

from cosmodag import simulate
from cosmodag.mechanism import Linear
from cosmodag.solver.kernels.backends import BACKENDS, Backend
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Batch, Problem
from environment import header, table
from plain_torch import fit as fit_torch

SETTINGS = {
    "learning_rate": 7.9e-3,
    "priority_learning_rate": 7.9e-3,
    "lambda1": 9.4e-4,
    "lambda2": 2.17e-2,
    "lambda_p": 1.7e-4,
    "shift": 1.34e-2,
    "temperature_start": 0.45,
    "temperature_end": 9.8e-4,
    "epochs": 2000.0,
    "beta1": 0.9,
    "beta2": 0.999,
}
BARS = {30: 90, 100: 25, 500: 4}
EPOCHS = {30: (200, 20, 4), 100: (60, 12, 4), 500: (10, 4, 2)}
"""Epochs a repetition, by number of variables: fused loop, XLA, PyTorch."""


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of a call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def runner(backend: Backend, batch: Batch) -> Callable[[int], None]:
    """Make a function that trains from scratch for so many epochs."""

    def run(epochs: int) -> None:
        jax.block_until_ready(backend.advance(batch, batch.start(), 0, epochs).parameters)

    return run


def compare(d: int, repetitions: int) -> dict[str, float]:
    """Median time of a step, in µs, of every implementation, and the ratio to PyTorch."""
    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=0)
    x = (data.X - data.X.mean(0)).astype(np.float32)
    batch = Batch.of(Anneal(Linear()).recipe, [Problem(x, SETTINGS, 0)], jax.devices("cpu")[0])
    tensor = torch.from_numpy(x)
    runs: dict[str, Callable[[int], object]] = {
        backend.name: runner(backend, batch) for backend in BACKENDS if backend.applies(batch)
    }
    runs["torch"] = lambda epochs: fit_torch(tensor, SETTINGS, epochs)
    epochs = dict(zip(("numba", "xla", "torch"), EPOCHS[d], strict=True))
    steps = -(-len(x) // 64)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for name, run in runs.items():
        run(1)
        run(epochs[name])
    for _ in range(repetitions):
        for name, run in runs.items():
            times[name].append(seconds(lambda run=run, name=name: run(epochs[name])) / epochs[name])
    ratios = [slow / fast for slow, fast in zip(times["torch"], times["numba"], strict=True)]
    medians = {name: statistics.median(values) / steps * 1e6 for name, values in times.items()}
    return {**medians, "ratio": statistics.median(ratios)}


def main() -> None:
    """Compare at every size and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    rows = []
    for d, bar in BARS.items():
        found = compare(d, options.repetitions)
        rows.append(
            [
                d,
                f"{found['torch']:,.0f}",
                f"{found['xla']:,.1f}",
                f"{found['numba']:,.1f}",
                f"{found['ratio']:,.0f}×",
                f"≥ {bar}×",
            ]
        )
        print(rows[-1], flush=True)
    text = header("Speed of linear COSMO", ("jax", "numba", "numpy", "torch"))
    text += (
        "\nMicroseconds a step (batch of 64, n = 1000, ER4 Gaussian), medians of "
        f"{options.repetitions} alternating repetitions; the ratio is the median of the "
        "repetitions' ratios, PyTorch loop (`benchmarks/plain_torch.py`) over this package.\n\n"
    )
    text += table(["d", "plain PyTorch", "this package, XLA", "this package", "ratio", "bar"], rows)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
