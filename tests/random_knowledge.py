"""Random knowledge that some graph satisfies, and a check for violations."""

from itertools import pairwise

import networkx as nx
import numpy as np

from cosmodag import Knowledge


def random_knowledge(names: list[str], random: np.random.Generator) -> Knowledge:
    """Draw knowledge that is consistent with a random order, which is independent of the data."""
    d = len(names)
    order = [names[v] for v in random.permutation(d)]
    place = {name: k for k, name in enumerate(order)}
    forward = [(a, b) for a in order for b in order if place[a] < place[b]]
    required = _sample(forward, int(random.integers(0, 3)), random)
    others = [(a, b) for a in names for b in names if a != b and (a, b) not in required]
    tiers = []
    if random.random() < 0.6:
        cuts = [0, *sorted(random.integers(0, d + 1, 2)), d]
        tiered = [name for name in order if random.random() < 0.8]
        tiers = [
            [name for name in tiered if first <= place[name] < last]
            for first, last in pairwise(cuts)
        ]
    caused = {effect for _, effect in required}
    causing = {cause for cause, _ in required}
    space = None
    if random.random() < 0.2:
        space = [*required, *_sample(others, len(others) // 2, random)]
    return Knowledge(
        forbidden_edges=_sample(others, int(random.integers(0, d)), random),
        required_edges=required,
        tiers=tiers,
        exogenous=[name for name in names if name not in caused and random.random() < 0.1],
        sinks=[name for name in names if name not in causing and random.random() < 0.1],
        search_space=space,
    )


def _sample(edges, count, random):
    return [edges[k] for k in random.choice(len(edges), min(count, len(edges)), replace=False)]


def violations(model, knowledge: Knowledge) -> list[str]:
    """List the ways in which a fitted learner violates the knowledge, read literally."""
    arcs, names = set(model.graph_.edges), list(model.names_)
    place = {name: k for k, name in enumerate(model.causal_order_)}
    # Tiers restrict both the ancestors in the graph and the causal order.
    ancestors_of = {name: nx.ancestors(model.graph_, name) for name in names}
    found = [f"no DAG: {arcs}"] if not nx.is_directed_acyclic_graph(model.graph_) else []
    found += [f"{a} → {b} is against the order" for a, b in arcs if place[a] >= place[b]]
    found += [f"{edge} is forbidden" for edge in knowledge.forbidden_edges if edge in arcs]
    found += [f"{edge} is required" for edge in knowledge.required_edges if edge not in arcs]
    found += [f"{a} → {b}: {b} is exogenous" for a, b in arcs if b in knowledge.exogenous]
    found += [f"{a} → {b}: {a} is a sink" for a, b in arcs if a in knowledge.sinks]
    if knowledge.search_space is not None:
        found += [f"{edge} is outside" for edge in arcs if edge not in knowledge.search_space]
    for k, tier in enumerate(knowledge.tiers):
        for later in (name for others in knowledge.tiers[k + 1 :] for name in others):
            found += [f"{later} causes {name}" for name in tier if later in ancestors_of[name]]
            found += [f"{later} is before {name}" for name in tier if place[later] < place[name]]
    dense = np.asarray(model.adjacency_) != 0
    drawn = {(names[u], names[v]) for u, v in zip(*np.nonzero(dense), strict=True)}
    found += [f"{edge} is in adjacency_ only" for edge in drawn - arcs]
    return found
