"""Above the dense limit a model keeps a sparse graph, and everything else still works."""

import numpy as np
import pytest
from scipy import sparse

import cosmodag
from cosmodag import Cosmo, simulate
from cosmodag.dags import is_dag
from cosmodag.learners import annealed

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")


@pytest.fixture
def data(monkeypatch) -> simulate.Dataset:
    monkeypatch.setattr(annealed, "DENSE_LIMIT", 15)
    return simulate.load("n300_d20_ER2_gauss", seed=0)


def test_the_sparse_graph_is_the_dense_one(data, monkeypatch, tmp_path):
    large = Cosmo(random_state=0, epochs=100).fit(data.X)
    monkeypatch.setattr(annealed, "DENSE_LIMIT", 100)
    small = Cosmo(random_state=0, epochs=100).fit(data.X)
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
    large.save(tmp_path / "large.safetensors")
    again = cosmodag.load(tmp_path / "large.safetensors")
    np.testing.assert_array_equal(again.adjacency_.toarray(), large.adjacency_.toarray())
    np.testing.assert_array_equal(again.predict(data.X), large.predict(data.X))


def test_estimate_says_the_cost(data):
    cost = Cosmo(epochs=50).estimate(data.X)
    assert cost.problems == 1
    assert cost.seconds > 0
