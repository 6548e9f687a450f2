"""Above the limit for dense matrices, a model keeps a sparse graph and everything works."""

import numpy as np
import pytest
from scipy import sparse

import cosmodag
from cosmodag import Cosmo, OrderSearch, VarianceSort, simulate
from cosmodag.fit import settle
from cosmodag.graph.dags import is_dag
from cosmodag.learners import structure_learner as base
from cosmodag.solve import readout

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")


def set_limit(monkeypatch, limit):
    for module in (base, settle, readout):
        monkeypatch.setattr(module, "DENSE_LIMIT", limit)


@pytest.fixture
def data(monkeypatch) -> simulate.Dataset:
    set_limit(monkeypatch, 15)
    return simulate.load("n300_d20_ER2_gauss", seed=0)


@pytest.mark.parametrize("refine", [None, "prune"])
def test_the_sparse_graph_is_the_dense_one(data, monkeypatch, tmp_path, refine):
    large = Cosmo(random_state=0, epochs=100, refine=refine).fit(data.X)
    set_limit(monkeypatch, 100)
    small = Cosmo(random_state=0, epochs=100, refine=refine).fit(data.X)
    assert sparse.issparse(large.adjacency_)
    assert not hasattr(large, "raw_weights_")
    assert not hasattr(large, "weights_")
    np.testing.assert_allclose(large.adjacency_.toarray(), small.adjacency_, atol=1e-6)
    assert is_dag(large.adjacency_)
    assert large.was_cyclic_ == small.was_cyclic_
    assert large.dropped_arcs_ == small.dropped_arcs_
    assert large.causal_order_ == small.causal_order_
    assert large.edges_.nnz == small.edges_.nnz
    assert set(large.graph_.edges) == set(small.graph_.edges)
    np.testing.assert_allclose(large.predict(data.X), small.predict(data.X), atol=1e-4)
    np.testing.assert_allclose(large.sample(5, 0), small.sample(5, 0), atol=1e-3)
    assert large.score(data.X) == pytest.approx(small.score(data.X), abs=1e-4)
    assert (large.fitted_.equivalence_class() != small.fitted_.equivalence_class()).sum() == 0
    assert large.arrow_basis_ == small.arrow_basis_
    large.save(tmp_path / "large.safetensors")
    again = cosmodag.load(tmp_path / "large.safetensors")
    np.testing.assert_array_equal(again.adjacency_.toarray(), large.adjacency_.toarray())
    np.testing.assert_array_equal(again.predict(data.X), large.predict(data.X))


def test_estimate_says_the_cost(data):
    cost = Cosmo(epochs=50).estimate(data.X)
    assert cost.facts()["problems"] == 1
    assert cost.seconds == pytest.approx(50 * cost.seconds_per_round)


@pytest.mark.parametrize("learner", [OrderSearch(random_state=0), VarianceSort(refine="prune")])
def test_learners_that_do_not_train_are_sparse_too(data, learner):
    model = learner.fit(data.X)
    assert sparse.issparse(model.adjacency_)
    assert not hasattr(model, "raw_weights_")
    assert model.edges_.nnz > 0


def test_nothing_of_a_dense_fit_outlives_a_sparse_one(data, monkeypatch, tmp_path):
    set_limit(monkeypatch, 100)
    model = Cosmo(random_state=0, epochs=2).fit(data.X)
    set_limit(monkeypatch, 15)
    model.fit(data.X)
    for name in ("raw_weights_", "weights_"):
        assert not hasattr(model, name)
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert (again.adjacency_ != model.adjacency_).nnz == 0
