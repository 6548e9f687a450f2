"""A first fit: from a table to a directed acyclic graph.

The table is simulated, so that the learnt graph can be compared with the true one. For a table of
your own, replace `table` by ``pandas.read_csv("data.csv")``.
"""

import argparse
import tempfile
from pathlib import Path

import pandas as pd

import cosmodag
from cosmodag import Cosmo, metrics, simulate


def main() -> None:
    """Simulate, learn, show, evaluate and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer variables")
    d = 6 if parser.parse_args().quick else 15
    data = simulate.load(f"n500_d{d}_ER2_gauss", seed=0)
    table = pd.DataFrame(data.X, columns=[f"x{v}" for v in range(d)])

    model = Cosmo(random_state=0, verbose=False).fit(table)

    print("causes first:", *model.causal_order_)
    for cause, effect, weight in model.graph_.edges(data="weight"):
        print(f"  {cause} → {effect}  {weight:+.2f}")
    print(f"noise: {model.noise_} ({model.noise_reason_})")

    scores = metrics.evaluate(data.graph, model.adjacency_)
    print(f"wrong arcs: {scores['shd']:.0f}; true arcs: {data.graph.sum():.0f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        again = cosmodag.load(path)
    print("saved and loaded:", bool((again.adjacency_ == model.adjacency_).all()))


if __name__ == "__main__":
    main()
