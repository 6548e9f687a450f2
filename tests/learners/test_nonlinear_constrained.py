"""NOTEARS and DAGMA with networks find graphs and have the features of CosmoMLP."""

import numpy as np
import pytest

import cosmodag
from cosmodag import DagmaMLP, NotearsMLP, metrics, simulate
from cosmodag.errors import DataError, InterruptedWarning
from cosmodag.graph.dags import is_dag

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
both = pytest.mark.parametrize("learner", [NotearsMLP, DagmaMLP])


@pytest.fixture(scope="module")
def data() -> simulate.Dataset:
    return simulate.load("n300_d6_ER2_mlp", seed=3)


@pytest.fixture(scope="module")
def models(data):
    faster = {"max_iter": 800, "learning_rate": 5e-3}  # a quarter of the steps
    learners = NotearsMLP(random_state=0), DagmaMLP(random_state=0, **faster)
    return {type(learner): learner.fit(data.X) for learner in learners}


@both
def test_they_find_the_graph(models, data, learner):
    model = models[learner]
    # Six variables are an easy problem; a random graph has 0.5.
    assert metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.85
    assert not model.raw_weights_.diagonal().any()
    assert not model.was_cyclic_


@both
def test_the_optimised_weights_are_nearly_acyclic(models, learner):
    model = models[learner]
    strengths = model.arc_norms_
    assert is_dag(np.where(strengths > 0.05, strengths, 0))
    records = model.history_
    if learner is NotearsMLP:
        assert records[-1]["acyclicity"] <= 1e-8
        assert [r["penalty"] for r in records] == sorted(r["penalty"] for r in records)
    else:
        accepted = [r["score_weight"] for r in records if r["accepted"]]
        assert accepted == pytest.approx([0.1, 0.01, 0.001, 0.0001])


@both
def test_two_read_outs_of_one_fit(models, data, learner, tmp_path):
    model = models[learner]
    model.save(tmp_path / "model.safetensors", residuals=True)
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.predict(data.X), model.predict(data.X))
    by_norm = model.raw_weights_
    again.read_out("sum")
    assert np.array_equal(again.raw_weights_, model.arc_sums_)
    assert is_dag(again.weights_)
    again.read_out("norm")
    assert np.array_equal(again.raw_weights_, by_norm)
    assert again.causal_order_ == model.causal_order_


@both
def test_predictions_beat_the_mean(models, data, learner):
    model = models[learner]
    residuals = data.X - model.predict(data.X)
    assert residuals.var() < 0.6 * data.X.var()
    np.testing.assert_allclose(residuals.mean(0), 0, atol=1e-3)


@both
def test_the_same_seed_gives_the_same_bits(data, learner):
    settings = {"max_iter": 1} if learner is NotearsMLP else {"max_iter": 100}
    first, second = (learner(random_state=4, **settings).fit(data.X) for _ in range(2))
    assert np.array_equal(first.raw_weights_, second.raw_weights_)


@pytest.mark.nightly
def test_two_hidden_layers(data):
    settings = {"hidden": (5, 4), "activation": "tanh"}
    model = DagmaMLP(max_iter=300, random_state=0, **settings).fit(data.X)
    assert is_dag(model.adjacency_)
    assert np.isfinite(model.predict(data.X)).all()
    # With 1% of the iterations; a random graph has 0.5.
    assert metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.6


@both
def test_a_time_limit_returns_what_there_is(data, learner):
    longer = {"max_iter": 10**7} if learner is DagmaMLP else {"tolerance": 0.0}
    with pytest.warns(InterruptedWarning, match="max_time"):
        model = learner(max_time=0.5, random_state=0, **longer).fit(data.X)
    assert model.stopped_ == "time"
    assert is_dag(model.adjacency_)


@both
@pytest.mark.parametrize(
    "bad",
    [
        {"hidden": ()},
        {"activation": "step"},
        {"arc_strength": "max"},
        {"max_iter": 0},
        {"lambda1": -1.0},
        {"lambda2": "strong"},
        {"max_time": 0},
    ],
)
def test_bad_parameters_are_refused_by_name(data, learner, bad):
    (name,) = bad
    with pytest.raises(DataError, match=name):
        learner(**bad).fit(data.X)


def test_a_model_without_its_residuals_cannot_be_read_out_again(models, tmp_path):
    models[DagmaMLP].save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    with pytest.raises(DataError, match="residuals=True"):
        again.read_out("sum")
