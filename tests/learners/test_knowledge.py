"""Every learner obeys knowledge, and excludes interventional values from their equations."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import cosmodag
from cosmodag import (
    Cosmo,
    CosmoMLP,
    EmptyGraph,
    Knowledge,
    NoCurl,
    OrderSearch,
    VarianceSort,
    metrics,
    refine,
    simulate,
)
from cosmodag.errors import KnowledgeError
from learner_catalogue import chain_table, every_learner
from random_knowledge import random_knowledge, violations

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

# Knowledge of all kinds that contradicts the table, which is a chain a → b → c → d → e.
BACKWARDS = Knowledge(
    required_edges=[("e", "a"), ("d", "b")],
    forbidden_edges=[("c", "d"), ("d", "c")],
    tiers=[["e", "d"], ["a"]],
    sinks=["a"],
)


@every_learner
def test_forbidden_required_and_tiers(make):
    model = make().set_params(knowledge=BACKWARDS).fit(chain_table())
    assert violations(model, BACKWARDS) == []
    assert model.knowledge_ == BACKWARDS
    assert np.all(model.adjacency_[[4, 3], [0, 1]] != 0)
    strict = make().set_params(knowledge=BACKWARDS, threshold=50.0).fit(chain_table())
    assert set(strict.graph_.edges) == set(BACKWARDS.required_edges)


@pytest.mark.parametrize("seed", range(12))
def test_random_knowledge_on_random_tables(seed):
    random = np.random.default_rng(seed)
    names = list("abcdef")[: random.integers(3, 7)]
    mixing = random.normal(size=(len(names), len(names)))
    table = pd.DataFrame(random.normal(size=(60, len(names))) @ mixing, columns=names)
    known = random_knowledge(names, random)
    learners = [
        OrderSearch(random_state=0),
        OrderSearch(noise="non-gaussian", random_state=0),
        VarianceSort(),
        VarianceSort(refine="prune"),
        EmptyGraph(),
    ]
    for learner in learners:
        model = learner.set_params(knowledge=known).fit(table)
        assert violations(model, known) == [], (learner, known)


def test_networks_obey_what_comes_before_through_others():
    # Either of c → b and b → a is allowed, but not both, because c is in a later tier than a.
    known = Knowledge(tiers=[["a"], ["c"]])
    random = np.random.default_rng(0)
    c = random.normal(size=300)
    b = np.tanh(2 * c) + 0.3 * random.normal(size=300)
    a = np.sin(2 * b) + 0.3 * random.normal(size=300)
    table = pd.DataFrame({"a": a, "b": b, "c": c})
    model = CosmoMLP(epochs=10, hidden=(3,), knowledge=known, random_state=0).fit(table)
    assert violations(model, known) == []


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_nocurl_finds_the_graph_that_it_finds_without_a_required_arc(seed):
    """A gap of one between potentials once placed the head of the arc after all its children."""
    data = simulate.load("n1000_d12_ER2_gauss", seed=seed)
    plain = NoCurl().fit(data.X)
    order = np.asarray(plain.causal_order_)
    apart = next(
        (int(u), int(v))
        for place, u in enumerate(order)
        for v in order[place + 1 :]
        if not (data.graph[u, v] or plain.adjacency_[u, v])
    )
    known = NoCurl(knowledge=Knowledge(required_edges=[apart])).fit(data.X)
    arcs = known.adjacency_ != 0
    assert arcs[apart]
    arcs[apart] = False
    np.testing.assert_array_equal(arcs, plain.adjacency_ != 0)


@pytest.mark.nightly
def test_true_arcs_that_are_known_do_not_harm_training():
    """Compares mean AUCs before refinement; gaps of three shifts once reduced them by .012."""
    found: dict[int, list[float]] = {0: [], 10: []}
    for seed in range(6):
        data = simulate.load("n1000_d20_ER4_gauss", seed=seed)
        arcs = np.random.default_rng(seed).permutation(np.argwhere(data.graph)).tolist()
        for count, values in found.items():
            known = Knowledge(required_edges=[tuple(arc) for arc in arcs[:count]])
            model = Cosmo(refine=None, random_state=0, knowledge=known).fit(data.X)
            values.append(metrics.evaluate(data.graph, model.raw_weights_)["auc"])
    # The known arcs are counted too, and the gain varies by .005.
    assert np.mean(found[10]) > np.mean(found[0]) - 0.005


def test_a_required_arc_may_weigh_nothing():
    table = chain_table().assign(c=3.0)
    known = Knowledge(required_edges=[("c", "a")])
    for learner in (OrderSearch(random_state=0), EmptyGraph(), VarianceSort()):
        model = learner.set_params(knowledge=known).fit(table)
        assert model.graph_.edges["c", "a"]["weight"] == 0
        assert len(model.arrow_basis_) == model.edges_.nnz == model.graph_.number_of_edges()
        assert violations(model, known) == []


def test_contradictions_are_refused_before_anything_is_learnt():
    with pytest.raises(KnowledgeError, match="'z'"):
        Cosmo(knowledge={"sinks": ["z"]}).fit(chain_table())
    with pytest.raises(KnowledgeError, match="a → b → a"):
        Cosmo(knowledge={"required_edges": [("a", "b"), ("b", "a")]}).fit(chain_table())


def test_it_may_be_a_mapping_or_a_file_and_columns_may_have_numbers(tmp_path):
    path = tmp_path / "known.yaml"
    path.write_text("sinks: [a]\n")
    table = chain_table()
    for known in (Knowledge(sinks=["a"]), {"sinks": ["a"]}, path, str(path)):
        assert OrderSearch(knowledge=known).fit(table).graph_.out_degree("a") == 0
    model = OrderSearch(knowledge={"sinks": [0]}).fit(table.to_numpy())
    assert model.graph_.out_degree(0) == 0


def test_it_is_saved_cloned_pickled_and_shown(tmp_path):
    model = OrderSearch(knowledge=BACKWARDS, random_state=0).fit(chain_table())
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert again.knowledge == again.knowledge_ == BACKWARDS
    assert again.arrow_basis_ == model.arrow_basis_
    assert set(again.graph_.edges) == set(model.graph_.edges)
    assert clone(model).knowledge == BACKWARDS
    assert pickle.loads(pickle.dumps(model)).arrow_basis_ == model.arrow_basis_
    assert "required_edges" in repr(model)


def test_arrows_rest_on_knowledge_where_it_directs_them():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    table = pd.DataFrame({"x": x, "y": x + random.normal(size=200), "z": random.normal(size=200)})
    for known in (
        Knowledge(required_edges=[("y", "x")]),
        Knowledge(forbidden_edges=[("x", "y")]),
        Knowledge(tiers=[["y"], ["x"]]),
        Knowledge(exogenous=["y"]),
    ):
        model = OrderSearch(noise="gaussian", knowledge=known).fit(table)
        assert list(model.graph_.edges) == [("y", "x")]
        assert model.arrow_basis_ == ["knowledge"]
    assert OrderSearch(noise="gaussian").fit(table).arrow_basis_ == ["free choice"]


def test_refining_obeys_knowledge_and_takes_over_the_models():
    table = chain_table()
    for better in (
        refine(VarianceSort().fit(table), table, knowledge=BACKWARDS),
        refine(VarianceSort(knowledge=BACKWARDS).fit(table), table, method="prune"),
    ):
        assert violations(better, BACKWARDS) == []
