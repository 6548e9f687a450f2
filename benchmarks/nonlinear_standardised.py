"""`CosmoMLP()` on the paper's non-linear tables after standardising, when units show no order.

python benchmarks/nonlinear_standardised.py --output benchmarks/nonlinear_standardised.md
"""

import argparse
import warnings
from pathlib import Path

from cosmodag import CosmoMLP, metrics, simulate
from environment import header, table, with_error

FIRST_SEED, TABLES = 600_000, 5
FAMILIES = ("n1000_d20_ER4_mlp", "n1000_d20_SF4_mlp")


def wrong_arcs(family: str, seed: int) -> float:
    """NHD of the graph learnt from one standardised table."""
    data = simulate.load(family, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CosmoMLP(random_state=0, verbose=False).fit(data.X / data.X.std(axis=0))
    return float(metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["nhd"])


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rows: list[list[object]] = []
    for family in FAMILIES:
        found = [wrong_arcs(family, FIRST_SEED + number) for number in range(TABLES)]
        rows.append([family, TABLES, with_error(found), ", ".join(f"{one:.2f}" for one in found)])
    page = header("Non-linear tables, standardised") + "\nThe empty graph has an NHD of 4.\n\n"
    page += table(["data", "tables", "NHD of `CosmoMLP()`", "each"], rows)
    options.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
