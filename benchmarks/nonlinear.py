"""Non-linear learners: accuracy, time and memory, and speed against plain PyTorch.

    python benchmarks/nonlinear.py accuracy --variables 20 --graphs 10 --learners cosmo-paper cosmo
    python benchmarks/nonlinear.py speed --variables 20 100

Accuracy is on the paper's `mlp` data with 1000 rows. Every line is one learner on one family of
graphs: means and standard deviations over graphs, processor and wall time of a fit, and the most
memory the process ever held. Results are kept in nonlinear.md.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from cosmodag import CosmoMLP, DagmaMLP, NotearsMLP, metrics, paper_mlp_settings, simulate
from cosmodag.learners import StructureLearner

Maker = Callable[[int], StructureLearner]

LEARNERS: dict[str, Maker] = {
    "cosmo-paper": lambda d: CosmoMLP(random_state=0, **paper_mlp_settings(d)),
    "cosmo": lambda d: CosmoMLP(random_state=0),
    "cosmo-inputs": lambda d: CosmoMLP(random_state=0, mask="inputs"),
    "dagma": lambda d: DagmaMLP(random_state=0),
    "notears": lambda d: NotearsMLP(random_state=0),
}


def megabytes() -> float:
    """Most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def accuracy(options: argparse.Namespace) -> None:
    """Fit every learner on every graph and print one row of a table for each family."""
    print("| learner | data | graphs | read-out | AUC | NHD | TPR | CPU s | wall s | peak MB |")
    print("|" + "---|" * 10)
    for name in options.learners:
        for family in options.families:
            report(name, family, options.variables[0], range(options.graphs))


def report(name: str, family: str, d: int, seeds: range) -> None:
    """Print the rows of one learner on one family."""
    scores: dict[str, list[list[float]]] = {"norm": [], "sum": []}
    cpu, wall = [], []
    for seed in seeds:
        data = simulate.load(f"n1000_d{d}_{family}_mlp", seed=seed)
        begin_cpu, begin_wall = time.process_time(), time.perf_counter()
        model = LEARNERS[name](d).fit(data.X)
        cpu.append(time.process_time() - begin_cpu)
        wall.append(time.perf_counter() - begin_wall)
        for strength, weights in (("norm", model.arc_norms_), ("sum", model.arc_sums_)):
            found = metrics.evaluate(data.graph, weights)
            scores[strength].append([found[key] for key in ("auc", "nhd", "tpr")])
    times = f"{np.median(cpu):.1f} | {np.median(wall):.1f} | {megabytes():.0f}"
    for strength, rows in scores.items():
        mean, deviation = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
        print(
            f"| {name} | {family} d={d} | {len(rows)} | {strength} "
            f"| {mean[0]:.3f} ± {deviation[0]:.3f} | {mean[1]:.2f} | {mean[2]:.2f} | {times} |",
            flush=True,
        )


def speed(options: argparse.Namespace) -> None:
    """Time epochs of `CosmoMLP`'s loop and of plain PyTorch, in turns, and print the ratios.

    PyTorch runs with its default number of threads and with one, since on a busy machine threads
    that wait for each other cost more than they bring; the ratio is to the better of the two.
    """
    import torch

    from plain_torch_mlp import train

    default = torch.get_num_threads()
    print(f"| d | PyTorch, {default} threads, µs a step | PyTorch, 1 thread | here | ratio |")
    print("|---|---|---|---|---|")
    for d in options.variables:
        X = simulate.load(f"n1000_d{d}_ER4_mlp", seed=0).X
        data = np.ascontiguousarray(X - X.mean(0), np.float32)
        ours = epochs_here(data)
        train(data, 1)
        rows = []
        for _ in range(options.repeats):
            row = []
            for threads in (default, 1):
                torch.set_num_threads(threads)
                row.append(timed(partial(train, data, 2)) / 2 / 16)
            rows.append([*row, timed(partial(ours, 40)) / 40 / 16])
        default_time, one_time, here = np.median(rows, axis=0) * 1e6
        ratio = min(default_time, one_time) / here
        print(
            f"| {d} | {default_time:.0f} | {one_time:.0f} | {here:.0f} | {ratio:.0f} |", flush=True
        )


def epochs_here(data: np.ndarray) -> Callable[[int], None]:
    """Make a function that runs so many epochs, everything being compiled already."""
    from cosmodag.solver.kernels.backends import choose
    from cosmodag.solver.methods.anneal import Anneal

    from cosmodag.mechanism import MLP
    from cosmodag.solver.many import device_named
    from cosmodag.solver.problems import Batch, Problem

    settings = CosmoMLP(**paper_mlp_settings(data.shape[1])).settings_for(data.shape[1])
    settings |= {"epochs": 2000.0, "beta1": 0.9, "beta2": 0.999}
    problem = Problem(data, settings, seed=0)
    batch = Batch.of(Anneal(MLP()).recipe, [problem], device_named("cpu"))
    backend = choose(batch)
    state = backend.advance(batch, backend.start(batch), 0, 1)

    def run(epochs: int) -> None:
        backend.advance(batch, state, 1, 1 + epochs)

    return run


def timed(function: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["accuracy", "speed"])
    parser.add_argument("--variables", type=int, nargs="+", default=[20])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--families", nargs="+", default=["ER4", "SF4"])
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=["cosmo-paper"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"accuracy": accuracy, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
