"""Fitted models of any size for tests of the report, without training."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from cosmodag import EmptyGraph, VarianceSort
from cosmodag.graph.dags import topological_order


def random_dag(d: int, arcs: int, seed: int = 0) -> np.ndarray:
    """Weights of a random DAG with about the given number of arcs."""
    random = np.random.default_rng(seed)
    share = min(1.0, arcs / (d * (d - 1) / 2))
    weights = np.triu(random.uniform(0.3, 2.0, (d, d)) * random.choice([-1, 1], (d, d)), k=1)
    weights *= random.random((d, d)) < share
    mixed = random.permutation(d)
    return weights[np.ix_(mixed, mixed)]


def model_of(weights: np.ndarray, names: list[str] | None = None, rows: int = 100) -> EmptyGraph:
    """A fitted model with the given graph."""
    d = len(weights)
    order = topological_order(weights)
    X = np.random.default_rng(1).normal(size=(rows, d))
    for v in order:
        X[:, v] += X @ weights[:, v]
    names = [f"x{i}" for i in range(d)] if names is None else names
    frame = pd.DataFrame(X, columns=names)
    model = EmptyGraph().fit(frame)
    set_graph(model, weights)
    dag = replace(model.fitted_, order=order, weights=weights)
    model.fitted_ = dag.settled(model.preparation_.apply(X), recentre=True)
    return model


def set_graph(model: Any, adjacency: np.ndarray) -> None:
    """Replace the graph of a fitted model, and nothing else."""
    model.fitted_ = replace(model.fitted_, adjacency=adjacency)


def sachs_model(folder: Any) -> VarianceSort:
    return VarianceSort().fit(pd.read_csv(folder / "sachs.csv"))


def bootstrap_of(model: Any, seed: int = 0) -> SimpleNamespace:
    """A substitute for a bootstrap that often joins the pairs of the graph and one other pair."""
    random = np.random.default_rng(seed)
    is_arc = model.edges_.toarray() != 0
    arrows = np.where(is_arc, random.uniform(0.4, 0.8, is_arc.shape), 0.05)
    joined = arrows + arrows.T + 0.1
    u, v = other_pair(model)
    joined[u, v] = joined[v, u] = 0.8
    return SimpleNamespace(
        edge_shares=joined, edge_probabilities=joined, direction_probabilities=arrows, n=50
    )


def other_pair(model: Any) -> tuple[int, int]:
    """The first two variables that are not adjacent in the graph."""
    is_arc = model.edges_.toarray() != 0
    u, v = np.argwhere(np.triu(~(is_arc | is_arc.T), 1))[0].tolist()
    return u, v
