"""Possible effects equal the effects in each graph of the class."""

import numpy as np
import pytest
from class_members import dags, members
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag import EmptyGraph, EqualVariance, OrderSearch, R2Sort, RandomSort, VarianceSort
from cosmodag.assess.effects.mixed_graph import ClassView, MixedGraph
from cosmodag.assess.effects.possible import direct_effects, total_effects
from cosmodag.assess.effects.slopes import Covariance
from cosmodag.graph.equivalence import essential_graph


def implied(arcs: np.ndarray, seed: int) -> Covariance:
    """Draw weights and noise variances, and return the covariance that they imply."""
    random = np.random.default_rng(seed)
    d = len(arcs)
    weights = arcs * random.uniform(0.5, 1.5, (d, d)) * random.choice([-1, 1], (d, d))
    totals = np.linalg.inv(np.eye(d) - weights)
    return Covariance(totals.T @ (random.uniform(0.5, 2, (d, 1)) * totals), 100.0)


def rounded(numbers) -> set[float]:
    return {round(float(number), 8) + 0.0 for number in numbers}


@settings(deadline=None, max_examples=40)
@given(dags(), st.integers(0, 1000))
def test_effects_are_those_of_all_graphs_of_the_class(drawn, seed):
    arcs, fixed = drawn
    covariance = implied(arcs, seed)
    view = ClassView(MixedGraph.of(arcs), MixedGraph.of(essential_graph(arcs, fixed)))
    everyone = [MixedGraph.of(one) for one in members(arcs, fixed)]
    for x, y in np.argwhere(~np.eye(len(arcs), dtype=bool)).tolist():
        expected = rounded(
            covariance.slope(x, y, one.parents[x]).value if y in one.descendants(x) else 0.0
            for one in everyone
        )
        found = total_effects(view, covariance, x, y)
        assert rounded(slope.value for slope in found.slopes) == expected
        assert found.identified == (len(expected) == 1)
        direct = direct_effects(view, covariance, x, y)
        expected = rounded(
            covariance.slope(x, y, one.parents[y] - {x}).value if x in one.parents[y] else 0.0
            for one in everyone
        )
        assert rounded(slope.value for slope in direct.slopes) == expected


def test_a_clique_of_many_open_edges_is_bounded(monkeypatch):
    import cosmodag.assess.effects.mixed_graph as module

    monkeypatch.setattr(module, "MOST_OPTIONS", 8)
    d = 6
    arcs = np.triu(np.ones((d, d), bool), 1)
    view = ClassView(MixedGraph.of(arcs), MixedGraph.of(arcs | arcs.T))
    found = total_effects(view, implied(arcs, 0), 3, 5)
    assert len(found.slopes) <= 9
    assert not found.identified


@pytest.mark.parametrize(
    "learner", [EmptyGraph, EqualVariance, OrderSearch, R2Sort, RandomSort, VarianceSort]
)
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_every_kind_of_learner_can_be_asked(learner):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 4)) @ np.triu(random.normal(size=(4, 4)))
    model = learner().fit(X)
    assert model.effects_.shape == (4, 4)
    assert str(model.effect(0, 3))
    assert str(model.effect(3, 0, direct=True))
    assert model.sample(5, 0, do={2: 1.0}).shape == (5, 4)
    assert str(model.validate(shuffles=2))
