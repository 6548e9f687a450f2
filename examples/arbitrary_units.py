"""Arbitrary units, and the basis of each arrow.

Learners that minimise squared errors infer directions from the variances of the columns: if a
column is measured in other units, their graph changes. The order search does not depend on units,
but then the data determine only the equivalence class of the graph, and the directions of some
arrows are a free choice. Every learner reports the basis of each arrow.
"""

import argparse
import warnings
from collections import Counter

import numpy as np

from cosmodag import Cosmo, OrderSearch, metrics, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.graph.equivalence import class_distance, compelled


def main() -> None:
    """Learn from one table in two sets of units, with two learners."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer variables")
    d = 6 if parser.parse_args().quick else 12
    rng = np.random.default_rng(0)
    weights = simulate.random_weights(simulate.erdos_renyi(d, d, rng), rng)
    # Noise variances differ between variables, so that only the equivalence class can be learnt.
    measured = simulate.sample_linear(weights, 2000, rng, scales=rng.uniform(0.5, 2.0, size=d))
    converted = measured * 10 ** rng.uniform(-2, 2, size=d)  # metres into millimetres, and so on
    truth = weights.toarray() != 0

    warnings.simplefilter("ignore", CosmodagWarning)  # warnings about the units of this table
    learners = {
        "squared error": Cosmo(refine=None, random_state=0, verbose=False),
        "order search": OrderSearch(noise="gaussian", random_state=0),
    }
    for name, learner in learners.items():
        first = learner.fit(measured).adjacency_ != 0
        second = learner.fit(converted).adjacency_ != 0
        shd = metrics.evaluate(truth, second)["shd"]
        print(f"{name}: {np.sum(first != second)} entries of the graph change with the units;")
        print(f"  in the new units, {shd:.0f} arcs differ from those of the true graph")
        print(f"  and {class_distance(truth, second)} edges from those of its equivalence class")

    graph, decided = learner.adjacency_ != 0, compelled(learner.adjacency_)
    print(f"{np.sum(graph)} arrows, {np.sum(decided)} of them in every equivalent graph; bases:")
    for basis, count in Counter(learner.arrow_basis_).items():
        print(f"  {basis}: {count}")


if __name__ == "__main__":
    main()
