"""Nonlinear COSMO: two read-outs of one fit, pruned networks, responses and accuracy."""

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import CosmoMLP, default_mlp_settings, metrics, paper_mlp_settings, simulate
from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")


def bent_table(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """A table a → b ← c with b = 4 tanh(2a) − 2c + noise, far from zero, with a constant column."""
    random = np.random.default_rng(seed)
    a, c = random.normal(size=(2, n))
    b = 4 * np.tanh(2 * a) - 2 * c + 0.1 * random.normal(size=n)
    return pd.DataFrame({"a": a + 50, "b": b + 1000, "c": c - 7, "still": 3.0})


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return bent_table()


@pytest.fixture(scope="module")
def model(table) -> CosmoMLP:
    settings = {**paper_mlp_settings(4), "learning_rate": 1e-2, "priority_learning_rate": 5e-4}
    return CosmoMLP(**settings, epochs=300, random_state=0).fit(table)


@pytest.fixture(scope="module")
def data() -> simulate.Dataset:
    return simulate.load("n500_d10_ER2_mlp", seed=4242)


@pytest.mark.parametrize("mask", ["weights", pytest.param("inputs", marks=pytest.mark.nightly)])
def test_it_finds_the_graph(data, mask):
    settings = {"loss": "squared-error", "epochs": 200, "refine": None, "random_state": 0}
    model = CosmoMLP(mask=mask, **settings).fit(data.X)
    # Both average 0.97 over graphs; the limit is about five deviations of 0.015 below.
    assert metrics.evaluate(data.graph, model.raw_weights_)["auc"] > 0.9


@pytest.mark.parametrize("mask", ["weights", pytest.param("inputs", marks=pytest.mark.nightly)])
def test_the_loss_is_chosen_by_the_noise_whatever_the_mask(data, mask):
    model = CosmoMLP(mask=mask, epochs=200, refine=None, random_state=0).fit(data.X)
    assert model.loss_ == "squared-error"


@pytest.mark.parametrize("refine", [None, "prune"])
def test_two_read_outs_of_one_fit(table, refine):
    model = CosmoMLP(epochs=30, refine=refine, random_state=0).fit(table)
    by_norm, by_sum = model.arc_norms_, model.arc_sums_
    if refine is None:
        assert np.array_equal(model.raw_weights_, by_norm)
    else:  # refinement refits the networks on the chosen arcs
        assert np.array_equal(model.adjacency_, by_norm)
    np.testing.assert_allclose(by_norm**2, (model.first_weights_**2).sum(-1) * (by_norm > 0))
    assert np.all(np.abs(by_sum) <= by_norm * np.sqrt(10) + 1e-6)
    adjacency, predicted = model.adjacency_, model.predict(table)
    other = CosmoMLP(**model.get_params()).fit(table)
    assert other.read_out("sum") is other
    assert other.arc_strength == "norm"  # a parameter of the constructor
    assert np.array_equal(other.raw_weights_, by_sum)
    assert is_dag(other.adjacency_)
    assert other.causal_order_ == model.causal_order_
    if refine == "prune":
        assert np.array_equal(other.adjacency_ != 0, adjacency != 0)
    back = other.read_out("norm")
    assert np.array_equal(back.adjacency_, adjacency)
    # Training data near 1000 is recovered from residuals in float32.
    np.testing.assert_allclose(back.predict(table), predicted, atol=1e-3)


def test_a_read_out_is_what_a_fit_with_it_gives(table):
    settings = {"epochs": 30, "random_state": 0, "threshold": 0.05, "refine": None}
    fitted = CosmoMLP(arc_strength="sum", **settings).fit(table)
    switched = CosmoMLP(arc_strength="norm", **settings).fit(table).read_out("sum")
    assert np.array_equal(fitted.adjacency_, switched.adjacency_)
    np.testing.assert_allclose(fitted.predict(table), switched.predict(table), atol=1e-3)
    assert fitted.score(table) == pytest.approx(switched.score(table), abs=1e-4)


def test_predictions_use_the_arcs_of_the_graph_alone(model, table):
    assert set(model.graph_.edges) == {("a", "b"), ("c", "b")}
    base = model.predict(table)
    moved = model.predict(table.assign(b=table["b"] + 100))
    assert np.array_equal(base, moved)
    changed = np.any(model.predict(table.assign(a=table["a"] + 1)) != base, axis=0)
    assert changed.tolist() == [False, True, False, False]


def test_predictions_are_good_and_centred(model, table):
    predicted = model.predict(table).to_numpy()
    error = table["b"] - predicted[:, 1]
    assert error.var() < 0.1 * table["b"].var()
    np.testing.assert_allclose(predicted.mean(0), table.mean(), atol=1e-3)
    np.testing.assert_allclose(predicted[:, 3], 3.0)


def test_samples_follow_the_relation(model, table):
    drawn = model.sample(2000, random_state=0).to_numpy()
    again = model.predict(drawn)[:, 1]
    # The noise around the response is resampled from the training residuals.
    spread = np.std(drawn[:, 1] - again)
    assert spread == pytest.approx(np.sqrt(model.noise_variances_[1]), rel=0.1)
    assert drawn[:, 1].std() == pytest.approx(table["b"].std(), rel=0.1)


def test_the_response_to_one_parent(model, table):
    grid = np.linspace(48, 52, 9)
    response = model.response("a", "b", grid)
    expected = 4 * np.tanh(2 * (grid - table["a"].mean())) + table["b"].mean()
    # The response spans eight units; a tenth of that is allowed, because data are sparse in places.
    np.testing.assert_allclose(response, expected, atol=0.8)
    rows = pd.DataFrame({"a": grid, "b": 0.0, "c": table["c"].mean(), "still": 3.0})
    np.testing.assert_allclose(response, model.predict(rows)["b"], atol=1e-3)
    flat = model.response("b", "a", [900.0, 1000.0])
    assert flat[0] == flat[1] == pytest.approx(table["a"].mean(), abs=1e-3)


def test_other_parents_stand_at_their_means_without_centring_too(table):
    model = CosmoMLP(scale="none", epochs=3, threshold=0.0, refine=None, random_state=0).fit(
        table - 1
    )
    rows = np.tile((table - 1).mean().to_numpy(), (2, 1))
    cause, effect = model.causal_order_[0], model.causal_order_[-1]
    place, end = (list(table.columns).index(name) for name in (cause, effect))
    rows[:, place] = [5.0, 6.0]
    np.testing.assert_allclose(
        model.response(cause, effect, [5.0, 6.0]), model.predict(rows)[:, end], rtol=1e-4
    )


def test_the_response_refuses_what_it_cannot_answer(model):
    with pytest.raises(DataError, match=r"no column 'x'.*'a', 'b', 'c', 'still'"):
        model.response("x", "b", [0.0])
    for grid in ([[1.0]], [np.nan], 3.0):
        with pytest.raises(DataError, match="grid"):
            model.response("a", "b", grid)


@pytest.mark.parametrize("hidden", [(10,), (4, 3, 2)])
def test_networks_of_any_depth_are_saved(table, tmp_path, hidden):
    settings = {"epochs": 3, "threshold": 0.0, "refine": None, "random_state": 0}
    model = CosmoMLP(hidden=hidden, **settings).fit(table)
    model.save(tmp_path / "model.safetensors", residuals=True)
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert again.hidden == hidden
    assert np.array_equal(again.predict(table), model.predict(table))
    assert np.array_equal(again.arc_sums_, model.arc_sums_)
    grid = [49.0, 51.0]
    assert np.array_equal(again.response("a", "b", grid), model.response("a", "b", grid))
    assert np.array_equal(again.read_out("sum").adjacency_, model.read_out("sum").adjacency_)


def test_networks_of_two_hidden_layers_are_refined(table):
    model = CosmoMLP(hidden=(4, 3), epochs=3, random_state=0).fit(table)
    assert model.refinement_ == "prune"
    assert model.first_weights_.shape == (4, 4, 4)
    assert np.isfinite(np.asarray(model.predict(table))).all()


def test_fitting_again_with_another_depth(table):
    settings = {"epochs": 3, "refine": None, "random_state": 0}
    model = CosmoMLP(hidden=(4, 3, 2), **settings).fit(table)
    model.set_params(hidden=(10,)).fit(table)
    fresh = CosmoMLP(hidden=(10,), **settings).fit(table)
    assert np.array_equal(model.predict(table), fresh.predict(table))


def test_many_rows_are_predicted_in_blocks(model, table, monkeypatch):
    whole = model.predict(table)
    monkeypatch.setattr("cosmodag.learners.networks.network_equations._MAX_UNITS", 40 * 7)
    # A product of fewer rows may be summed in another order.
    np.testing.assert_allclose(model.predict(table), whole, rtol=1e-12)


def test_the_papers_settings(table):
    model = CosmoMLP(epochs=2, refine=None, random_state=0, **paper_mlp_settings(4)).fit(table)
    assert model.settings_["priority_learning_rate"] == model.settings_["learning_rate"] == 1.7e-3
    assert set(default_mlp_settings(4)) == set(paper_mlp_settings(4))


@pytest.mark.parametrize(
    "bad",
    [
        {"hidden": ()},
        {"hidden": 10},
        {"hidden": (0,)},
        {"hidden": (2.5,)},
        {"activation": "step"},
        {"mask": "outputs"},
        {"mask": None},
        {"arc_strength": "max"},
        {"epochs": 0},
        {"lambda1": -1.0},
    ],
)
def test_bad_parameters_are_refused_by_name(table, bad):
    (name,) = bad
    with pytest.raises(DataError, match=name):
        CosmoMLP(**bad).fit(table)


def test_a_bad_read_out_changes_nothing(model):
    before = model.raw_weights_
    with pytest.raises(DataError, match="arc_strength"):
        model.read_out("max")
    assert model.raw_weights_ is before
    assert model.arc_strength == "norm"
