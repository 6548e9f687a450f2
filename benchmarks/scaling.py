"""Scaling of linear COSMO on a CPU: with the number of variables, and with the number of fits.

    python benchmarks/scaling.py --output benchmarks/scaling.md --figure docs/figures/scaling.png

The first table times steps for d = 10 … 4,000 and fits the growth from 500 on. The second solves
200 problems in one call, and compares the time with that of two processes on separate cores that
solve half of them each, one problem after another; both are timed alternately in the same run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from cosmodag import Cosmo, simulate
from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.watch import Watch
from environment import batch_for, header, table

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 4000)
FITS, EPOCHS = 200, 400
SOLVER = Cosmo().solver_for(1000, 30)


def centred(d: int, seed: int) -> np.ndarray:
    """Simulate data."""
    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=seed % 5)
    return (data.X - data.X.mean(0)).astype(np.float32)


def problem(d: int, seed: int) -> Problem:
    """Make the problem that a fit with the default settings solves."""
    return Cosmo(epochs=EPOCHS, random_state=seed).problems_for(centred(d, seed))[0]


def step_times(d: int, repetitions: int = 5) -> list[float]:
    """Seconds per step, in several repetitions, each of a tenth of a second or one epoch."""
    batch = batch_for(Cosmo(epochs=2000, random_state=0), centred(d, 0))
    backend = batch.backend
    state = backend.advance(batch, batch.start(), 0, 1)
    begin = time.perf_counter()
    state = backend.advance(batch, state, 0, 1)
    epochs = max(1, int(0.1 / (time.perf_counter() - begin)))
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        state = backend.advance(batch, state, 0, epochs)
        times.append((time.perf_counter() - begin) / epochs / 16)
    return times


def fit_alone(core: int) -> None:
    """Fit half of the problems, one after another, on one core, and print the seconds."""
    os.sched_setaffinity(0, {core})
    problems = [problem(30, seed) for seed in range(FITS // 2)]
    with Watch(1, "") as watch:
        list(solve_many(SOLVER, problems[:1], device="cpu", watch=watch))
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    for one in problems:
        with Watch(1, "") as watch:
            list(solve_many(SOLVER, [one], device="cpu", watch=watch))
    print(json.dumps(time.perf_counter() - begin), flush=True)


def two_processes(cores: list[int]) -> float:
    """Seconds of two processes for all fits."""
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, "--alone", str(core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for core in cores
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return max(json.loads(worker.communicate()[0]) for worker in workers)


def together() -> float:
    """Seconds of one call for all fits."""
    tables = [problem(30, seed) for seed in range(5)]
    problems = [Problem(tables[s % 5].data, tables[s % 5].settings, s) for s in range(FITS)]
    with Watch(1, "") as watch:
        list(solve_many(SOLVER, problems[:2], device="cpu", watch=watch))
        begin = time.perf_counter()
        list(solve_many(SOLVER, problems, device="cpu", watch=watch))
    return time.perf_counter() - begin


def draw(path: Path, times: dict[int, float], slope: float, level: float) -> None:
    """Plot the time of a step against d, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.loglog(list(times), [t * 1e6 for t in times.values()], "o-", label="per step, batch of 64")
    tail = np.array([500, 4000])
    axes.loglog(tail, level * tail**slope * 1e6 * 1.6, "--", label=f"slope {slope:.2f}")
    axes.set_xlabel("variables d")
    axes.set_ylabel("µs")
    axes.set_title("Linear COSMO on a CPU")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure both and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", type=int, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--figure", type=Path, default=None)
    options = parser.parse_args()
    if options.alone is not None:
        fit_alone(options.alone)
        return
    ratios = []
    for _ in range(options.rounds):
        apart, joint = two_processes(sorted(os.sched_getaffinity(0))[:2]), together()
        ratios.append(apart / joint)
        print(f"apart {apart:.2f} s, together {joint:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
    times = {d: min(step_times(d)) for d in SIZES}
    large = np.array([d for d in SIZES if d >= 500])
    slope, intercept = np.polyfit(np.log(large), np.log([times[d] for d in large]), 1)
    text = header("Scaling on a CPU")
    text += "\n## Time of a step, by number of variables\n\n"
    text += "Batch of 64 rows; the best of five repetitions.\n\n"
    text += table(["d", "µs per step"], [[f"{d:,}", f"{t * 1e6:,.1f}"] for d, t in times.items()])
    text += f"\nLog–log slope from d = 500 to 4,000: **{slope:.2f}** (target: 1.8 to 2.3).\n"
    text += f"\n## {FITS} fits at once\n\n"
    text += (
        f"{FITS} fits at d = 30 ({EPOCHS} epochs each) in one call, compared with two processes on "
        "separate cores that fit half of them each, one after another: "
        f"**{statistics.median(ratios):.2f}** of their throughput (target: 0.9; rounds: "
        f"{', '.join(f'{ratio:.2f}' for ratio in ratios)}).\n"
    )
    print(text)
    if options.output:
        options.output.write_text(text)
    if options.figure:
        draw(options.figure, times, float(slope), float(np.exp(intercept)))


if __name__ == "__main__":
    main()
