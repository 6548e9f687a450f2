"""Fitted models of any size for the tests of the report, without waiting for a learner."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from cosmodag import EmptyGraph, VarianceSort
from cosmodag.graph.dags import topological_order


def random_dag(d: int, arcs: int, seed: int = 0) -> np.ndarray:
    """Weights of a random DAG with about so many arcs."""
    random = np.random.default_rng(seed)
    share = min(1.0, arcs / (d * (d - 1) / 2))
    weights = np.triu(random.uniform(0.3, 2.0, (d, d)) * random.choice([-1, 1], (d, d)), k=1)
    weights *= random.random((d, d)) < share
    mixed = random.permutation(d)
    return weights[np.ix_(mixed, mixed)]


def model_of(weights: np.ndarray, names: list[str] | None = None, rows: int = 100) -> EmptyGraph:
    """A model whose graph is given, as if it had been learnt."""
    d = len(weights)
    order = topological_order(weights)
    X = np.random.default_rng(1).normal(size=(rows, d))
    for v in order:
        X[:, v] += X @ weights[:, v]
    names = [f"x{i}" for i in range(d)] if names is None else names
    frame = pd.DataFrame(X, columns=names)
    model = EmptyGraph().fit(frame)
    model._order, model.adjacency_, model.weights_ = order, weights, weights
    model._settle(model._preparation.apply(X))
    return model


def sachs_model(folder: Any) -> VarianceSort:
    return VarianceSort().fit(pd.read_csv(folder / "sachs.csv"))


def bootstrap_of(model: Any, seed: int = 0) -> SimpleNamespace:
    """Something like a bootstrap: arcs of the graph are found often, and one other arc too."""
    random = np.random.default_rng(seed)
    is_arc = model.edges_.toarray() != 0
    shares = np.where(is_arc, random.uniform(0.4, 1.0, is_arc.shape), 0.1)
    first, last = model._order[0], model._order[-1]
    shares[last, first] = 0.8
    return SimpleNamespace(arc_probabilities=shares, n=50)
