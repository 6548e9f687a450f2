"""Time series with nonlinear effects, or with categories and counts."""

import numpy as np
import pandas as pd
import pytest

from cosmodag import BlockSearch, load
from cosmodag.errors import DataError
from cosmodag.fit.time.paths import continued, drawn_pasts

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def bent_series(n=400, seed=0):
    """a[t-1] → a (linear), a[t-1] → b (a cosine without linear trend), and b → c (a square)."""
    X = 0.4 * np.random.default_rng(seed).normal(size=(n, 3))
    for t in range(1, n):
        X[t, 0] += 0.5 * X[t - 1, 0]
        X[t, 1] += np.cos(3 * X[t - 1, 0])
        X[t, 2] += X[t, 1] ** 2
    return X


def named(X, seed=0):
    """Add a category, which depends on a, and a count, which depends on the previous category."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    edges = [-0.2 + 0.2 * random.normal(size=len(X)), 0.2 + 0.2 * random.normal(size=len(X))]
    level = (X[:, 0] > edges[0]).astype(int) + (X[:, 0] > edges[1])
    frame["mood"] = np.array(["low", "middle", "high"])[level]
    rate = np.exp(np.array([0.0, 1.0, 2.0])[np.roll(level, 1)])
    return frame.assign(calls=random.poisson(rate))


@pytest.fixture(scope="module")
def model():
    return BlockSearch(lags=1, random_state=0, verbose=False).fit(bent_series())


@pytest.fixture(scope="module")
def mixed():
    return BlockSearch(lags=1, random_state=0, verbose=False).fit(named(bent_series()))


def test_curves_at_the_same_time_and_before_are_found(model):
    assert "curves were kept" in model.curves_reason_
    summary = {(u, v): facts["lags"] for u, v, facts in model.summary_graph_.edges(data=True)}
    assert summary == {("x0", "x0"): [1], ("x0", "x1"): [1], ("x1", "x2"): [0]}
    assert not np.asarray(model.adjacency_)[:, 3:].any()


def test_a_prediction_is_the_mean_over_what_happens_at_the_same_time(model):
    X = bent_series(200, seed=1)
    predicted = model.predict(X)
    expected = np.cos(3 * X[:-1, 0])
    assert np.abs(predicted[1:, 1] - expected).mean() < 0.1
    # The mean of a square exceeds the square of the mean by the variance of the noise.
    assert np.abs(predicted[1:, 2] - expected**2 - 0.16).mean() < 0.1
    assert np.allclose(model.forecast(X[:50], 1)[0], predicted[50], atol=0.1)


def test_responses_are_differences_of_paths(model):
    found = model.impulse_responses(3)
    random, dag = np.random.default_rng(1), model.fitted_
    start = drawn_pasts(dag, 20_000, random)
    noise = dag.drawn_noise(20_000 * 4, random)[:, :3].reshape(4, -1, 3)
    calm = continued(dag, start, noise)
    raised = continued(dag, start, noise, [{0: calm[0, :, 0] + 1.0}])
    # The tolerance is four standard errors of the mean over 500 paths.
    change = raised - calm
    limits = 4 * change.std(axis=1) / np.sqrt(500) + 1e-6
    assert (np.abs(found.loc["x0"].to_numpy().T - change.mean(axis=1)) <= limits).all()
    assert (found.loc["x0"].loc["x2"].abs() > 0.01).any()


def test_a_loaded_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    X = bent_series(60, seed=2)
    assert np.allclose(again.predict(X)[1:], model.predict(X)[1:])
    assert np.allclose(again.forecast(X, 3), model.forecast(X, 3))
    assert again.score(X) == pytest.approx(model.score(X))


def test_categories_and_counts_act_on_later_rows(mixed):
    arcs = set(zip(mixed.arcs_["cause"], mixed.arcs_["effect"], strict=True))
    assert {("mood[t-1]", "calls"), ("a", "mood"), ("a[t-1]", "b")} <= arcs
    kinds = [kind.kind for kind in mixed.kinds_]
    assert kinds == 2 * ["continuous", "continuous", "continuous", "categorical", "count"]


def test_levels_of_new_rows_are_matched_by_label(mixed):
    frame = named(bent_series(80, seed=3), seed=3)
    predicted = mixed.predict(frame)
    assert set(np.unique(predicted[1:, 3])) <= {0.0, 1.0, 2.0}
    few = frame.iloc[:2].assign(mood=["middle"] * 2)  # on its own, this level would be number 0
    same = mixed.predict(pd.concat([few, frame.iloc[2:]], ignore_index=True))
    assert np.allclose(mixed.predict(few)[1], same[1])
    assert np.isfinite(mixed.score(frame))
    assert (mixed.sample(30, random_state=0, do={"mood": "low"})[:, 3] == 1).all()


def test_categories_have_no_responses(mixed):
    found = mixed.impulse_responses(2)
    assert found.loc["mood"].isna().all(axis=None)
    assert found.xs("mood", level="effect").isna().all(axis=None)
    assert np.isfinite(found.loc[("a", "b")]).all()


def test_kinds_are_said_of_variables_not_of_their_copies():
    frame = named(bent_series(150)).drop(columns=["calls"])
    frame["ward"] = np.arange(len(frame)) % 3
    for said in ({"ward": "categorical"}, [None, None, None, None, "categorical"]):
        model = BlockSearch(lags=1, kinds=said, curves=False, random_state=0, verbose=False)
        kinds = model.fit(frame).kinds_
        assert [kind.kind for kind in kinds[4::5]] == ["categorical", "categorical"]
        assert kinds[4].levels == kinds[9].levels == (0, 1, 2)


def test_a_learner_of_numbers_names_a_category_once():
    from cosmodag import EmptyGraph

    with pytest.raises(DataError, match=r"'mood' \(3 levels\) is a category") as refused:
        EmptyGraph(lags=1).fit(named(bent_series(60)))
    assert "mood[t-1]" not in str(refused.value)


def test_a_memory_beyond_the_lags_is_reported():
    X = np.random.default_rng(0).normal(size=(400, 2))
    for t in range(2, 400):
        X[t, 0] += 0.3 * X[t - 1, 0] + 0.6 * X[t - 2, 0]
        X[t, 1] += X[t, 0] ** 2
    found = BlockSearch(lags=1, curves=True, random_state=0, verbose=False).fit(X)
    assert "few_lags" in {one.name for one in found.findings_}
