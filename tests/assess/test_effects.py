"""Effects: their accuracy for known equations, effects over a class, and invalid requests."""

import json
from dataclasses import replace
from itertools import starmap

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import cosmodag
from cosmodag import BlockSearch, CosmoMLP, Knowledge, OrderSearch, VarianceSort, selection
from cosmodag.assess import Effects, refit_resamples
from cosmodag.assess.effects import resampled
from cosmodag.assess.effects.panel import effects_panel
from cosmodag.assess.effects.slopes import Covariance
from cosmodag.errors import DataError
from cosmodag.fit.dag.known import Known
from cosmodag.fit.dag.linear_equations import FittedEquations

NAMES = ["rain", "sun", "growth", "price"]
# rain → growth ← sun, rain → price, growth → price: the graph is alone in its class.
WEIGHTS = np.array([[0, 0, 2.0, 0.5], [0, 0, 1.0, 0], [0, 0, 0, -0.5], [0, 0, 0, 0]])
TOTALS = np.linalg.inv(np.eye(4) - WEIGHTS)


def draw(n=2_000, seed=0, sizes=(1.0, 2.0, 0.7, 1.5)):
    noise = np.random.default_rng(seed).normal(size=(n, 4)) * sizes
    return pd.DataFrame(noise @ TOTALS, columns=NAMES)


@pytest.fixture(scope="module")
def table():
    return draw()


@pytest.fixture(scope="module")
def model(table):
    return OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(table)


def test_total_and_direct_effects_are_those_of_the_equations(model):
    for x, cause in enumerate(NAMES):
        for y, effect in enumerate(NAMES):
            if x == y:
                continue
            total = model.effect(cause, effect)
            assert total.identified
            assert total.estimate == pytest.approx(TOTALS[x, y], abs=0.15)
            direct = model.effect(cause, effect, direct=True)
            assert direct.estimate == pytest.approx(WEIGHTS[x, y], abs=0.15)
            assert (total.estimate == 0) == (TOTALS[x, y] == 0)
            if TOTALS[x, y]:
                assert total.low < total.estimate < total.high


def test_the_estimate_is_a_regression_on_the_adjustment_set(model, table):
    found = model.effect("growth", "price", bootstrap=None)
    assert found.adjustment == ("rain",)
    assert model.adjustment_set("growth", "price") == ("rain",)
    assert model.adjustment_set("growth", "price", "parents") == ("rain", "sun")
    columns = np.column_stack([np.ones(len(table)), table["growth"], table["rain"]])
    solution, (rss,), *_ = np.linalg.lstsq(columns, table["price"], rcond=None)
    assert found.estimate == pytest.approx(solution[1], rel=1e-5)
    error = np.sqrt(rss / (len(table) - 3) * np.linalg.inv(columns.T @ columns)[1, 1])
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=1e-3)


def test_units_and_values_scale_the_effect(model, table):
    one = model.effect("rain", "price")
    two = model.effect("rain", "price", values=(3, 1))
    assert two.estimate == pytest.approx(-2 * one.estimate)
    assert (two.low, two.high) == pytest.approx((-2 * one.high, -2 * one.low))
    assert "moving rain from 3 to 1" in str(two).lower()
    scaled = OrderSearch(noise="gaussian", scale="standardize", random_state=0, verbose=False)
    again = scaled.fit(table * [1000, 1, 1, 0.01]).effect("rain", "price")
    assert again.estimate == pytest.approx(one.estimate * 1e-5, rel=1e-3)


def test_all_effects_are_the_single_ones(model):
    matrix = model.effects_
    assert matrix.index.tolist() == matrix.columns.tolist() == NAMES
    for cause in NAMES:
        assert matrix.loc[cause, cause] == 1
        for effect in set(NAMES) - {cause}:
            assert matrix.loc[cause, effect] == model.effect(cause, effect).estimate


def test_an_open_effect_has_a_range_that_knowledge_closes(table):
    pair = table[["rain", "growth"]]
    learner = OrderSearch(noise="gaussian", random_state=0, verbose=False)
    found = learner.fit(pair).effect("rain", "growth")
    assert not found.identified
    assert found.possible[0] == 0.0
    assert found.possible[1] == pytest.approx(2, abs=0.1)
    assert found.low <= 0.0 <= found.possible[1] <= found.high
    assert "open" in str(found)
    assert learner.effects_.isna().to_numpy().sum() == 2
    with pytest.raises(DataError, match="differ in the effect"):
        learner.adjustment_set("rain", "growth")
    told = OrderSearch(
        noise="gaussian", knowledge=Knowledge(tiers=[["rain"], ["growth"]]), verbose=False
    ).fit(pair)
    closed = told.effect("rain", "growth")
    assert closed.identified
    assert closed.estimate == pytest.approx(found.possible[1])
    assert closed.rests_on == ("knowledge",)
    assert told.effect("growth", "rain").is_nothing


def test_noise_that_decides_directions_decides_effects(table):
    model = OrderSearch(noise="gaussian", random_state=0, verbose=False)
    model.fit(table[["rain", "growth"]])
    cause, effect = model.causal_order_
    model.fitted_ = replace(model.fitted_, noise="non-gaussian")
    found = model.effect(cause, effect)
    assert found.identified
    assert found.estimate != 0
    assert found.rests_on == ("non-Gaussianity",)
    assert model.effect(effect, cause).is_nothing


def test_nothing_is_said_plainly(model):
    found = model.effect("price", "rain")
    assert (found.estimate, found.possible) == (0.0, (0.0,))
    assert found.low != 0 or found.high != 0  # NaN, or wider than zero
    assert found.paths == ()
    assert "No effect" in str(found)
    assert str(found).count("no directed path leads from ") == 1
    reversed_arc = model.effect("price", "growth", direct=True)
    assert "no arc leads from price to growth in this graph" in str(reversed_arc)
    with pytest.raises(DataError, match="No directed path"):
        model.adjustment_set("price", "rain")


def test_paths_and_facts(model):
    found = model.effect("rain", "price")
    assert found.paths == (("rain", "price"), ("rain", "growth", "price"))
    assert model.effect("rain", "price", direct=True).paths == (("rain", "price"),)
    facts = json.loads(json.dumps(found.facts()))
    assert facts["sentence"] == str(found)
    assert facts["paths"][1] == ["rain", "growth", "price"]


def test_what_cannot_be_answered_is_refused(model):
    with pytest.raises(DataError, match="no variable 'Rain': the nearest is 'rain'"):
        model.effect("Rain", "price")
    with pytest.raises(DataError, match="two different variables"):
        model.effect("rain", "rain")
    for values in ([1, 1], [1], [0, np.nan]):
        with pytest.raises(DataError, match="values"):
            model.effect("rain", "price", values=values)
    for level in (95, "high"):
        with pytest.raises(DataError, match="level"):
            model.effect("rain", "price", level=level)
    with pytest.raises(DataError, match="kind"):
        model.adjustment_set("rain", "price", "best")
    with pytest.raises(DataError, match="bootstrap"):
        model.effect("rain", "price", bootstrap=1)


def test_a_constant_column_has_no_effect(table):
    with pytest.warns(cosmodag.errors.DataWarning):
        model = VarianceSort().fit(table.assign(still=3.0))
    assert model.effect("still", "price").is_nothing
    assert model.effect("rain", "still").is_nothing


def test_intervals_of_resamples_hold_the_graph(model):
    fits = refit_resamples(model, 20, verbose=False)
    found = model.effect("rain", "price", bootstrap=fits)
    assert "20 fits" in found.interval_from
    assert found.low < TOTALS[0, 3] < found.high
    # If some resamples lack an arc, the interval contains zero.
    rain, sun, noise = np.random.default_rng(0).normal(size=(3, 120))
    weak = pd.DataFrame({"rain": rain, "sun": sun, "growth": 2 * rain + 0.3 * sun + noise})
    few = OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(weak)
    with_graph = few.effect("sun", "growth", direct=True, bootstrap=20)
    shares = [dag.arcs.toarray()[1, 2] for dag in few._resampled_fits_.dags]
    assert 0 < sum(shares) < 20
    assert with_graph.low <= 0 < with_graph.high
    assert few.effect("sun", "growth").interval_from == "20 fits to resamples of the rows"


def test_resamples_that_leave_an_effect_open_widen_its_interval(table):
    model = OrderSearch(noise="gaussian", random_state=0, verbose=False)
    model.fit(table[["rain", "growth"]])
    fits = refit_resamples(model, 5, verbose=False)
    # Pretend that the fit itself had directed the arrow.
    cause, effect = model.causal_order_
    model.fitted_ = replace(model.fitted_, noise="non-gaussian")
    found = model.effect(cause, effect, bootstrap=fits)
    assert found.identified
    assert min(found.low, found.high, key=abs) == 0.0


def test_a_model_without_its_data_answers_from_its_equations(model, table, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    found, known = again.effect("rain", "price"), model.effect("rain", "price", bootstrap=None)
    assert found.estimate == pytest.approx(known.estimate, rel=0.02)
    assert np.isnan(found.low)
    assert "not available" in str(found)
    with_rows = Effects.of(again, rows=len(table)).effect("rain", "price")
    assert with_rows.high - with_rows.low == pytest.approx(known.high - known.low, rel=0.05)
    assert again.effect("rain", "price", X=table).estimate == pytest.approx(known.estimate)
    with pytest.raises(DataError, match="model was fitted to"):
        again.effect("rain", "price", X=table[["rain", "sun"]])


def test_interventions_count_where_equations_held():
    rows = draw()
    random = np.random.default_rng(1)
    targets = [None] * len(rows)
    # Intervene on growth in half of the rows: price changes, rain and sun do not.
    rows.loc[1000:, "growth"] = random.normal(size=1000) * 5
    noise = random.normal(size=1000) * 1.5
    rows.loc[1000:, "price"] = 0.5 * rows["rain"][1000:] - 0.5 * rows["growth"][1000:] + noise
    targets[1000:] = ["growth"] * 1000
    model = OrderSearch(noise="gaussian", random_state=0, verbose=False)
    model.fit(rows, interventions=targets)
    for cause, effect in (("rain", "growth"), ("rain", "price"), ("growth", "price")):
        expected = TOTALS[NAMES.index(cause), NAMES.index(effect)]
        found = model.effect(cause, effect)
        assert found.low <= expected <= found.high
        assert found.high - found.low < 0.5


def test_standard_errors_count_the_rows_of_each_equation():
    # b was set to small values in 100 rows, and c in 100: each slope is estimated from its own
    # rows, and its error is that of least squares over them.
    known = Knowledge(required_edges=[["a", "b"], ["b", "c"]], forbidden_edges=[["a", "c"]])
    was_set = np.repeat(["", "b", "c"], 100)

    def fitted(seed):
        a, b, c = np.random.default_rng(seed).normal(size=(3, 300))
        b = np.where(was_set == "b", 0.3 * b, 2 * a + b)
        c = np.where(was_set == "c", c, 0.8 * b + c)
        model = OrderSearch(knowledge=known, noise="gaussian", random_state=0, verbose=False)
        return model.fit(pd.DataFrame({"a": a, "b": b, "c": c}), interventions=was_set.tolist())

    def errors(model):
        pairs = [("a", "b"), ("b", "c"), ("a", "c")]
        return [(one.high - one.low) / 2 / 1.959964 for one in starmap(model.effect, pairs)]

    model = fitted(0)
    of_arcs = model.arcs_.set_index(["cause", "effect"])["se"]
    of_effects = errors(model)
    assert of_effects[0] == pytest.approx(of_arcs["a", "b"], rel=0.03)
    assert of_effects[1] == pytest.approx(of_arcs["b", "c"], rel=0.03)
    models = [model, *map(fitted, range(1, 60))]
    spread = np.std([one.effect("a", "c").estimate for one in models])
    assert np.mean([errors(one)[2] for one in models]) == pytest.approx(spread, rel=0.25)


def test_effects_after_regimes_need_the_targets_of_a_new_table():
    a, b = np.random.default_rng(0).normal(size=(2, 200))
    labels = np.repeat(["x", "y"], 100)
    rows = pd.DataFrame({"a": a, "b": np.where(labels == "x", a, 3 * a) + b})
    model = OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(rows, regimes=labels)
    assert model.effect("a", "b").estimate != 0
    with pytest.raises(DataError, match="learnt with regimes"):
        model.effect("a", "b", X=rows)


def test_missing_values_are_no_evidence(table):
    holes = np.random.default_rng(2).random(table.shape) < 0.1
    model = OrderSearch(noise="gaussian", missing="impute", random_state=0, verbose=False)
    model.fit(table.mask(holes))
    found = model.effect("rain", "price", bootstrap=None)
    whole = OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(table)
    assert found.estimate == pytest.approx(TOTALS[0, 3], abs=0.2)
    known = whole.effect("rain", "price", bootstrap=None)
    assert found.high - found.low > known.high - known.low


def test_setting_variables_in_samples_and_predictions(model, table):
    drawn = model.sample(4_000, 0, do={"growth": 10.0})
    assert (drawn["growth"] == 10).all()
    assert drawn["rain"].mean() == pytest.approx(table["rain"].mean(), abs=0.1)
    low = model.sample(4_000, 0, do={"growth": 9.0})
    step = (drawn - low).mean(axis=0)
    weight = model.adjacency_[2, 3] * model.preparation_.scales[3] / model.preparation_.scales[2]
    np.testing.assert_allclose(step, [0, 0, 1, weight], atol=1e-8)
    # Effects of the set variable depend on the set value only, not on its former noise.
    wet = model.sample(4_000, 0, do={"rain": 1.0})
    spread = np.std(wet["growth"] - model.predict(wet)["growth"])
    assert spread == pytest.approx(np.sqrt(model.noise_variances_[2]), rel=0.1)
    each = model.sample(3, 0, do={"rain": [1.0, 2.0, 3.0]})
    assert each["rain"].tolist() == [1, 2, 3]
    rows = table[:5]
    usual = model.predict(rows).to_numpy()
    changed = model.predict(rows, do={"rain": rows["rain"] + 1}).to_numpy()
    np.testing.assert_allclose(changed[:, 0], rows["rain"] + 1)
    np.testing.assert_allclose(changed[:, 1], usual[:, 1])
    np.testing.assert_allclose(changed[:, 2] - usual[:, 2], model.adjacency_[0, 2], rtol=1e-5)
    # price is predicted from the predicted growth, not from the measured growth.
    by_hand = usual[:, 3] + model.adjacency_[0, 3]
    by_hand += model.adjacency_[2, 3] * (changed[:, 2] - rows["growth"])
    np.testing.assert_allclose(changed[:, 3], by_hand, rtol=1e-4, atol=1e-4)
    for do in ({"rian": 1}, {"rain": np.nan}, {"rain": [1, 2]}, {"rain": "wet"}):
        with pytest.raises(DataError):
            model.sample(5, 0, do=do)
    with pytest.raises(DataError, match="mapping"):
        model.sample(5, 0, do=["rain"])


class Bent(FittedEquations):
    """Nonlinear equations x_v = 3 tanh(Σ_u x_u a_uv), like those of a network."""

    def predict(self, data, adjacency):
        return 3 * np.tanh(data @ (adjacency != 0))

    def predict_column(self, data, adjacency, v):
        return self.predict(data, adjacency)[:, v]

    def settled(self, unexplained):
        return self

    def arrays(self):
        return {}


def test_equations_that_are_not_linear_are_simulated():
    random = np.random.default_rng(0)
    dose, noise = random.normal(size=(2, 2_000))
    level = 3 * np.tanh(dose) + noise
    outcome = 3 * np.tanh(level) + random.normal(size=2_000)
    table = pd.DataFrame({"dose": dose, "level": level, "outcome": outcome})
    tiers = Knowledge(tiers=[["dose"], ["level"], ["outcome"]])
    model = OrderSearch(noise="gaussian", knowledge=tiers, scale="none", verbose=False).fit(table)
    arcs = np.diag([1.0, 1.0], 1)
    model.fitted_ = replace(model.fitted_, adjacency=arcs, weights=arcs, equations=Bent()).settled(
        table.to_numpy(np.float32), recentre=False
    )
    found = model.effect("dose", "outcome", values=(0.0, 1.0))
    # E[3 tanh(m + noise)] for the two means of level, by quadrature.
    points, masses = np.polynomial.hermite_e.hermegauss(60)
    truth = np.diff([masses @ (3 * np.tanh(m + points)) for m in (0, 3 * np.tanh(1))])
    assert found.estimate == pytest.approx(truth[0] / np.sqrt(2 * np.pi), abs=0.1)
    drawn = [model.sample(20_000, 1, do={"dose": value}).iloc[:, 2].mean() for value in (0, 1)]
    assert found.estimate == pytest.approx(drawn[1] - drawn[0], abs=0.08)
    assert np.isnan(found.low)
    assert "bootstrap=" in found.interval_from
    direct = model.effect("dose", "level", direct=True, values=(0.0, 1.0))
    assert direct.estimate == pytest.approx(3 * np.tanh(1), rel=1e-3)
    assert model.effect("dose", "outcome", direct=True).is_nothing
    assert model.effect("outcome", "dose").is_nothing
    matrix = model.effects_
    assert matrix.loc["outcome", "dose"] == 0
    assert matrix.loc["dose", "outcome"] == model.effect("dose", "outcome").estimate


@pytest.mark.nightly
def test_an_open_effect_of_simulated_equations_is_not_called_zero():
    random = np.random.default_rng(0)
    a, free = random.normal(size=(2, 400))
    group = np.where(a + 0.5 * free > 0, "x", np.where(random.random(400) < 0.5, "y", "z"))
    frame = pd.DataFrame({"a": a, "b": 0.8 * a + random.normal(size=400), "group": group})
    model = BlockSearch(curves=False, random_state=0, verbose=False).fit(frame)
    (cause, effect) = ("a", "b") if ("a", "b") in model.graph_.edges else ("b", "a")
    assert ("a", "b") in model.cpdag_.undirected
    for direct in (False, True):
        found = model.effect(effect, cause, direct=direct)
        assert (found.estimate, found.identified, found.is_nothing) == (0.0, False, False)
        assert np.isnan(found.low)
        assert "open: 0 in this graph, for raising" in str(found)
        assert "and possibly another in graphs that fit equally well." in str(found)
    assert np.isnan(model.effects_.loc[["a", "b"], ["b", "a"]].to_numpy()).tolist() == [
        [True, False],
        [False, True],
    ]


def test_networks_have_effects_and_intervals():
    random = np.random.default_rng(0)
    dose = random.normal(size=400)
    level = 3 * np.tanh(dose) + 0.3 * random.normal(size=400)
    table = pd.DataFrame({"dose": dose, "level": level})
    known = Knowledge(tiers=[["dose"], ["level"]])
    settings = {"epochs": 150, "refine": None, "threshold": 0.0, "verbose": False}
    model = CosmoMLP(**settings, knowledge=known, random_state=0).fit(table)
    found = model.effect("dose", "level", values=(0.0, 1.0), bootstrap=3)
    assert found.estimate == pytest.approx(3 * np.tanh(1), abs=0.4)
    assert found.low <= found.estimate <= found.high
    assert found.high - found.low < 1


def test_very_many_variables_have_sparse_effects(monkeypatch, model):
    import cosmodag.assess.effects.model_effects as module

    dense = model.effects_
    monkeypatch.setattr(module, "MOST_REGRESSED", 2)
    many = model.effects_
    assert all(isinstance(kind, pd.SparseDtype) for kind in many.dtypes)
    np.testing.assert_allclose(many.to_numpy(), dense, atol=0.05)


def test_a_redundant_regressor_does_not_break_a_regression():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X = np.column_stack([X, X[:, 1], X @ [1.0, 2.0]])
    found = Covariance(np.cov(X.T), 100).slope(0, 3, [1, 2])
    assert found.value == pytest.approx(1.0)


def test_the_panel_lists_what_is_not_zero(model):
    listed = {(one["from"], one["to"]): one for one in effects_panel(model)}
    assert set(listed) == {(x, y) for x, y in np.argwhere(TOTALS != 0).tolist() if x != y}
    one = listed[0, 3]
    assert one["estimate"] == model.effect("rain", "price").estimate
    assert one["paths"] == [[0, 3], [0, 2, 3]]
    assert listed[2, 3]["adjustment"] == [0]
    json.dumps(effects_panel(model))


def test_resamples_of_one_table_or_graph_do_not_answer_for_another(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    table["b"] += 1.5 * table["a"]
    other = table.assign(b=random.permutation(table["b"]))
    model, fresh = (OrderSearch(random_state=0).fit(table) for _ in range(2))
    own = model.effect("a", "b", bootstrap=4)
    expected = str(fresh.effect("a", "b", bootstrap=4, X=other))
    assert str(model.effect("a", "b", bootstrap=4, X=other)) == expected
    assert str(model.effect("a", "b", bootstrap=np.int64(4))) == str(own)
    assert "4 fits to resamples" in str(model.effect("a", "b"))
    assert "4 fits to resamples" in str(model.effect("a", "b", X=table))
    assert "4 fits to resamples" not in str(model.effect("a", "b", X=other))
    empty = selection.at_threshold(model, table, 1e9)
    assert "resamples" not in str(empty.effect("a", "b"))

    model.save(tmp_path / "model")  # without residuals: the table is given with each question
    loaded = cosmodag.load(tmp_path / "model")
    loaded.effect("a", "b", bootstrap=4, X=table)
    assert "resamples" in str(loaded.effect("a", "b", X=table))
    assert str(loaded.effect("a", "b", bootstrap=4, X=other)) == expected


def test_probabilities_of_one_graph_are_not_shown_with_another():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=list("abc"))
    model = OrderSearch(random_state=0).fit(table)
    model.bootstrap(table, 3, random_state=0, verbose=False)
    assert not hasattr(selection.at_threshold(model, table, 0.5), "bootstrap_")


def test_resamples_are_trained_with_the_loss_of_the_fit(monkeypatch):
    seen = []
    fits = resampled.fit_resamples
    monkeypatch.setattr(
        resampled, "fit_resamples", lambda one, *rest: seen.append(one.loss) or fits(one, *rest)
    )
    random = np.random.default_rng(0)
    rain = random.normal(size=80)
    X = np.column_stack([rain, np.sin(rain) + random.normal(size=80)])
    model = CosmoMLP(hidden=(3,), epochs=2, refine=None, random_state=0, verbose=False).fit(X)
    model.effect(0, 1, bootstrap=2)
    assert model.loss == "auto"
    assert seen == [model.loss_]


def test_a_table_is_refused_where_effects_do_not_depend_on_it():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    rows = pd.DataFrame({"x": x, "bent": x**2 + 0.1 * random.normal(size=200)})
    model = BlockSearch(random_state=0, curves=True, verbose=False).fit(rows)
    asked = {"cause": "x", "effect": "bent", "values": (0.0, 1.0)}
    with pytest.raises(DataError, match="without a table: leave X out"):
        model.effect(**asked, X=rows)
    assert np.isfinite(model.effect(**asked, X=rows, bootstrap=2).low)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_effects_of_categories_have_intervals_and_take_a_table():
    """The contrast of two levels, and its error, are those of the means of two groups."""
    random = np.random.default_rng(0)
    level = random.choice(["low", "middle", "high"], 200)
    rows = pd.DataFrame({"level": level, "dose": 2 * (level == "low") + random.normal(size=200)})
    tiers = Knowledge(tiers=[["level"], ["dose"]])
    model = BlockSearch(random_state=0, curves=False, knowledge=tiers, verbose=False).fit(rows)
    groups = [rows.dose[level == one].to_numpy() for one in ("high", "low", "middle")]
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / 197
    error = np.sqrt(within * (1 / len(groups[0]) + 1 / len(groups[1])))
    for table in (None, rows.assign(other="2020-01-01")):
        found = model.effect("level", "dose", values=("low", "high"), X=table)
        change = groups[0].mean() - groups[1].mean()
        assert found.estimate == pytest.approx(change, rel=1e-5)
        width = stats.t.ppf(0.975, 197) * error
        assert (found.low, found.high) == pytest.approx((change - width, change + width), rel=1e-5)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")
def test_a_column_of_0_and_1_is_moved_from_0_to_1():
    random = np.random.default_rng(0)
    smoker = (random.random(300) < 0.3).astype(int)
    table = pd.DataFrame({"smoker": smoker, "weight": smoker + random.normal(size=300)})
    known = Knowledge(required_edges=[("smoker", "weight")])
    learner = OrderSearch(knowledge=known, noise="gaussian", verbose=False)
    found = learner.fit(table).effect("smoker", "weight")
    other = learner.fit(table.assign(smoker=smoker + 1)).effect("smoker", "weight")
    assert (found.start, found.end) == (0.0, 1.0)
    assert other.end - other.start == pytest.approx(1.0)
    assert other.start == pytest.approx(0.5 + smoker.mean())


def test_an_arc_of_weight_zero_is_a_path_though_its_effect_is_zero(table):
    """A required arc from a constant column has weight zero."""
    known = Knowledge(required_edges=[("still", "price")])
    model = OrderSearch(noise="gaussian", knowledge=known, random_state=0)
    model.fit(table.assign(still=1.0))
    for direct in (False, True):
        found = model.effect("still", "price", direct=direct)
        assert (found.estimate, found.is_nothing) == (0.0, False)
        assert str(found).startswith("Raising still by 1 changes price by 0")
    assert model.effect("still", "rain").is_nothing


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_direct_effects_on_levels_and_counts_are_changes_of_their_means():
    """Without further causes of the effect, the direct effect is the total one."""
    random = np.random.default_rng(0)
    dose = random.normal(size=400)
    cured = (dose + random.logistic(size=400) > 0).astype(int)
    events = random.poisson(np.exp(0.5 * dose))
    site = random.choice(list("xyz"), 400)
    frame = pd.DataFrame({"dose": dose, "site": site, "cured": cured, "events": events})
    tiers = Knowledge(tiers=[["dose", "site"], ["cured", "events"]])
    learner = BlockSearch(curves=False, kinds={"events": "count"}, knowledge=tiers, random_state=0)
    model = learner.fit(frame)
    for effect in ("cured", "events"):
        total = model.effect("dose", effect)
        assert 0.1 < total.estimate < 1
        assert model.effect("dose", effect, direct=True).estimate == total.estimate


def test_an_equation_without_rows_takes_no_interval_from_other_effects():
    random = np.random.default_rng(0)
    X = np.cumsum(random.normal(size=(100, 3)), axis=1)
    targets, absent = np.zeros((2, 100, 3), bool)
    targets[:40, 0] = True
    absent[::2, 1], absent[1::2, 2] = True, True  # no row has both ends of 1 → 2
    arcs = sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool))
    covariance = Covariance.of_data(X, Known(targets=targets, absent=absent), arcs)
    assert 0 < covariance.slope(0, 1, []).error < 1
    assert np.isnan(covariance.slope(1, 2, []).error)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_resamples_may_lack_the_rows_in_which_a_variable_was_not_set(table):
    few, targets = table[:200], [["sun"]] * 198 + [[]] * 2
    model = OrderSearch(noise="gaussian", random_state=0).fit(few, interventions=targets)
    found = model.effect("sun", "growth", bootstrap=6)
    assert found.low < found.estimate < found.high
    assert model.bootstrap(few, 6, interventions=targets).edge_probabilities.max() == 1


def test_columns_named_by_numbers_are_found_by_them(table):
    numbered = table.set_axis([30, 20, 10, 0], axis=1)
    model = OrderSearch(noise="gaussian", random_state=0).fit(numbered)
    assert model.effect(30, np.int64(10)) == model.effect("30", "10")
    assert model.sample(3, 0, do={0: 5.0})["0"].eq(5.0).all()
    with pytest.raises(DataError, match="no variable 1:"):
        model.effect(1, 10)
