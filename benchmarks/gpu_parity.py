"""Sections of `gpu.py` that compare kernels with the reference loop, and a GPU with a CPU."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.training.loop import REFERENCE
from cosmodag.solve.watch import Watch
from gpu_problems import (
    ROUNDS,
    ROWS,
    SOLVER,
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


def parity(rate: float) -> Iterator[Row]:
    """Compare about 100 steps of the kernels with the reference loop's, in single precision."""
    small, _ = table_of(f"n{ROWS}_d30_ER4_gauss", seed=0)
    large, long = noise(1_000), noise(1_000, 5 * ROWS)
    # With λ₁ the gradient jumps where h changes sign, and rounding decides at which step.
    for data, lambda1, rounds, names, goal in (
        (large, 0.0, 6, (), "≤ 1e-4"),
        (large, prototype(1_000)["lambda1"], 6, (), ""),
        (large, 0.0, 6, ("support",), "≤ 1e-4"),
        (large, 0.0, 6, ("counted",), "≤ 1e-4"),
        (large, 0.0, 6, ("support", "counted"), "≤ 1e-4"),
        (long, 0.0, 3, (), "≤ 1e-4"),
        (small, 0.0, 6, (), "≤ 1e-4"),
    ):
        n, d = data.shape
        given = known(d, n, names)
        batch = batch_of(Problem(data, settings(d, lambda1=lambda1), seed=0, **given))
        backend = batch.backend
        with jax.default_matmul_precision("highest"):
            state = backend.advance(batch, backend.start(batch), 0, rounds)
            ours = backend.parameters(batch, state)
            other = REFERENCE.advance(batch, batch.start(), 0, rounds).parameters
        apart = jnp.abs(ours["arcs"] - other["arcs"])
        p = jnp.abs(ours["order"] - other["order"])
        also = "".join(f", {name} given" for name in names)
        yield [
            f"{state.step[0]} steps by '{backend.name}', d={d:,}, n={n:,}, λ₁ = {lambda1:g}{also}",
            goal,
            f"H within {float(apart.max()):.1e}, p within {float(p.max()):.1e}",
            "",
            f"{float((apart > 1e-4).mean()):.2%} of H apart by more than 1e-4",
        ]


def devices(rate: float) -> Iterator[Row]:
    """Compare the GPU with the CPU: 96 steps of the same problems, and 20 whole fits."""
    for dtype, most in ((np.float64, 1e-10), (np.float32, 1e-4)):
        with jax.enable_x64(dtype == np.float64), jax.default_matmul_precision("highest"):
            data, _ = table_of(f"n{ROWS}_d30_ER4_gauss", 0, dtype)
            problem = Problem(data, settings(30), seed=0)
            found = []
            for platform in ("cpu", "gpu"):
                batch = batch_of(problem, REFERENCE, platform)
                state = REFERENCE.advance(batch, batch.start(), 0, 6)
                found.append(np.asarray(state.parameters["arcs"]))
        apart = float(np.abs(found[0] - found[1]).max())
        name = np.dtype(dtype).name
        yield [f"96 steps, CPU and GPU, {name}", f"≤ {most:g}", f"H within {apart:.1e}", "", ""]
    cases = [table_of(f"n{ROWS}_d30_ER4_gauss", 90_000 + seed) for seed in range(20)]
    problems = [Problem(data, settings(30), seed) for seed, (data, _) in enumerate(cases)]
    graphs = [graph for _, graph in cases]
    areas = np.array([_areas(problems, graphs, platform) for platform in ("cpu", "gpu")])
    difference = areas[1] - areas[0]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    yield [
        "20 full fits, d=30: AUC on the GPU minus AUC on the CPU",
        "within 2 standard errors of 0",
        f"{difference.mean():+.4f} ± {error:.4f}",
        "",
        f"CPU {areas[0].mean():.4f}, GPU {areas[1].mean():.4f}",
    ]


def _areas(problems: list[Problem], graphs: list[object], platform: str) -> list[float]:
    """Solve every problem on one kind of device, and return the AUC of each."""
    areas = [np.nan] * len(problems)
    with Watch(ROUNDS * len(problems), "") as watch:
        for index, solution, _ in solve_many(SOLVER, problems, device=platform, watch=watch):
            weights = strengths(solution.parameters, dict(problems[index].settings))
            areas[index] = area(weights, graphs[index])
    return areas
