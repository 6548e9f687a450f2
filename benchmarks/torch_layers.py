"""`cosmodag.torch`: parity with JAX, the cost of a step, and a COSMO layer compared with a penalty.

    OMP_NUM_THREADS=1 python benchmarks/torch_layers.py -o benchmarks/torch_layers.md --jobs 16

The graph autoencoder of ``examples`` is trained with its acyclicity penalty and with a COSMO layer,
each at several budgets, on the same simulated graphs. No setting was chosen on these graphs.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from joblib import Parallel, delayed

from cosmodag import metrics, simulate
from cosmodag.model.mechanism import MLP, Linear, Mechanism
from cosmodag.model.structure import Priority
from cosmodag.torch import PriorityLayer, PriorityLinear, PriorityMLP, SmoothOrientation
from environment import header, table, verdict, with_error

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import torch_vae_cosmo
import torch_vae_penalty

FIRST_SEED = 1000
SHIFT, TEMPERATURES = 6e-3, (0.45, 0.05, 8.5e-4)
LAYERS: dict[str, tuple[Callable[[SmoothOrientation], PriorityLayer], Mechanism]] = {
    "PriorityLinear": (PriorityLinear, Linear()),
    "PriorityMLP": (PriorityMLP, MLP()),
}


class Fit(NamedTuple):
    """Result of one training."""

    way: str
    epochs: int
    seed: int
    auc: float
    seconds: float


def train(way: str, epochs: int, nodes: int, seed: int) -> Fit:
    """Train one autoencoder on one simulated table, on one core."""
    torch.set_num_threads(1)
    data = simulate.load(f"n500_d{nodes}_ER2_gauss", seed=seed)
    x = torch.as_tensor(data.X - data.X.mean(0), dtype=torch.float32)
    torch.manual_seed(seed)
    module: Any = torch_vae_penalty if way == "penalty" else torch_vae_cosmo
    began = time.process_time()
    model = module.fit(x, epochs)
    seconds = time.process_time() - began
    scores = metrics.evaluate(data.graph, model.weights().numpy(force=True))
    return Fit(way, epochs, seed, scores["auc"], seconds)


def swap(nodes: int, graphs: int, budgets: dict[str, list[int]], jobs: int) -> str:
    """Compare the penalty and the layer on the same graphs."""
    tasks = [
        (way, epochs, nodes, FIRST_SEED + graph)
        for way, several in budgets.items()
        for epochs in several
        for graph in range(graphs)
    ]
    fits: list[Fit] = Parallel(n_jobs=jobs)(delayed(train)(*task) for task in tasks)
    groups = {(f.way, f.epochs): [g for g in fits if g[:2] == f[:2]] for f in fits}
    rows: list[list[object]] = [
        [
            *key,
            with_error([f.auc for f in group], 3),
            with_error([f.seconds for f in group], 1),
        ]
        for key, group in groups.items()
    ]
    columns = ["acyclicity by", "epochs", "AUC", "CPU seconds"]
    title = f"### {nodes} variables, {graphs} graphs\n\n"
    return title + table(columns, rows) + "\n" + compared(groups)


def compared(groups: dict[tuple[str, int], list[Fit]]) -> str:
    """Compare every budget of COSMO with every budget of the penalty, graph by graph."""
    rows: list[list[object]] = []
    for (way, epochs), mine in groups.items():
        for (other, budget), theirs in groups.items():
            if (way, other) != ("cosmo", "penalty"):
                continue
            differences = np.array([a.auc - b.auc for a, b in zip(mine, theirs, strict=True)])
            error = differences.std(ddof=1) / np.sqrt(len(differences))
            ratio = statistics.fmean(f.seconds for f in theirs) / statistics.fmean(
                f.seconds for f in mine
            )
            same = differences.mean() > -2 * error
            rows.append(
                [
                    epochs,
                    budget,
                    with_error(differences, 3),
                    f"{ratio:.1f}",
                    verdict(same and ratio > 1),
                ]
            )
    columns = [
        "COSMO epochs",
        "penalty epochs",
        "AUC: COSMO − penalty",
        "penalty's time / COSMO's",
        "AUC not lower by 2 SE, in less time",
    ]
    return table(columns, rows)


def parity(device: str, d: int = 20, rows: int = 50) -> str:
    """Largest difference from JAX, relative to the largest entry, in float64."""
    lines: list[list[object]] = []
    for name, (make, mechanism) in LAYERS.items():
        for temperature in TEMPERATURES:
            torch.manual_seed(0)
            layer = make(SmoothOrientation(d, shift=SHIFT, dtype=torch.float64))
            layer.orientation.set_temperature(temperature)
            layer.to(device)
            x = np.random.default_rng(0).normal(size=(rows, d))
            lines.append([name, temperature, *differences_from_jax(layer, mechanism, x)])
    columns = ["layer", "temperature", "x̂", "gradient of H", "gradient of p"]
    return table(columns, lines)


def differences_from_jax(layer: PriorityLayer, mechanism: Mechanism, x: np.ndarray) -> list[str]:
    """Compare predictions and gradients of the squared error."""
    given = torch.as_tensor(x, device=layer.strengths.device)
    predicted = layer(given)
    ((predicted - given) ** 2).mean().backward()
    arrays = {name: p.numpy(force=True) for name, p in layer.named_parameters()}
    functions: dict[str, Any] = {}
    if isinstance(layer, PriorityMLP):
        output = {"weights": arrays["output_weights"], "biases": arrays["output_biases"]}
        functions = {"biases": arrays["first_biases"], "hidden": (), "output": output}
    orientation = layer.orientation
    settings = {"shift": orientation.shift.item(), "temperature": orientation.temperature.item()}

    def loss(learnt: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
        weights = Priority().orient(learnt, settings, 1.0)
        found = mechanism.predict(jnp.asarray(x), weights, functions)
        return ((found - x) ** 2).mean(), found

    with jax.enable_x64(True):
        learnt = {
            "arcs": jnp.asarray(arrays["strengths"]),
            "order": jnp.asarray(arrays["orientation.priorities"]),
        }
        gradients, expected = jax.grad(loss, has_aux=True)(learnt)
        pairs = [
            (predicted, expected),
            (layer.strengths.grad, gradients["arcs"]),
            (orientation.priorities.grad, gradients["order"]),
        ]
        return [relative(found.numpy(force=True), np.asarray(right)) for found, right in pairs]


def relative(found: np.ndarray, expected: np.ndarray) -> str:
    """Largest difference over the largest entry."""
    return f"{np.abs(found - expected).max() / np.abs(expected).max():.1e}"


def steps(device: str, d: int = 100, rows: int = 64, repeats: int = 200) -> str:
    """Microseconds per step of Adam's gradient, eager and compiled by Inductor."""
    lines: list[list[object]] = []
    for name, (make, _) in LAYERS.items():
        layer = make(SmoothOrientation(d)).to(device)
        x = torch.randn(rows, d, device=device)
        times = [f"{1e6 * median_time(f, x, repeats):.0f}" for f in (layer, torch.compile(layer))]
        agreement = torch.max(torch.abs(torch.compile(layer)(x) - layer(x))).item()
        lines.append([name, d, *times, f"{agreement:.1e}"])
    return table(["layer", "d", "eager, µs", "compiled, µs", "largest difference"], lines)


def median_time(forward: Callable[..., torch.Tensor], x: torch.Tensor, repeats: int) -> float:
    """Seconds of one forward and backward pass."""
    times = []
    for _ in range(repeats + 10):
        began = time.perf_counter()
        ((forward(x) - x) ** 2).mean().backward()
        if x.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[10:])


def main() -> None:
    """Measure the requested parts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=12)
    parser.add_argument("--nodes", type=int, nargs="*", default=[10, 20])
    parser.add_argument("--penalty", type=int, nargs="+", default=[10, 30, 100, 300])
    parser.add_argument("--cosmo", type=int, nargs="+", default=[100, 200, 300, 1000])
    parser.add_argument(
        "--no-steps",
        action="store_true",
        help="leave out the cost of a step, which needs a C++ compiler",
    )
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    page = header("PyTorch layers", ("torch", "jax", "numpy"))
    page += f"\n## Parity with JAX in float64, layers on {name}\n\n" + parity(device)
    if not options.no_steps:
        page += f"\n## One forward and backward pass, {name}\n\n" + steps(device)
    if options.nodes:
        page += "\n## A graph autoencoder, with its acyclicity penalty or with a COSMO layer\n\n"
    budgets = {"penalty": options.penalty, "cosmo": options.cosmo}
    for nodes in options.nodes:
        page += swap(nodes, options.graphs, budgets, options.jobs) + "\n"
    print(page)
    if options.output:
        options.output.write_text(page.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
