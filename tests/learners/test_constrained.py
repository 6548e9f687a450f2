"""NOTEARS, DAGMA and NOCURL as estimators, in the versions of their authors."""

import os
import signal
import warnings

import networkx as nx
import numpy as np
import pytest

from cosmodag import (
    Dagma,
    NoCurl,
    Notears,
    metrics,
    simulate,
)
from cosmodag.errors import (
    AcyclicityWarning,
    ConvergenceWarning,
    DataError,
    InterruptedWarning,
)
from cosmodag.graph.dags import is_dag

ignore_warnings = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def data():
    return simulate.load("n500_d10_ER2_gauss", seed=0)


@pytest.fixture(scope="module")
def notears(data):
    return Notears().fit(data.X)


@pytest.mark.parametrize(
    ("learner", "auc"),
    [
        (Notears(constraint="truncated"), 0.95),
        (Notears(constraint="spectral"), 0.85),
        (Dagma(), 0.97),
        (NoCurl(), 0.94),
    ],
    ids=lambda value: repr(value),
)
@ignore_warnings
def test_the_originals_find_a_small_graph(data, learner, auc):
    assert_found(data, learner.fit(data.X), auc)


@ignore_warnings
def test_notears_finds_a_small_graph(data, notears):
    assert_found(data, notears, 0.95)


def assert_found(data, model, auc):
    assert metrics.evaluate(data.graph, model.raw_weights_)["auc"] >= auc
    assert is_dag(model.adjacency_)
    assert np.all(np.diagonal(model.raw_weights_) == 0)


@ignore_warnings
def test_nocurl_orders_by_its_potentials(data):
    model = NoCurl().fit(data.X)
    tails, heads = np.nonzero(model.raw_weights_)
    assert np.all(model.potentials_[tails] < model.potentials_[heads])


@ignore_warnings
def test_originals_cost_the_same_whatever_the_number_of_rows(data):
    """The same covariance from ten times as many rows gives the same graph."""
    centred = data.X - data.X.mean(0)
    repeated = np.tile(centred, (10, 1))
    for learner in (Dagma(max_iter=2000), NoCurl()):
        few, many = learner.fit(centred).raw_weights_, learner.fit(repeated).raw_weights_
        # The covariances differ by rounding, which an iterative solver amplifies.
        np.testing.assert_allclose(few, many, atol=0.02)


@ignore_warnings
def test_history_tells_how_the_constraint_was_met(data, notears):
    assert notears.history_[-1]["acyclicity"] <= notears.settings_["tolerance"]
    penalties = [record["penalty"] for record in notears.history_]
    assert penalties == sorted(penalties)
    path = Dagma(max_iter=500).fit(data.X).history_
    weights = [record["score_weight"] for record in path if record["accepted"]]
    np.testing.assert_allclose(weights, [1, 0.1, 0.01, 0.001, 1e-4], rtol=1e-6)


@pytest.mark.parametrize(
    "learner",
    [
        Notears(max_time=0.02, lambda1=0.0),
        Dagma(max_time=0.02, tolerance=0.0),
        NoCurl(max_time=0.02, tolerance=0.0),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_out_of_time_there_is_a_dag_and_a_warning(data, learner):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = learner.fit(data.X)
    assert [w for w in caught if w.category is InterruptedWarning and "max_time" in str(w.message)]
    assert model.stopped_ == "time"
    assert is_dag(model.adjacency_)


@pytest.mark.parametrize("make", [Notears, Dagma, NoCurl])
@ignore_warnings
def test_an_interrupt_keeps_the_best_so_far(data, make, monkeypatch):
    from cosmodag.solve.minimisers import barrier_linear as descent
    from cosmodag.solve.minimisers import each_lane, quasi_newton

    def interrupt(matrix, weights):
        if not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return half(matrix, weights)

    sent: list[int] = []
    half = each_lane.half_squared_error_of_moments
    for module in (descent, quasi_newton):
        monkeypatch.setattr(module, "half_squared_error_of_moments", interrupt)
    model = make()
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X)
    assert model.stopped_ == "interrupt"
    assert np.isfinite(model.raw_weights_).all()
    assert np.any(model.raw_weights_ != 0) or make is NoCurl


def random_learner(random):
    rate = float(random.choice([1e-2, 5e-2]))
    epochs = int(random.integers(1, 6))
    threshold = float(random.choice([0.0, 0.05, 0.3]))
    makers = [
        lambda: Notears(max_iter=1, threshold=threshold),
        lambda: Dagma(max_iter=20 * epochs, learning_rate=rate, threshold=threshold),
        lambda: NoCurl(max_iter=epochs, threshold=threshold),
    ]
    return makers[random.integers(3)]()


def test_unfinished_fits_are_dags_and_every_repair_is_reported():
    random, fits = np.random.default_rng(0), 30
    repaired = 0
    for _ in range(fits):
        table = random.normal(size=(40, 6)) @ random.uniform(-1, 1, (6, 6))
        learner = random_learner(random)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = learner.fit(table)
        strong = np.abs(model.raw_weights_) > learner.threshold
        graph = nx.from_numpy_array(strong, create_using=nx.DiGraph)
        needed_repair = not nx.is_directed_acyclic_graph(graph)
        assert nx.is_directed_acyclic_graph(model.graph_)
        assert model.was_cyclic_ == needed_repair
        dropped = strong.sum() - np.count_nonzero(model.adjacency_)
        assert model.dropped_arcs_ == dropped
        assert (dropped > 0) == needed_repair
        messages = [str(w.message) for w in caught if w.category is AcyclicityWarning]
        assert len(messages) == needed_repair
        assert all(f"{dropped} arc" in message for message in messages)
        repaired += needed_repair
    assert repaired > fits / 5


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Notears(constraint="rank"), "constraint"),
        (Dagma(lambda1=-1.0), "lambda1"),
        (Dagma(learning_rate=0.0), "learning_rate"),
        (Notears(max_iter=0), "max_iter"),
        (NoCurl(tolerance="tight"), "tolerance"),
        (NoCurl(max_time=-1), "max_time"),
    ],
)
def test_bad_parameters_are_named(data, learner, words):
    with pytest.raises(DataError, match=words):
        learner.fit(data.X)


def test_a_converged_fit_does_not_warn(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", AcyclicityWarning)
        warnings.simplefilter("error", InterruptedWarning)
        warnings.simplefilter("error", ConvergenceWarning)
        assert Dagma().fit(data.X).converged_


@pytest.mark.parametrize("learner", [Notears(max_iter=1), NoCurl(max_iter=3)], ids=repr)
def test_a_limit_on_iterations_that_was_met_is_told(data, learner):
    with pytest.warns(ConvergenceWarning, match="stopped at a limit after"):
        model = learner.fit(data.X)
    assert not model.converged_
    assert model.stopped_ is None


@ignore_warnings
def test_automatic_settings_of_the_originals():
    assert Notears().settings_for(30)["tolerance"] == 1e-8
    assert Dagma(lambda1=0.5).settings_for(30)["lambda1"] == 0.5
    assert NoCurl().settings_for(30)["lambda1"] == 0
