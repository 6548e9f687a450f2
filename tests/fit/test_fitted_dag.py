"""The result of a fit: an immutable object from which a learner reads its attributes."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from cosmodag import EmptyGraph, VarianceSort, simulate
from cosmodag.search.moments import Moments

X = simulate.load("n100_d5_ER1_gauss", seed=0).X

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def test_a_learner_reads_its_attributes_from_it():
    model = VarianceSort().fit(X)
    dag = model.fitted_
    assert model.adjacency_ is dag.adjacency
    assert model.residuals_ is dag.residuals
    np.testing.assert_array_equal(model.predict(X), dag.predict(X))
    assert model.score(X) == dag.score(X)
    np.testing.assert_array_equal(model.sample(4, random_state=1), dag.sample(4, 1))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.adjacency_, model.adjacency_)


def test_it_cannot_be_changed_in_place():
    model = VarianceSort().fit(X)
    with pytest.raises(AttributeError, match="cannot be changed"):
        model.adjacency_ = np.zeros((5, 5))
    with pytest.raises(FrozenInstanceError):
        model.fitted_.adjacency = np.zeros((5, 5))


def test_what_a_fit_has_not_is_no_attribute():
    model = VarianceSort()
    assert not hasattr(model, "adjacency_")
    model.fit(X)
    assert not hasattr(model, "noise_")  # the graph was not refined
    assert not hasattr(model, "target_sets_")
    model.forget()
    assert not hasattr(model, "adjacency_")


def test_another_graph_is_another_fit_with_residuals_of_its_own():
    first = EmptyGraph().fit(X).fitted_
    arcs = np.zeros((5, 5))
    arcs[0, 1] = 0.7
    order = np.arange(5)
    data = first.training_data().astype(np.float32)
    other = replace(first, adjacency=arcs, order=order).settled(data, recentre=True)
    np.testing.assert_allclose(
        other.residuals[:, 1], data[:, 1] - 0.7 * data[:, 0], rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(other.training_data(), data, atol=1e-5)
    np.testing.assert_array_equal(first.residuals, EmptyGraph().fit(X).residuals_)


def test_what_was_computed_of_the_arcs_is_kept_when_arrows_are_examined():
    dag = EmptyGraph().fit(X).fitted_
    edges = dag.edges
    assert dag.examined(None, np.zeros((5, 5)), ()).edges is edges


def test_moments_of_the_training_data_are_computed_once_and_not_saved(monkeypatch):
    made, of = [], Moments.of
    monkeypatch.setattr(Moments, "of", staticmethod(lambda *given: made.append(None) or of(*given)))
    model = VarianceSort().fit(X)
    made.clear()
    assert model.effects_.shape == (5, 5)
    assert model.pag_ is not None
    assert model.validate(shuffles=0).level == 0.01
    assert len(made) == 1
    assert "moments" not in vars(pickle.loads(pickle.dumps(model.fitted_)))
    np.testing.assert_allclose(model.fitted_.moments.scales[0], X.std(axis=0), rtol=1e-5)
