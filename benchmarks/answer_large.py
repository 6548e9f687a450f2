"""Graphs of thousands of variables by plain `Cosmo()`, and dense graphs by `OrderSearch()`.

    python benchmarks/answer_large.py --output benchmarks/answer_large.md
    python benchmarks/answer_large.py --rows 50000-raw --output page.md

Rows ``SIZE-raw`` and ``SIZE-std``: simulated ER4 data, 1,000 rows, equal noise variances, columns
as they are or divided by their standard deviations. Row ``dense``: d = 1,000, degree 20 (10,000
arcs), 10,000 rows, coefficients ±U(.25, 1), noise deviations U(.5, 2), standardised; its SHD is the
distance between equivalence classes, per arc. ``dense-D`` is the same with D variables. Times
exclude only compilation, for which a small table is fitted first. After the time limit of a row
(``--limit``) the best graph found so far counts.
"""

import argparse
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cosmodag import Cosmo, OrderSearch, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.equivalence import class_distance
from environment import header, standardised, table

FIRST_SEED = 500_000
ROWS = ["5000-raw", "5000-std", "20000-raw", "20000-std", "50000-raw", "dense"]
COLUMNS = [
    "table",
    "wrong arcs",
    "TPR",
    "FDR",
    "seconds",
    "CPU seconds",
    "memory, GB",
    "noise",
    "ended",
]


def dense_table(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a random DAG with 10 d arcs and a table of its linear model."""
    random = np.random.default_rng(seed)
    pairs = np.triu_indices(d, 1)
    chosen = random.choice(len(pairs[0]), min(10 * d, len(pairs[0])), replace=False)
    weights = np.zeros((d, d))
    sizes = random.uniform(0.25, 1, len(chosen)) * random.choice([-1.0, 1.0], len(chosen))
    weights[pairs[0][chosen], pairs[1][chosen]] = sizes
    noise = random.normal(size=(10_000, d)) * random.uniform(0.5, 2, d)
    x = noise
    for v in range(d):
        x[:, v] += x[:, :v] @ weights[:v, v]
    shuffled = random.permutation(d)
    return standardised(x[:, shuffled]), (weights != 0)[np.ix_(shuffled, shuffled)]


def arcs_found(truth: Any, found: Any) -> tuple[float, float, float]:
    """Wrong arcs, fraction of true arcs that are found, fraction of found arcs that are false."""
    true, ours = sparse.csr_array(truth).astype(bool), sparse.csr_array(found).astype(bool)
    right = true.multiply(ours).nnz
    wrong = true.nnz + ours.nnz - 2 * right
    return wrong, right / true.nnz, 1 - right / max(1, ours.nnz)


def measure(row: str, limit: float) -> list[str]:
    """Fit one table."""
    name, _, kind = row.partition("-")
    is_dense = name == "dense"
    if is_dense:
        x, truth = dense_table(int(kind or 1000), FIRST_SEED)
        model: Any = OrderSearch(random_state=0, verbose=False, max_time=limit)
    else:
        data = simulate.load(f"n1000_d{name}_ER4_gauss", seed=FIRST_SEED)
        x, truth = (standardised(data.X) if kind == "std" else data.X), data.graph
        model = Cosmo(random_state=0, verbose=False, max_time=limit)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(x)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    wrong, tpr, fdr = arcs_found(truth, model.adjacency_)
    shown = f"{wrong / x.shape[1]:.3f} per variable"
    if is_dense:
        shown = f"{class_distance(truth, model.adjacency_ != 0) / truth.sum():.4f} per arc (class)"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    ended = model.stopped_ or "by itself"
    for entry in model.refine_report_:
        print("   ", entry, flush=True)
    figures = [f"{tpr:.3f}", f"{fdr:.3f}", f"{wall:.1f}", f"{cpu:.0f}", f"{memory:.1f}"]
    return [row, shown, *figures, model.noise_, ended]


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", default=ROWS)
    parser.add_argument(
        "--limit", type=float, default=720, help="time limit of each row, in seconds"
    )
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    begin = time.perf_counter()
    small = simulate.load("n1000_d1000_ER2_gauss", seed=FIRST_SEED).X
    for x in (small, standardised(small)):
        OrderSearch(random_state=0, restarts=0, verbose=False).fit(x)
    print(f"compiled and tried in {time.perf_counter() - begin:.0f} s", flush=True)
    rows: list[list[str]] = []
    for row in options.rows:
        rows.append(measure(row, options.limit))
        print(rows[-1], flush=True)
        text = header("Large graphs") + "\n" + table(COLUMNS, rows)
        if options.output:
            options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
