"""Fitted models of any size for tests of the report, without training."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from cosmodag import BlockSearch, EmptyGraph, OrderSearch, VarianceSort
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


_WORDS = ["age", "income", "smoking", "cholesterol", "blood_pressure", "exercise", "diet"]
_WORDS += ["education", "body_mass", "stress", "sleep_hours", "glucose"]


def named_dag(d: int) -> EmptyGraph:
    """A random graph of d variables, with names of words and about two arcs per variable."""
    names = [_WORDS[i % 12] + (f"_{i}" if d > 12 else "") for i in range(d)]
    seeds = {5: 3, 12: 1}
    return model_of(random_dag(d, 7 if d == 5 else 2 * d, seed=seeds.get(d, 0)), names)


def time_model() -> OrderSearch:
    """Rain two rows ago and one row ago act on rain and the river; clouds are separate."""
    noise = np.random.default_rng(0).uniform(-1, 1, (400, 3))
    rain, river, cloud = noise.T.copy()
    for t in range(2, 400):
        rain[t] += 0.6 * rain[t - 1]
        river[t] += 0.8 * rain[t - 2]
    table = pd.DataFrame({"rain": rain, "river": river, "cloud": cloud})
    return OrderSearch(lags=3, random_state=0, verbose=False).fit(table)


def levels_model() -> BlockSearch:
    """A category, and a number whose means are 1, 2 and 5 at its levels."""
    random = np.random.default_rng(0)
    species = random.choice(["adelie", "chinstrap", "gentoo"], 600)
    mass = np.select([species == "adelie", species == "chinstrap"], [1, 2], 5.0)
    table = pd.DataFrame({"species": species, "mass": mass + 0.1 * random.normal(size=600)})
    knowledge = {"required_edges": [("species", "mass")]}
    return BlockSearch(knowledge=knowledge, random_state=0, verbose=False).fit(table)


def mixed_model() -> BlockSearch:
    """Categories, a text of two levels, and numbers."""
    random = np.random.default_rng(0)
    species = random.choice(["adelie", "chinstrap", "gentoo"], 333)
    home = np.select([species == "adelie", species == "gentoo"], ["torgersen", "biscoe"], "dream")
    other = random.choice(["torgersen", "biscoe", "dream"], 333)
    island = np.where(random.random(333) < 0.7, home, other)
    sex = random.choice(["female", "male"], 333)
    mass = 3700 + 1300 * (species == "gentoo") + 600 * (sex == "male") + random.normal(0, 300, 333)
    flipper = 190 + 20 * (species == "gentoo") + 0.006 * mass + random.normal(0, 4, 333)
    bill = 35 + 9 * (species != "adelie") + 3 * (sex == "male") + random.normal(0, 2, 333)
    table = pd.DataFrame({"species": species, "island": island, "sex": sex, "body_mass_g": mass})
    table = table.assign(flipper_length_mm=flipper, bill_length_mm=bill)
    return BlockSearch(random_state=0, verbose=False).fit(table)
