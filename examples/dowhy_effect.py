"""From a learnt graph to the effect of an intervention, with DoWhy.

cosmodag learns which column depends on which. DoWhy takes the graph, finds an adjustment set, and
estimates the effect of an intervention. Here the table is simulated, so that the true effect is
known.
"""

import argparse
import logging

import networkx as nx
import numpy as np
import pandas as pd
from dowhy import CausalModel

from cosmodag import Cosmo, simulate


def main() -> None:
    """Learn a graph, pass it to DoWhy, and compare an estimated effect with the true one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    rows = 300 if parser.parse_args().quick else 2000
    logging.getLogger("dowhy").setLevel(logging.ERROR)
    data = simulate.load(f"n{rows}_d8_ER2_gauss", seed=1)
    table = pd.DataFrame(data.X, columns=[f"x{v}" for v in range(8)])

    learner = Cosmo(random_state=0, verbose=False).fit(table)
    graph = nx.DiGraph(list(learner.graph_.edges))
    # (I − W)⁻¹ − I holds the sum over all directed paths of the products of their weights.
    true = np.linalg.inv(np.eye(8) - data.weights) - np.eye(8)
    learnt_order = learner.causal_order_
    cause, effect = farthest_pair(graph, learnt_order)

    model = CausalModel(data=table, treatment=cause, outcome=effect, graph=graph)
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    estimate = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
    naive = np.polyfit(table[cause], table[effect], 1)[0]

    position = {name: v for v, name in enumerate(table.columns)}
    print(f"effect of {cause} on {effect}, adjusted for {estimand.get_backdoor_variables()}:")
    print(f"  DoWhy on the learnt graph: {float(estimate.value):+.2f}")
    print(f"  regression without a graph: {naive:+.2f}")
    print(f"  true effect: {true[position[cause], position[effect]]:+.2f}")


def farthest_pair(graph: nx.DiGraph, order: list[str]) -> tuple[str, str]:
    """Choose a cause that has parents, so that adjustment is needed, and its last descendant."""
    inner = [name for name in order if name in graph and graph.in_degree(name)]
    cause = max(inner, key=lambda name: len(nx.descendants(graph, name)))
    return cause, max(nx.descendants(graph, cause), key=order.index)


if __name__ == "__main__":
    main()
