"""What one GPU does: thousands of fits at once, and single fits of up to 100,000 variables.

    python benchmarks/gpu.py                         # everything, in a few minutes
    python benchmarks/gpu.py steps fits -o page.md   # some of it

Beside each step stands its floor: seven passes over d² numbers of four bytes (read H twice and both
moments once, write all three) at the bandwidth of a copy, measured in the same run. Programs are
compiled before the clock starts. Absolute times are meant for an NVIDIA H200.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before JAX is loaded: at d = 100,000 the state alone takes 112 GiB.
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.95")

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag import default_settings, simulate
from cosmodag.mechanism import Linear
from cosmodag.ranking import ranking_scores
from cosmodag.solver.kernels.backends import BACKENDS, choose
from cosmodag.solver.kernels.gpu import large as linear_gpu
from cosmodag.solver.kernels.gpu import small as small_gpu
from cosmodag.solver.many import solve_many
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.training.train import train
from cosmodag.solver.watch import Watch
from environment import header, table

SOLVER = Anneal(Linear())
ROWS, BATCH, EPOCHS = 1000, 64, 2000
STEPS = -(-ROWS // BATCH)  # in an epoch
GIB = 2**30

# One learning rate for all, as in the paper, and what a prototype used for large graphs.
PROTOTYPE = {
    1_000: {"learning_rate": 2e-3, "lambda1": 6e-5},
    5_000: {"learning_rate": 1e-3, "lambda1": 1e-5},
    10_000: {"learning_rate": 1e-3, "lambda1": 5e-6},
}
# The ranges of the paper's search.
SPACE = {
    "learning_rate": (1e-3, 1e-2),
    "lambda1": (1e-4, 1e-3),
    "lambda2": (1e-3, 5e-3),
    "lambda_p": (1e-3, 3e-3),
    "temperature_end": (5e-4, 1e-3),
    "shift": (5e-3, 2e-2),
}

Row = list[object]
Section = Callable[[float], Iterator[Row]]


def settings(d: int, epochs: float = EPOCHS, **changes: float) -> dict[str, float]:
    """Give the default hyper-parameters for d variables, some of them changed."""
    return {**default_settings(d), "epochs": epochs, "beta1": 0.9, "beta2": 0.999, **changes}


def prototype(d: int) -> dict[str, float]:
    """Give the prototype's hyper-parameters for d variables, as changes of the defaults."""
    own = PROTOTYPE[d]
    return {
        **own,
        "priority_learning_rate": own["learning_rate"],
        "lambda2": 2.5e-3,
        "lambda_p": 1.5e-3,
        "shift": 6e-3,
        "temperature_start": 0.45,
        "temperature_end": 8.5e-4,
    }


def batch_of(data: np.ndarray, **changes: float) -> Batch:
    """Make a batch of one problem on the GPU."""
    problem = Problem(data, settings(data.shape[1], **changes), seed=0)
    return Batch.of(SOLVER.recipe, [problem], jax.devices()[0])


def noise(d: int, rows: int = ROWS) -> np.ndarray:
    """Draw data for timing alone."""
    return np.random.default_rng(0).standard_normal((rows, d), np.float32)


def bandwidth(size: int = 2 * GIB, passes: int = 20) -> float:
    """Bytes a second that a copy reads and writes."""
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


def step_time(batch: Batch, epochs: int, start: Any, advance: Any) -> float:
    """Seconds a step: the best of three runs of some epochs, after one that compiles."""
    state = jax.block_until_ready(advance(batch, start(batch), 0, epochs))
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        state = jax.block_until_ready(advance(batch, state, 0, epochs))
        best = min(best, time.perf_counter() - begin)
    return best / (epochs * STEPS)


def peak() -> float:
    """GiB in use at the busiest moment of this process so far."""
    return jax.devices()[0].memory_stats()["peak_bytes_in_use"] / GIB


def step_row(d: int, epochs: int, goal: str, rate: float, moments: Any = jnp.float32) -> Row:
    """Time a step of the kernels, and say what it could be and what it takes."""
    floor = 7 * 4 * d * d / rate * 1e3
    batch = batch_of(noise(d))
    taken = 1e3 * step_time(
        batch, epochs, lambda batch: linear_gpu.start(batch, moments), linear_gpu.advance
    )
    name = "" if moments == jnp.float32 else ", moments in bfloat16"
    note = f"{peak():.1f} GiB"
    return [f"one step, d={d:,}{name}", goal, f"{taken:.3f} ms", f"{floor:.3f} ms", note]


def steps(rate: float) -> Iterator[Row]:
    """Time single steps, up to 50,000 variables."""
    yield step_row(1_000, 50, "≤ 0.05 ms", rate)
    xla = next(backend for backend in BACKENDS if backend.name == "xla")
    plain = 1e3 * step_time(batch_of(noise(1_000)), 50, Batch.start, xla.advance)
    yield ["the same, left to XLA", "", f"{plain:.3f} ms", "", ""]
    yield step_row(5_000, 10, "", rate)
    yield step_row(10_000, 4, "≤ 1.2 ms, aim 0.9", rate)
    yield step_row(50_000, 1, "≤ 33 ms, ≤ 32 GiB", rate)


def huge(rate: float) -> Iterator[Row]:
    """Time single steps of 100,000 variables."""
    yield step_row(100_000, 1, "≤ 160 ms, ≤ 125 GiB", rate)


def half(rate: float) -> Iterator[Row]:
    """Time single steps with moments in half precision; not part of everything."""
    yield step_row(10_000, 4, "", rate, jnp.bfloat16)
    yield step_row(100_000, 1, "", rate, jnp.bfloat16)


def area(weights: jax.Array, truth: Any) -> float:
    """Area under the ROC curve of |W| over all entries, exact, sorted where W is."""
    tails, heads = truth.nonzero()
    scores = jnp.abs(weights)
    order = jnp.sort(scores.reshape(-1))
    hits = scores[tails, heads]
    below = np.asarray(jnp.searchsorted(order, hits, side="left"), np.float64)
    up_to = np.asarray(jnp.searchsorted(order, hits, side="right"), np.float64)
    positives = len(tails)
    wins = np.sum((below + up_to) / 2) - positives**2 / 2
    return float(wins / positives / (order.size - positives))


def fits(rate: float) -> Iterator[Row]:
    """Fit single graphs to the end, with the defaults and with one learning rate for all."""
    goals = {1_000: (0.98, 2), 5_000: (0.975, 16), 10_000: (0.96, 45)}
    for d, (least, most) in goals.items():
        data = simulate.load(f"n{ROWS}_d{d}_ER4_gauss", seed=0)
        x = (data.X - data.X.mean(0)).astype(np.float32)
        choices = {"defaults": {}, "one learning rate": prototype(d)}
        if settings(d) == settings(d, **prototype(d)):
            del choices["one learning rate"]
        for label, changes in choices.items():
            auc, taken, backend = full_fit(x, data.graph, changes)
            yield [
                f"a full fit, d={d:,}, ER4 Gaussian, {label}",
                f"AUC ≥ {least} in ≤ {most} s",
                f"AUC {auc:.4f} in {taken:.2f} s",
                f"{7 * 4 * d * d / rate * STEPS * EPOCHS:.2f} s",
                backend,
            ]


def full_fit(x: np.ndarray, truth: Any, changes: dict[str, float]) -> tuple[float, float, str]:
    """AUC, seconds and backend of one fit, compiled before the clock starts."""
    batch = batch_of(x, **changes)
    backend = choose(batch)
    backend.advance(batch, backend.start(batch), 0, 1)
    with Watch(EPOCHS, "") as watch:
        begin = time.perf_counter()
        state = train(batch, backend.start(batch), EPOCHS, watch).state
        jax.block_until_ready(state)
        taken = time.perf_counter() - begin
    found = jax.tree.map(lambda lanes: lanes[0], backend.parameters(batch, state))
    recipe, d = batch.recipe, x.shape[1]
    weights = recipe.read_out(found, recipe.schedule(EPOCHS, settings(d, **changes)))
    auc = area(weights, truth)
    if d <= 1_000:
        scores = ranking_scores(*truth.nonzero(), np.asarray(weights))
        np.testing.assert_allclose(auc, scores["auc"], rtol=1e-9)
    return auc, taken, backend.name


def many(rate: float) -> Iterator[Row]:
    """Solve thousands of small problems at once."""
    for d, configurations, tables, most in ((30, 800, 5, 6), (100, 400, 1, 5)):
        data = [
            simulate.load(f"n{ROWS}_d{d}_ER4_gauss", seed=seed).X.astype(np.float32)
            for seed in range(tables)
        ]
        centred = [x - x.mean(0) for x in data]

        def problems(epochs: float, d: int = d, count: int = configurations, data: Any = centred):
            random = np.random.default_rng(0)
            for seed in range(count):
                drawn = {
                    name: float(np.exp(random.uniform(*np.log(ends))))
                    for name, ends in SPACE.items()
                }
                yield from (Problem(x, settings(d, epochs, **drawn), seed) for x in data)

        def solve(epochs: float, problems: Any = problems) -> list[Any]:
            with Watch(int(epochs), "") as watch:
                return list(solve_many(SOLVER, list(problems(epochs)), device="gpu", watch=watch))

        solve(200)
        begin = time.perf_counter()
        solutions = solve(EPOCHS)
        taken = time.perf_counter() - begin
        failed = sum(solution.diverged_at is not None for _, solution in solutions)
        yield [
            f"{configurations * tables:,} fits, d={d}, {tables} data sets",
            f"≤ {most} s",
            f"{taken:.2f} s",
            "",
            f"{taken / STEPS / EPOCHS * 1e6:.0f} µs a step, {failed} diverged",
        ]


def parity(rate: float) -> Iterator[Row]:
    """Compare 96 steps of the kernels with the same left to XLA, in full single precision."""
    xla = next(backend for backend in BACKENDS if backend.name == "xla")
    small = simulate.load(f"n{ROWS}_d30_ER4_gauss", seed=0).X.astype(np.float32)
    # With λ₁ the gradient jumps where h changes sign, a rounding earlier or later.
    for data, lambda1, goal in (
        (noise(1_000), 0.0, "≤ 1e-4"),
        (noise(1_000), PROTOTYPE[1_000]["lambda1"], ""),
        (small, 0.0, "≤ 1e-4"),
    ):
        batch, d = batch_of(data, lambda1=lambda1), data.shape[1]
        kernels = linear_gpu if d >= linear_gpu.SMALLEST else small_gpu
        start = linear_gpu.start(batch) if kernels is linear_gpu else batch.start()
        with jax.default_matmul_precision("highest"):
            ours = kernels.advance(batch, start, 0, 6).parameters
            other = xla.advance(batch, batch.start(), 0, 6).parameters
        apart = jnp.abs(ours["arcs"][:, :d, :d] - other["arcs"])
        p = jnp.abs(ours["order"] - other["order"])
        yield [
            f"96 steps as XLA takes them, d={d:,}, λ₁ = {lambda1:g}",
            goal,
            f"H within {float(apart.max()):.1e}, p within {float(p.max()):.1e}",
            "",
            f"{float((apart > 1e-4).mean()):.2%} of H apart by more than 1e-4",
        ]


def devices(rate: float) -> Iterator[Row]:
    """Compare the GPU with the CPU: 96 steps of the same problems, and 20 fits to the end."""
    xla = next(backend for backend in BACKENDS if backend.name == "xla")
    for dtype, most in ((np.float64, 1e-10), (np.float32, 1e-4)):
        with jax.enable_x64(dtype == np.float64), jax.default_matmul_precision("highest"):
            x = simulate.load(f"n{ROWS}_d30_ER4_gauss", seed=0).X
            problem = Problem((x - x.mean(0)).astype(dtype), settings(30), seed=0)
            found = []
            for platform in ("cpu", "gpu"):
                batch = Batch.of(SOLVER.recipe, [problem], jax.devices(platform)[0])
                state = xla.advance(batch, batch.start(), 0, 6)
                found.append(np.asarray(state.parameters["arcs"]))
        apart = float(np.abs(found[0] - found[1]).max())
        name = np.dtype(dtype).name
        yield [f"96 steps, CPU and GPU, {name}", f"≤ {most:g}", f"H within {apart:.1e}", "", ""]
    data = [simulate.load(f"n{ROWS}_d30_ER4_gauss", seed=90_000 + seed) for seed in range(20)]
    problems = [
        Problem((case.X - case.X.mean(0)).astype(np.float32), settings(30), seed)
        for seed, case in enumerate(data)
    ]
    areas = np.array([auc_of_all(problems, data, platform) for platform in ("cpu", "gpu")])
    difference = areas[1] - areas[0]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    yield [
        "20 full fits, d=30: AUC on the GPU less AUC on the CPU",
        "within 2 standard errors of 0",
        f"{difference.mean():+.4f} ± {error:.4f}",
        "",
        f"CPU {areas[0].mean():.4f}, GPU {areas[1].mean():.4f}",
    ]


def auc_of_all(problems: list[Problem], data: list[Any], platform: str) -> list[float]:
    """AUC of every problem, solved on one kind of device."""
    with Watch(EPOCHS, "") as watch:
        found = dict(solve_many(SOLVER, problems, device=platform, watch=watch))
    areas = []
    for place, (problem, case) in enumerate(zip(problems, data, strict=True)):
        final = SOLVER.recipe.schedule(EPOCHS, problem.settings)
        areas.append(area(SOLVER.recipe.read_out(found[place].parameters, final), case.graph))
    return areas


SECTIONS: dict[str, Section] = {
    "parity": parity,
    "devices": devices,
    "many": many,
    "fits": fits,
    "steps": steps,
    "huge": huge,
    "half": half,
}


def main() -> None:
    """Measure the sections asked for, and write the page."""
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
    for section in options.sections or [name for name in SECTIONS if name != "half"]:
        for row in SECTIONS[section](rate):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    text = header("One GPU", ("jax", "jaxlib", "numpy"))
    text += f"- device: {device.device_kind}; a copy moves {rate / 1e12:.2f} TB/s\n\n"
    text += table(["work", "reach", "measured", "floor", "notes"], rows)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
