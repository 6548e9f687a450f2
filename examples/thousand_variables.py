"""A thousand variables on a laptop.

COSMO learns an order, and a search improves it. Each variable is then regressed on its
predecessors, and the arcs that the data support are kept. ``refine="prune"`` omits the search, for
still larger tables.
"""

import argparse
import time

from cosmodag import Cosmo, metrics, simulate


def main() -> None:
    """Simulate, learn, evaluate and print the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundred variables")
    d = 100 if parser.parse_args().quick else 1000
    data = simulate.load(f"n1000_d{d}_ER4_gauss", seed=0)

    began = time.perf_counter()
    model = Cosmo(random_state=0, verbose=False).fit(data.X)
    seconds = time.perf_counter() - began

    scores = metrics.evaluate(data.graph, model.adjacency_)
    print(f"{d} variables, {data.graph.sum():.0f} arcs, learnt in {seconds:.0f} s")
    print(f"{scores['tpr']:.1%} of them were found; {scores['fdr']:.1%} of those found are false")
    hub = max(model.graph_, key=model.graph_.out_degree)
    print(f"variable with most effects: {hub}, with {model.graph_.out_degree(hub)}")


if __name__ == "__main__":
    main()
