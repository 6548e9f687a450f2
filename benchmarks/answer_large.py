"""Graphs of thousands of variables: an order searched on all cores, from the variances.

    python benchmarks/answer_large.py --sizes 5000 20000 --output benchmarks/answer_large.md

`Cosmo(refine="order")` on simulated ER4 data with 1,000 rows: with fewer rows than variables it
does not train, and the search starts from the order of variances. Beside it the same order, pruned.
All is counted but compilation, for which a small table is fitted first.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from cosmodag import Cosmo, simulate
from cosmodag.errors import CosmodagWarning
from environment import header, table

FIRST_SEED = 500_000


def wrong_arcs(truth: object, found: object) -> list[str]:
    """NHD, and the shares of true arcs found and of found arcs that are false."""
    true, ours = truth.astype(bool), found.astype(bool)
    right = true.multiply(ours).nnz
    wrong = true.nnz + ours.nnz - 2 * right
    shares = right / true.nnz, 1 - right / max(1, ours.nnz)
    return [f"{wrong / true.shape[0]:.3f}", f"{shares[0]:.3f}", f"{shares[1]:.3f}"]


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 20_000])
    parser.add_argument("--methods", nargs="+", default=["prune", "order"])
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    small = simulate.load("n300_d250_ER2_gauss", seed=FIRST_SEED).X
    for method in options.methods:
        Cosmo(refine=method, epochs=2, random_state=0).fit(small)
    rows = []
    for d in options.sizes:
        data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=FIRST_SEED)
        truth = sparse_form(data.graph)
        for method in options.methods:
            begin = time.perf_counter()
            model = Cosmo(refine=method, random_state=0, verbose=False).fit(data.X)
            seconds = time.perf_counter() - begin
            found = sparse_form(model.adjacency_)
            row = [f"{d:,}", method, *wrong_arcs(truth, found), f"{seconds:.1f}", model.noise_]
            rows.append(row)
            print(row, flush=True)
    columns = ["variables", "refine", "NHD", "TPR", "FDR", "seconds, all counted", "noise"]
    text = header("Large graphs") + "\n" + table(columns, rows)
    if options.output:
        options.output.write_text(text)
    print(text)


def sparse_form(matrix: object) -> object:
    """Sparse form of a graph."""
    from scipy import sparse

    return sparse.csr_array(np.asarray(matrix) if not sparse.issparse(matrix) else matrix)


if __name__ == "__main__":
    main()
