"""Values that become non-finite during training raise an error and never yield a graph."""

from importlib import import_module

import numpy as np
import pytest

from cosmodag import Cosmo, CosmoMLP, Dagma, NoCurl, Notears
from cosmodag.errors import DivergenceError
from cosmodag.graph.dags import is_dag
from learner_catalogue import chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
training = import_module("cosmodag.solve.training.train")


def poisoned(monkeypatch, call: int, lanes: slice, value: float) -> None:
    """Put a non-finite value among the weights before the n-th piece of training."""
    calls = []

    class Poisoned:
        def __init__(self, backend):
            self.backend = backend

        def advance(self, batch, state, first, last):
            calls.append(None)
            if len(calls) == call:
                arcs = np.array(state.parameters["arcs"])
                arcs[lanes, 0, 1] = value
                state = state._replace(parameters={**state.parameters, "arcs": arcs})
            return self.backend.advance(batch, state, first, last)

        def __getattr__(self, name):
            return getattr(self.backend, name)

    original = training.train

    def train(batch, *args, **kwargs):
        wrapped = Poisoned(batch.backend)
        return original(_Dressed(batch, wrapped), *args, **kwargs)

    monkeypatch.setattr(import_module("cosmodag.solve.methods.one_problem"), "train", train)


class _Dressed:
    """A batch with another backend."""

    def __init__(self, batch, advancing):
        self._batch, self._advancing = batch, advancing

    def __getattr__(self, name):
        return getattr(self._batch, name)

    @property
    def backend(self):
        return self._advancing


LEARNERS = {
    "linear": Cosmo(epochs=40, random_state=0),
    "unrefined": Cosmo(epochs=40, refine=None, random_state=0),
    "likelihood": Cosmo(epochs=40, loss="likelihood", random_state=0),
    "networks": CosmoMLP(epochs=10, hidden=(3,), loss="squared-error", random_state=0),
}


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", LEARNERS)
def test_one_start_that_stops_being_finite_is_an_error(monkeypatch, name, value):
    poisoned(monkeypatch, 3, slice(None), value)
    with pytest.raises(DivergenceError, match="diverged in round"):
        LEARNERS[name].fit(chain_table())


def test_networks_that_choose_their_loss_are_trained_by_the_other_one(monkeypatch):
    poisoned(monkeypatch, 3, slice(None), np.nan)
    model = CosmoMLP(epochs=10, hidden=(3,), refine=None, random_state=0).fit(chain_table())
    assert model.loss_ == "likelihood"
    assert model.loss_reason_ == "Training by the squared error diverged."


def test_of_several_starts_those_that_are_finite_are_used(monkeypatch):
    poisoned(monkeypatch, 3, slice(0, 2), np.nan)
    model = Cosmo(epochs=40, trainings=3, random_state=0).fit(chain_table())
    assert np.isfinite(model.raw_weights_).all()
    assert is_dag(model.adjacency_)


@pytest.mark.parametrize("learner", [Notears(), Dagma(max_iter=2000), NoCurl()], ids=str)
def test_objectives_that_stop_being_finite(monkeypatch, learner):
    """The gradients of methods without training become NaN after a few calls."""
    from cosmodag.solve.minimisers import barrier_linear, each_lane, quasi_newton

    half, calls = each_lane.half_squared_error_of_moments, []

    def broken(matrix, weights):
        calls.append(None)
        value, gradient = half(matrix, weights)
        return (np.nan, gradient * np.nan) if len(calls) > 3 else (value, gradient)

    for module in (barrier_linear, quasi_newton):
        monkeypatch.setattr(module, "half_squared_error_of_moments", broken)
    try:
        model = learner.fit(chain_table())
    except DivergenceError:
        return
    assert not model.converged_
    assert np.isfinite(model.raw_weights_).all()
