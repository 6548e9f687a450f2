"""Pruning of given orders of up to 100,000 variables, on the first device that JAX finds.

    python benchmarks/prune_gpu.py                        # meant for a GPU
    python benchmarks/prune_gpu.py --sizes 5000 -o page.md

ER4 graphs, 1,000 rows, Gaussian noise. Columns: wrong arcs per variable (NHD), fraction of found
arcs that are false (FDR), fraction of true arcs that are found (TPR). Orders: the true one, as the
limit, and the columns by rising variance. Seconds are from the table to the graph: standardising,
the transfer, growing, and the decisions in double precision on the host; the first run, listed
separately, also compiles. ``--compare`` also runs `choose_parents` with all correlations in double
precision, and lists the number of arcs that differ and its seconds. ``--double`` computes the
products in double precision.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy import sparse

from cosmodag import simulate
from cosmodag.graph.dags import topological_order
from cosmodag.metrics.scores import arc_counts, hamming_scores
from cosmodag.search import choose_parents
from cosmodag.search.moments import Moments
from cosmodag.search.tiles.tile_pruning import prune_in_tiles
from environment import header, table

COLUMNS = ["d", "order", "NHD", "FDR", "TPR", "arcs", "seconds", "first run", "all correlations"]


def measure(d: int, seed: int, options: argparse.Namespace) -> Iterator[list[object]]:
    """Make a row for each order of one data set."""
    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=seed)
    truth = sparse.csr_array(data.graph).astype(bool)
    orders = {
        "true": np.asarray(topological_order(truth)),
        "variance": np.argsort(data.X.var(axis=0), kind="stable"),
    }
    for name, order in orders.items():
        _, first = timed(data.X, order, options)
        graph, seconds = timed(data.X, order, options)
        compared = compare(data.X, order, graph, options.penalty) if options.compare else ""
        yield [
            f"{d:,}",
            name,
            *scores(truth, graph.adjacency()),
            f"{graph.arcs:,}",
            f"{seconds:.2f}",
            f"{first:.2f}",
            compared,
        ]


def timed(x: np.ndarray, order: np.ndarray, options: argparse.Namespace) -> tuple[Any, float]:
    """Prune an order; return the graph and the seconds."""
    begin = time.perf_counter()
    graph = prune_in_tiles(
        x, order, penalty=options.penalty, block=options.block, double=options.double
    )
    return graph, time.perf_counter() - begin


def scores(truth: Any, found: Any) -> list[str]:
    """Compute NHD, FDR and TPR."""
    rates = hamming_scores(arc_counts(*truth.nonzero(), found))
    return [f"{rates[name]:.4f}" for name in ("nhd", "fdr", "tpr")]


def compare(x: np.ndarray, order: np.ndarray, graph: Any, penalty: float | None) -> str:
    """Count the arcs that differ from those found with all correlations; add the seconds."""
    begin = time.perf_counter()
    other = choose_parents(Moments.of(x), order, penalty=penalty)
    seconds = time.perf_counter() - begin
    differ = (graph.adjacency() != other.adjacency()).nnz
    return f"{differ} arcs differ; {seconds:.2f} s"


def main() -> None:
    """Measure the requested sizes and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--penalty", type=float, default=None, help="penalty per arc (default: log max(n, d))"
    )
    parser.add_argument("--block", type=int, default=None, help="number of children at a time")
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--compare", action="store_true", help="needs 8 d² bytes of memory")
    parser.add_argument("-o", "--output", type=Path, default=None)
    options = parser.parse_args()
    rows: list[list[object]] = []
    for d in options.sizes:
        for row in measure(d, options.seed, options):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    text = header("Pruning large graphs", ("jax", "jaxlib", "numpy"))
    text += f"- device: {jax.devices()[0].device_kind}\n\n" + table(COLUMNS, rows)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
