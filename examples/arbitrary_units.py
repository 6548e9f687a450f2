"""Arbitrary units, and what the arrows mean.

Learners that minimise squared errors read directions from the sizes of the columns: measure a
column in other units, and their graph changes. The order search is free of units, but then data
decide the class of equivalent graphs only, and some arrows are one choice among several. Every
learner says of each arrow what it rests on.
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
    # Noise of a size of its own for each variable: nothing but the class can be learnt.
    measured = simulate.sample_linear(weights, 2000, rng, scales=rng.uniform(0.5, 2.0, size=d))
    converted = measured * 10 ** rng.uniform(-2, 2, size=d)  # metres into millimetres, and so on
    truth = weights.toarray() != 0

    warnings.simplefilter("ignore", CosmodagWarning)  # which say what this example is about
    learners = {
        "squared error": Cosmo(refine=None, random_state=0, verbose=False),
        "order search": OrderSearch(noise="gaussian", random_state=0),
    }
    for name, learner in learners.items():
        first = learner.fit(measured).adjacency_ != 0
        second = learner.fit(converted).adjacency_ != 0
        shd = metrics.evaluate(truth, second)["shd"]
        print(f"{name}: {np.sum(first != second)} entries change with the units;")
        print(f"  in the new ones {shd:.0f} arcs differ from the truth,")
        print(f"  {class_distance(truth, second)} where equivalent graphs count as one")

    graph, decided = learner.adjacency_ != 0, compelled(learner.adjacency_)
    print(f"{np.sum(graph)} arrows, of which every equivalent graph has {np.sum(decided)}:")
    for basis, count in Counter(learner.arrow_basis_).items():
        print(f"  {count} rest on: {basis}")


if __name__ == "__main__":
    main()
