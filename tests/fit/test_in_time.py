"""Time series: lagged windows, their graph, and results computed from its equations."""

import numpy as np
import pandas as pd
import pytest

from cosmodag import Cosmo, EmptyGraph, Knowledge, OrderSearch, load
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

# B[lag, u, v]: the effect of u at t − lag on v at t.
TRUTH = np.zeros((3, 3, 3))
TRUTH[1, 0, 0], TRUTH[0, 0, 1], TRUTH[1, 2, 1] = 0.6, 0.8, 0.5
TRUTH[2, 1, 2], TRUTH[1, 2, 2] = 0.6, -0.4


def series(seed, n=400, truth=TRUTH, start=None):
    X = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 0.6, 1.3]
    for t in range(2, n):
        X[t] += X[t - 1] @ truth[1] + X[t - 2] @ truth[2]
        X[t] += X[t] @ truth[0]  # 0 → 1 is the only instantaneous arc
    return X


def panel(series_count=4, n=120):
    frames = []
    for label in range(series_count):
        frame = pd.DataFrame(series(label, n), columns=["a", "b", "c"])
        frame["day"] = pd.date_range("2024-01-01", periods=n)
        frame["patient"] = f"p{label}"
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def model():
    frame = pd.DataFrame(series(0), columns=["a", "b", "c"])
    return OrderSearch(lags=2, random_state=0).fit(frame)


def test_the_window_graph_is_the_true_one(model):
    assert ((model.lagged_weights_ != 0) == (TRUTH != 0)).all()
    assert np.abs(model.lagged_weights_ - TRUTH).max() < 0.2


def test_window_and_summary_agree_with_the_arcs(model):
    window = model.window_graph_
    assert set(window.edges) == set(zip(model.arcs_["cause"], model.arcs_["effect"], strict=True))
    assert window.nodes["b[t-2]"] == {"variable": "b", "lag": 2}
    summary = model.summary_graph_
    assert set(summary.edges) == {("a", "a"), ("a", "b"), ("c", "b"), ("b", "c"), ("c", "c")}
    assert summary.edges["b", "c"]["lags"] == [2]
    assert summary.edges["b", "c"]["weights"] == [model.lagged_weights_[2, 1, 2]]


def test_no_arc_leads_into_the_past_and_time_is_its_basis(model):
    edges = model.edges_
    assert (edges.col < 3).all()
    bases = np.array(model.fitted_.arrow_basis)
    assert (bases[edges.row >= 3] == "time").all()
    assert (bases[edges.row < 3] != "time").all()


def test_responses_are_those_of_simulated_pulses(model):
    found = model.impulse_responses(4)
    weights = model.lagged_weights_
    for u, cause in enumerate("abc"):
        path = np.zeros((7, 3))  # two past rows, then the pulse
        for t in range(2, 7):
            path[t] = path[t - 1] @ weights[1] + path[t - 2] @ weights[2]
            path[t, u] += t == 2
            path[t] += path[t] @ weights[0]
        assert np.allclose(found.loc[cause].to_numpy().T, path[2:])
    total = model.impulse_responses(4, cumulative=True)
    assert np.allclose(total[4], found.sum(axis=1))


def test_responses_of_standardised_columns_are_in_the_units_of_the_table():
    X = series(1, 300)
    plain, scaled = (
        OrderSearch(lags=2, noise="gaussian", scale=scale, random_state=0).fit(X)
        for scale in ("center", "standardize")
    )
    difference = plain.impulse_responses(3) - scaled.impulse_responses(3)
    assert np.abs(difference.to_numpy()).max() < 1e-4


def test_a_prediction_uses_the_rows_before_alone(model):
    X = series(2, 50)
    predicted = model.predict(X)
    assert np.isnan(predicted[:2]).all()
    assert np.isfinite(predicted[2:]).all()
    changed = X.copy()
    changed[20:] += 9.0
    assert np.allclose(model.predict(changed)[2:21], predicted[2:21])
    assert np.mean((X[2:] - predicted[2:]) ** 2) < np.mean((X - X.mean(axis=0)) ** 2)
    assert np.allclose(model.forecast(X[:30], 1)[0], predicted[30])


def test_new_rows_must_have_the_variables_of_training(model):
    frame = pd.DataFrame(series(2, 20), columns=["b", "a", "c"])
    for ask in (model.predict, model.score, model.forecast):
        with pytest.raises(DataError, match="in this order"):
            ask(frame)


def test_a_prediction_follows_what_is_set(model):
    X = series(2, 30)
    given = model.predict(X, do={"a": 5.0})
    assert (given[2:, 0] == 5.0).all()
    shift = model.lagged_weights_[0, 0, 1] * (5.0 - model.predict(X)[2:, 0])
    assert np.allclose(given[2:, 1], model.predict(X)[2:, 1] + shift)


def test_a_missing_level_is_not_taken_for_the_first_one():
    random = np.random.default_rng(0)
    level = random.integers(3, size=300)
    size = np.r_[0.0, 3.0 * level[:-1]] + random.normal(size=300)
    frame = pd.DataFrame({"level": np.array(["x", "y", "z"], object)[level], "size": size})
    fitted = OrderSearch(lags=1, random_state=0).fit(frame)
    whole = fitted.predict(frame)
    frame.loc[7, "level"] = None
    predicted = fitted.predict(frame)
    assert np.isnan(predicted[8]).all()
    others = np.delete(np.arange(300), 8)
    np.testing.assert_array_equal(predicted[others], whole[others])


def test_a_path_has_the_memory_of_the_series(model):
    path = model.sample(2_000, random_state=0)
    assert path.shape == (2_000, 3)
    again = OrderSearch(lags=2, random_state=0).fit(path)
    assert np.abs(again.lagged_weights_ - model.lagged_weights_).max() < 0.2
    held = model.sample(20, random_state=0, do={"c": 1.5})
    assert (held[:, 2] == 1.5).all()


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    X = series(3, 40)
    assert np.allclose(again.predict(X)[2:], model.predict(X)[2:])
    assert again.window_ == model.window_
    assert again.arrow_basis_ == model.arrow_basis_
    assert again.score(X) == pytest.approx(model.score(X))
    assert again.sample(5, random_state=0).shape == (5, 3)


def test_no_lag_crosses_a_series_and_rows_come_in_any_order():
    frame = panel()
    first = OrderSearch(lags=2, random_state=0).fit(frame, series="patient", time="day")
    shuffled = frame.sample(frac=1.0, random_state=1)
    again = OrderSearch(lags=2, random_state=0).fit(shuffled, series="patient", time="day")
    assert len(first.residuals_) == 4 * (120 - 2)
    assert np.allclose(first.lagged_weights_, again.lagged_weights_, atol=1e-5)
    labels, times = frame.pop("patient"), frame.pop("day")
    by_rows = OrderSearch(lags=2, random_state=0).fit(frame, series=list(labels), time=times)
    assert np.allclose(first.lagged_weights_, by_rows.lagged_weights_)


def test_new_rows_are_taken_apart_like_those_of_training():
    frame = panel()
    model = OrderSearch(lags=2, random_state=0).fit(frame, series="patient", time="day")
    predicted = model.predict(frame)
    assert np.isnan(predicted[:, 0]).sum() == 4 * 2
    assert np.isfinite(model.score(frame))


def test_rows_with_as_many_columns_as_a_window_are_rows():
    """Two variables, a series and a time are four columns, as two variables with one lag."""
    frame = panel()[["patient", "day", "a", "b"]]
    model = OrderSearch(lags=1, random_state=0).fit(frame, series="patient", time="day")
    plain = frame.drop(columns=["patient", "day"]).to_numpy()[:120]
    assert len(model.fitted_.prepared(frame)) == 4 * (120 - 1)
    assert np.isfinite(model.score(frame))
    assert np.isfinite(model.score(plain))


@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_a_missing_value_is_a_gap_and_joins_no_rows(missing):
    frame = panel()
    whole = OrderSearch(lags=2, random_state=0).fit(frame, series="patient", time="day")
    frame.loc[frame.index[50::60], "b"] = np.nan
    model = OrderSearch(lags=2, missing=missing, random_state=0)
    model.fit(frame, series="patient", time="day")
    gone = 3 * len(frame.index[50::60]) if missing == "drop" else 0
    assert len(model.residuals_) == len(whole.residuals_) - gone
    assert ((model.lagged_weights_ != 0) == (whole.lagged_weights_ != 0)).all()


def test_what_was_set_does_not_follow_its_equation_then():
    random = np.random.default_rng(5)
    X, targets = random.normal(size=(400, 3)), [None] * 400
    for t in range(2, 400):
        X[t] += X[t - 1] @ TRUTH[1] + X[t - 2] @ TRUTH[2]
        X[t] += X[t] @ TRUTH[0]
        if t % 3 == 0:
            X[t, 1], targets[t] = random.normal(scale=5.0), 1
    model = OrderSearch(lags=2, random_state=0).fit(X, interventions=targets)
    assert np.abs(model.lagged_weights_ - TRUTH).max() < 0.2
    blind = OrderSearch(lags=2, random_state=0).fit(X)
    assert np.abs(blind.lagged_weights_ - TRUTH).max() > 0.2


def test_knowledge_of_variables_holds_at_all_lags():
    known = Knowledge(forbidden_edges=[("b", "c")])
    model = OrderSearch(lags=2, knowledge=known, random_state=0).fit(
        pd.DataFrame(series(0), columns=["a", "b", "c"])
    )
    assert not model.lagged_weights_[:, 1, 2].any()
    assert model.knowledge_ == known


def test_equal_variances_of_the_present_are_seen_whatever_the_past_varies():
    random = np.random.default_rng(0)
    X = random.normal(size=(800, 3))
    for t in range(1, 800):
        X[t, 0] += 0.9 * X[t - 1, 0]
        X[t, 1] += 0.8 * X[t, 0]
        X[t, 2] += 0.8 * X[t, 1]
    model = OrderSearch(lags=1, random_state=0).fit(X)
    assert model.noise_ == "equal-variance"


def test_resamples_are_blocks_of_windows():
    frame = panel(2, 80)
    found = bootstrap(
        OrderSearch(lags=1),
        frame,
        n=6,
        series="patient",
        time="day",
        random_state=0,
        verbose=False,
    )
    assert found.edge_probabilities.shape == (6, 6)
    own = list(found.names).index("a[t-1]"), list(found.names).index("a")
    assert found.edge_probabilities[own] > 0.9


def test_a_learner_that_trains_obeys_time():
    model = Cosmo(lags=1, epochs=20, refine=None, random_state=0).fit(series(0, 100))
    assert not np.asarray(model.adjacency_)[:, 3:].any()


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.effect("a", "b"),
        lambda model: model.effects_,
        lambda model: model.adjustment_set("a", "b"),
        lambda model: model.validate(),
        lambda model: model.pag_,
    ],
)
def test_questions_about_independent_rows_are_refused_in_a_sentence(model, ask):
    with pytest.raises(DataError, match="not offered for time series"):
        ask(model)


def test_times_without_lags_are_refused():
    with pytest.raises(DataError, match="--lags"):
        EmptyGraph().fit(series(0, 30), time=range(30))


def test_a_model_without_lags_has_no_window():
    model = EmptyGraph().fit(series(0, 30))
    assert not hasattr(model, "window_graph_")
    assert not hasattr(model, "lagged_weights_")


@pytest.mark.parametrize("lags", [-1, 1.5, "two"])
def test_lags_must_be_a_number_of_rows(lags):
    with pytest.raises(DataError, match="lags is"):
        EmptyGraph(lags=lags).fit(series(0, 30))


def test_hidden_causes_are_not_seen_in_the_past_alone(model):
    assert not {"hidden_causes", "rows_follow", "few_lags"} & {one.name for one in model.findings_}


def test_intervals_without_resamples_are_those_of_the_equations(model):
    found = model.response_intervals(3)
    assert np.allclose(found["estimate"], model.impulse_responses(3).to_numpy().ravel())
    # After one lag, the response of a to itself is its coefficient, whose standard error is known.
    arcs = model.arcs_.set_index(["cause", "effect"])
    own = found.loc[("a", "a", 1)]
    width = (own["high"] - own["low"]) / (2 * 1.96)
    # The tolerance is four standard errors of a standard deviation of 400 draws.
    assert width == pytest.approx(arcs.loc[("a[t-1]", "a"), "se"], rel=0.15)
    at_once = found.xs(0, level="time")
    assert (at_once.loc[("b", "a")] == 0).all()
    sums = model.response_intervals(3, cumulative=True)["estimate"].unstack("time")
    assert np.allclose(sums, model.impulse_responses(3, cumulative=True))


def test_an_equation_without_noise_has_intervals_of_no_width():
    random = np.random.default_rng(0)
    signs = np.r_[1.0, random.permutation(np.repeat([-1.0, 1.0], 32))]
    frame = pd.DataFrame({"a": signs, "copy": signs, "c": random.normal(size=65)})
    known = Knowledge(required_edges=[("a[t]", "copy")], exogenous=["a", "c"])
    fitted = OrderSearch(lags=1, knowledge=known, random_state=0).fit(frame)
    row = fitted.response_intervals(0).loc[("a", "copy", 0)]
    assert row.tolist() == [1.0, 1.0, 1.0]


def test_intervals_of_resamples_hold_the_estimate_and_are_kept(model):
    found = model.response_intervals(2, bootstrap=10)
    assert (found["low"] <= found["estimate"]).all()
    assert (found["high"] >= found["estimate"]).all()
    again = model.response_intervals(2)
    assert again.equals(found)
    del model._resampled_fits_


def test_a_loaded_model_has_intervals_with_its_table(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again, frame = (
        load(tmp_path / "model.safetensors"),
        pd.DataFrame(series(0), columns=list("abc")),
    )
    assert again.response_intervals(1)["low"].isna().all()
    given = again.response_intervals(1, X=frame)
    assert np.allclose(given, model.response_intervals(1), atol=1e-3)
    assert np.isfinite(again.response_intervals(1, X=frame, bootstrap=3)).all(axis=None)


def test_intervals_use_only_rows_that_are_known_to_follow_their_equation(tmp_path):
    frame = pd.DataFrame(series(0, 200), columns=list("abc"))
    targets = ["b" if row < 60 else "" for row in range(200)]
    fitted = OrderSearch(lags=1, random_state=0).fit(frame, interventions=targets)
    found = fitted.response_intervals(1)
    assert fitted.response_intervals(1, X=frame[:100]).equals(found)
    fitted.save(tmp_path / "model.safetensors")
    # The file does not say in which rows b was set.
    again = load(tmp_path / "model.safetensors").response_intervals(1, X=frame)
    assert again["low"].isna().all()
