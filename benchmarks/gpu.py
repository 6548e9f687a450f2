"""Thousands of fits at once on one GPU, and single fits of up to 100,000 variables.

    python benchmarks/gpu.py                         # everything, in a few minutes
    python benchmarks/gpu.py steps fits -o page.md   # some of it

The floor of a step is the time of seven passes over d² four-byte numbers (H is read twice and both
moments once, all three are written) at the bandwidth of a copy, measured in the same run. Programs
are compiled before timing. Targets in seconds are for an NVIDIA H200.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Must be set before JAX is loaded: at d = 100,000 the state alone takes 112 GiB.
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.95")

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.metrics.scores import ranking_scores
from cosmodag.solve.kernels.gpu.large import LARGE, start
from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.training.loop import REFERENCE
from cosmodag.solve.training.train import train
from cosmodag.solve.watch import Watch
from environment import header, table
from gpu_parity import devices, parity
from gpu_problems import (
    ROUNDS,
    ROWS,
    SOLVER,
    STEPS,
    Row,
    area,
    batch_of,
    known,
    noise,
    prototype,
    settings,
    strengths,
    table_of,
)

GIB = 2**30

# The ranges of the paper's search.
SPACE = {
    "learning_rate": (1e-3, 1e-2),
    "lambda1": (1e-4, 1e-3),
    "lambda2": (1e-3, 5e-3),
    "lambda_p": (1e-3, 3e-3),
    "temperature_end": (5e-4, 1e-3),
    "shift": (5e-3, 2e-2),
}

Section = Callable[[float], Iterator[Row]]


def bandwidth(size: int = 2 * GIB, passes: int = 20) -> float:
    """Measure the bytes per second that a copy reads and writes."""
    values = jnp.ones(size // 4, jnp.float32)
    touch = jax.jit(
        lambda values: jax.lax.fori_loop(0, passes, lambda _, v: v + 1.0, values), donate_argnums=0
    )
    values = jax.block_until_ready(touch(values))
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        values = jax.block_until_ready(touch(values))
        best = min(best, time.perf_counter() - begin)
    return 2 * size * passes / best


def step_time(batch: Batch, rounds: int, state: Any) -> float:
    """Seconds per step: the best of three runs of some rounds, after a first run that compiles."""
    advance = batch.backend.advance
    state = jax.block_until_ready(advance(batch, state, 0, rounds))
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        state = jax.block_until_ready(advance(batch, state, 0, rounds))
        best = min(best, time.perf_counter() - begin)
    return best / (rounds * STEPS)


def peak() -> float:
    """Peak GiB of device memory in use by this process so far."""
    return jax.devices()[0].memory_stats()["peak_bytes_in_use"] / GIB


def step_row(
    d: int,
    rounds: int,
    goal: str,
    rate: float,
    names: tuple[str, ...] = (),
) -> Row:
    """Time a step of the kernels, and return its row with the floor and the peak memory."""
    # A support is read twice, one byte per arc.
    floor = (7 * 4 + 2 * ("support" in names)) * d * d / rate * 1e3
    problem = Problem(noise(d), settings(d), seed=0, **known(d, ROWS, names))
    batch = batch_of(problem, LARGE)
    taken = 1e3 * step_time(batch, rounds, start(batch))
    name = "".join(f", {feature} given" for feature in names)
    note = f"{peak():.1f} GiB"
    return [f"one step, d={d:,}{name}", goal, f"{taken:.3f} ms", f"{floor:.3f} ms", note]


def steps(rate: float) -> Iterator[Row]:
    """Time single steps, up to 50,000 variables."""
    yield step_row(1_000, 50, "≤ 0.05 ms", rate)
    batch = batch_of(Problem(noise(1_000), settings(1_000), seed=0), REFERENCE)
    plain = 1e3 * step_time(batch, 50, batch.start())
    yield ["the same, by the reference loop", "", f"{plain:.3f} ms", "", ""]
    yield step_row(5_000, 10, "", rate)
    yield step_row(10_000, 4, "≤ 1.2 ms, aim 0.9", rate)
    yield step_row(50_000, 1, "≤ 33 ms, ≤ 32 GiB", rate)


def features(rate: float) -> Iterator[Row]:
    """Time single steps of problems with optional inputs."""
    yield step_row(10_000, 4, "", rate, names=("support",))
    yield step_row(10_000, 4, "", rate, names=("counted",))


def huge(rate: float) -> Iterator[Row]:
    """Time single steps of 100,000 variables."""
    yield step_row(100_000, 1, "≤ 160 ms, ≤ 125 GiB", rate)


def fits(rate: float) -> Iterator[Row]:
    """Run whole fits, with the defaults and with a common learning rate."""
    goals = {1_000: (0.98, 2), 5_000: (0.975, 16), 10_000: (0.96, 45)}
    for d, (least, most) in goals.items():
        x, graph = table_of(f"n{ROWS}_d{d}_ER4_gauss", seed=0)
        choices = {"defaults": {}, "one learning rate": prototype(d)}
        if settings(d) == settings(d, **prototype(d)):
            del choices["one learning rate"]
        for label, changes in choices.items():
            auc, taken, backend = full_fit(x, graph, changes)
            yield [
                f"a full fit, d={d:,}, ER4 Gaussian, {label}",
                f"AUC ≥ {least} in ≤ {most} s",
                f"AUC {auc:.4f} in {taken:.2f} s",
                f"{7 * 4 * d * d / rate * STEPS * ROUNDS:.2f} s",
                backend,
            ]


def full_fit(x: np.ndarray, truth: Any, changes: dict[str, float]) -> tuple[float, float, str]:
    """AUC, seconds and backend of one fit, after compilation."""
    d = x.shape[1]
    problem = Problem(x, settings(d, **changes), seed=0)
    batch = batch_of(problem)
    backend = batch.backend
    backend.advance(batch, backend.start(batch), 0, 1)
    with Watch(ROUNDS, "") as watch:
        begin = time.perf_counter()
        state = train(batch, backend.start(batch), ROUNDS, watch).state
        jax.block_until_ready(state)
        taken = time.perf_counter() - begin
    found = jax.tree.map(lambda lanes: lanes[0], backend.parameters(batch, state))
    weights = strengths(found, dict(problem.settings))
    auc = area(weights, truth)
    if d <= 1_000:
        scores = ranking_scores(*truth.nonzero(), np.asarray(weights))
        np.testing.assert_allclose(auc, scores["auc"], rtol=1e-9)
    return auc, taken, backend.name


def many(rate: float) -> Iterator[Row]:
    """Solve thousands of small problems at once."""
    for d, configurations, tables, most in ((30, 800, 5, 6), (100, 400, 1, 5)):
        data = [table_of(f"n{ROWS}_d{d}_ER4_gauss", seed)[0] for seed in range(tables)]

        def problems(rounds: float, d: int = d, count: int = configurations, data: Any = data):
            random = np.random.default_rng(0)
            for seed in range(count):
                drawn = {
                    name: float(np.exp(random.uniform(*np.log(ends))))
                    for name, ends in SPACE.items()
                }
                yield from (Problem(x, settings(d, rounds, **drawn), seed) for x in data)

        def solve(rounds: float, problems: Any = problems) -> list[Any]:
            with Watch(int(rounds), "") as watch:
                return list(solve_many(SOLVER, list(problems(rounds)), device="gpu", watch=watch))

        solve(200)
        begin = time.perf_counter()
        solved = solve(ROUNDS)
        taken = time.perf_counter() - begin
        failed = sum(each.solution.diverged_at is not None for each in solved)
        yield [
            f"{configurations * tables:,} fits, d={d}, {tables} data sets",
            f"≤ {most} s",
            f"{taken:.2f} s",
            "",
            f"'{solved[0].plan.backend}', {taken / STEPS / ROUNDS * 1e6:.0f} µs per step, "
            f"{failed} diverged",
        ]


SECTIONS: dict[str, Section] = {
    "parity": parity,
    "devices": devices,
    "many": many,
    "fits": fits,
    "steps": steps,
    "features": features,
    "huge": huge,
}


def main() -> None:
    """Measure the requested sections and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION")
    parser.add_argument("-o", "--output", type=Path, default=None)
    options = parser.parse_args()
    device = jax.devices()[0]
    if device.platform != "gpu":
        parser.error("JAX finds no GPU on this machine")
    rate = bandwidth()
    rows: list[Row] = []
    for section in options.sections or SECTIONS:
        for row in SECTIONS[section](rate):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    text = header("One GPU", ("jax", "jaxlib", "numpy"))
    text += f"- device: {device.device_kind}; a copy moves {rate / 1e12:.2f} TB/s\n\n"
    text += table(["work", "target", "measured", "floor", "notes"], rows)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
