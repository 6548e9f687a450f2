"""Time of one evaluation and gradient of the four acyclicity constraints, by number of variables.

    taskset -c 0 python benchmarks/constraints.py

Writes benchmarks/constraints.csv, benchmarks/constraints.md and docs/figures/constraints.png. Times
are processor time on one core, so waiting for other threads or programs is not counted. Each
constraint runs as in the learners: compiled by JAX, value and gradient together, float32, one
problem. W resembles the weights in the middle of a fit: a random DAG with four arcs per vertex
(weights ±0.5 to ±2) plus Gaussian noise on every entry, scaled so that the spectral radius of W∘W
is one half, where all four are defined. The constraints of one size alternate over several rounds,
so that a busy moment of the machine does not affect one of them alone.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.graph.acyclicity import (
    exponential_of,
    log_determinant_of,
    spectral_radius_of,
    truncated_powers_of,
)
from cosmodag.model.orientation import smooth_orientation

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "constraints.csv"
PAGE = ROOT / "benchmarks" / "constraints.md"
FIGURE = ROOT / "docs" / "figures" / "constraints.png"

SIZES = [10, 20, 50, 100, 200, 500, 1000, 2000]
ROUNDS = 3
GROWTH_FROM = 200
ROWS = {
    "exponential": "NOTEARS, tr e^(W∘W) − d",
    "log_determinant": "DAGMA, −log det(sI − W∘W) + d log s",
    "truncated_powers": "TMPI, tr Σ (W∘W)^i",
    "spectral_radius": "NOBEARS, radius by 5 power rounds",
    "orientation": "COSMO's S(p) and gradient in p, for scale",
}


class Timing(NamedTuple):
    """One row of the table."""

    constraint: str
    d: int
    seconds: float
    calls: int


def some_weights(d: int, seed: int = 0) -> np.ndarray:
    """Draw weights (d, d) like those in the middle of a fit."""
    rng = np.random.default_rng(seed)
    arcs = np.triu(rng.random((d, d)) < min(1.0, 8 / (d - 1)), k=1)
    weights = rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d)) * arcs
    weights += rng.normal(scale=0.1 / np.sqrt(d), size=(d, d))
    shuffled = rng.permutation(d)
    weights = weights[np.ix_(shuffled, shuffled)]
    return weights * np.sqrt(0.5 / radius(weights**2))


def radius(matrix: np.ndarray) -> float:
    """Spectral radius of a positive matrix, by power iteration."""
    vector = np.ones(len(matrix))
    for _ in range(200):
        vector = matrix @ vector
        vector /= np.linalg.norm(vector)
    return float(np.linalg.norm(matrix @ vector))


def programs(d: int) -> dict[str, Callable[[], object]]:
    """Return a function for each constraint that computes its value and gradient once."""
    weights = jnp.asarray(some_weights(d), jnp.float32)
    p = jnp.asarray(np.random.default_rng(0).normal(scale=0.01, size=d), jnp.float32)

    def of_orientation(p: jax.Array) -> jax.Array:
        return (weights * smooth_orientation(p, 0.1, 0.01)).sum()

    of_squares = {
        "exponential": exponential_of,
        "log_determinant": log_determinant_of,
        "truncated_powers": truncated_powers_of,
        "spectral_radius": spectral_radius_of,
    }

    def compiled(function: Callable[[jax.Array], jax.Array]) -> Callable[[], object]:
        program = jax.jit(jax.value_and_grad(lambda w: function(jnp.square(w))))
        return lambda: program(weights)

    calls = {name: compiled(function) for name, function in of_squares.items()}
    orientation = jax.jit(jax.value_and_grad(of_orientation))
    calls["orientation"] = lambda: orientation(p)
    return calls


def timings(call: Callable[[], object], budget: float) -> list[float]:
    """Processor seconds of 2 to 1,000 calls, after a first call that may compile."""
    jax.block_until_ready(call())
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 2 or (time.perf_counter() < end and len(times) < 1000):
        start = time.process_time()
        jax.block_until_ready(call())
        times.append(time.process_time() - start)
    return times


def measure(sizes: list[int], budget: float) -> list[Timing]:
    """Time every constraint at every size; the fastest call of all rounds counts."""
    rows: list[Timing] = []
    for d in sizes:
        calls = programs(d)
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                times[name] += timings(call, budget / ROUNDS)
        rows += [Timing(name, d, min(seconds), len(seconds)) for name, seconds in times.items()]
        for row in rows[-len(calls) :]:
            print(f"d={d:5d}  {row.constraint:17s} {1e6 * row.seconds:12.0f} µs", flush=True)
    return rows


def growth(rows: list[Timing], name: str) -> str:
    """Exponent b of seconds ~ dᵇ, by least squares over the larger sizes."""
    larger = [row for row in rows if row.constraint == name and row.d >= GROWTH_FROM]
    if len(larger) < 2:
        return "–"
    slope = np.polyfit(np.log([r.d for r in larger]), np.log([r.seconds for r in larger]), 1)[0]
    return f"{slope:.1f}"


def write_page(rows: list[Timing], path: Path) -> None:
    """Write the table in Markdown, with the machine and the command."""
    sizes = sorted({row.d for row in rows})
    seconds = {(row.constraint, row.d): row.seconds for row in rows}
    command, machine = command_and_machine()
    lines = [
        "# One evaluation and gradient of each acyclicity constraint",
        "",
        f"{date.today().isoformat()}; {machine}; JAX on {jax.default_backend()}; "
        f"Python {platform.python_version()}, jax {version('jax')}, numpy {version('numpy')}; "
        f"`{command}`.",
        "",
        "Fastest compiled call of value and gradient, float32, in milliseconds of processor time.",
        f"Growth is the exponent b of time ~ dᵇ, fitted to sizes of {GROWTH_FROM} and more.",
        "",
        "| constraint | " + " | ".join(f"d={d}" for d in sizes) + " | growth |",
        "|---|" + "---:|" * (len(sizes) + 1),
    ]
    for name, label in ROWS.items():
        times = " | ".join(in_milliseconds(seconds[name, d]) for d in sizes)
        lines.append(f"| {label} | {times} | {growth(rows, name)} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def in_milliseconds(seconds: float) -> str:
    """Format a time: three decimals below one millisecond, else one."""
    return f"{1e3 * seconds:.3f}" if seconds < 1e-3 else f"{1e3 * seconds:,.1f}"


def command_and_machine() -> tuple[str, str]:
    """Return the command of this run, and its number of cores, processor and load."""
    processor = platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    command, cores = "python benchmarks/constraints.py", os.cpu_count() or 1
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(cores)
    if len(allowed) < cores:
        command = f"taskset -c {','.join(map(str, allowed))} {command}"
    load = f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return command, f"{len(allowed)} of {cores} cores, {processor}, {load}"


def draw(rows: list[Timing], path: Path) -> None:
    """Plot the table with logarithmic axes, and slopes 2 and 3 for comparison."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, label in ROWS.items():
        mine = [row for row in rows if row.constraint == name]
        line = "--" if name == "orientation" else "-"
        axes.plot([row.d for row in mine], [row.seconds for row in mine], f"o{line}", label=label)
    sizes = np.array([300.0, 2000.0])
    for power, label, anchor in ((2, "d²", 4e-4), (3, "d³", 1.5e-2)):
        times = anchor * (sizes / sizes[0]) ** power
        axes.plot(sizes, times, color="grey", linewidth=0.8)
        axes.annotate(label, (sizes[1], times[1]), color="grey")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="variables d",
        ylabel="processor seconds, value and gradient",
    )
    axes.grid(which="major", linewidth=0.4, alpha=0.6)
    axes.legend(fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure, and write the three files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each entry")
    parser.add_argument("--output", type=Path, help="folder for the three files")
    options = parser.parse_args()
    table, page, drawing = (
        [options.output / path.name for path in (TABLE, PAGE, FIGURE)]
        if options.output
        else [TABLE, PAGE, FIGURE]
    )
    rows = measure(options.sizes, options.budget)
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([Timing._fields, *rows])
    write_page(rows, page)
    draw(rows, drawing)


if __name__ == "__main__":
    main()
