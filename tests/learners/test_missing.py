"""Missing values: an error that names them, complete rows only, or imputation from the graph."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cosmodag
from cosmodag import Cosmo, OrderSearch, VarianceSort, metrics, selection, simulate
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import DataError, DataWarning
from cosmodag.fit import pipeline, prepare
from cosmodag.fit.gaussian import GaussianEquations, Normal, effective_rows, fill, moments_of_gaps
from learner_catalogue import CATALOGUE, QUICK, chain_table, marks_of

DATA = simulate.load("n400_d6_ER2_gauss", seed=2)
ABSENT = np.random.default_rng(0).random(DATA.X.shape) < 0.05
HOLED = np.where(ABSENT, np.nan, DATA.X)
SPARSE_DATA = simulate.load("n400_d6_ER1_gauss", seed=2)
SPARSE = np.where(ABSENT, np.nan, SPARSE_DATA.X)
COMPLETE = ~ABSENT.any(axis=1)


def test_by_default_they_are_refused_with_both_remedies():
    with pytest.raises(DataError, match=r"'x0'.*missing='drop'.*missing='impute'"):
        Cosmo().fit(HOLED)


def test_another_word_is_refused():
    with pytest.raises(DataError, match="missing is 'guess'"):
        Cosmo(missing="guess").fit(DATA.X)


@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_a_complete_table_is_left_alone(missing):
    model = OrderSearch(missing=missing, random_state=0).fit(DATA.X)
    np.testing.assert_array_equal(
        model.adjacency_, OrderSearch(random_state=0).fit(DATA.X).adjacency_
    )
    assert not hasattr(model, "missing_report_")


def test_dropping_is_a_fit_to_the_other_rows():
    with pytest.warns(DataWarning, match=f"{np.count_nonzero(~COMPLETE)} of 400 rows"):
        model = OrderSearch(missing="drop", random_state=0).fit(HOLED)
    expected = OrderSearch(random_state=0).fit(DATA.X[COMPLETE])
    np.testing.assert_array_equal(model.adjacency_, expected.adjacency_)
    assert model.missing_report_["dropped"] == np.count_nonzero(~COMPLETE)
    assert model.missing_report_["columns"]["x0"] == ABSENT[:, 0].sum()


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_what_was_set_is_dropped_with_its_row():
    targets = np.where(np.arange(400) % 3 == 0, "x1", "").tolist()
    model = OrderSearch(missing="drop", random_state=0).fit(HOLED, interventions=targets)
    kept = [target for target, whole in zip(targets, COMPLETE, strict=True) if whole]
    expected = OrderSearch(random_state=0).fit(DATA.X[COMPLETE], interventions=kept)
    np.testing.assert_array_equal(model.adjacency_, expected.adjacency_)


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in QUICK])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_every_learner_fills_in(name):
    whole = chain_table()
    absent = ABSENT[:120, :5]
    model = CATALOGUE[name]().set_params(missing="impute").fit(whole.mask(absent))
    assert np.isfinite(model.score(whole))
    report = model.missing_report_
    assert report["method"] == "impute"
    assert report["entries"] == absent.sum()
    assert 90 <= report["effective_rows"] < 120


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_filled_in_it_finds_what_the_whole_table_shows(tmp_path):
    model = Cosmo(missing="impute", random_state=0).fit(HOLED)
    again = Cosmo(missing="impute", random_state=0).fit(HOLED)
    assert metrics.evaluate(DATA.graph, model.adjacency_, threshold=0.0)["shd"] == 0
    np.testing.assert_array_equal(model.adjacency_, again.adjacency_)
    with pytest.raises(DataError, match="missing values"):
        model.score(HOLED)
    model.save(tmp_path / "model.safetensors")
    loaded = cosmodag.load(tmp_path / "model.safetensors")
    assert loaded.missing_report_ == model.missing_report_


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("targets", [None, ["x2"] * 400])
def test_constant_columns_stay_constant_and_every_value_of_a_column_may_be_set(targets):
    holed = HOLED.copy()
    holed[:, 1] = np.where(ABSENT[:, 1], np.nan, 0.1)
    model = OrderSearch(missing="impute", scale="standardize", random_state=0)
    model.fit(holed, interventions=targets)
    assert model.preparation_.constant.tolist() == [False, True, False, False, False, False]
    assert (model.sample(10, 0)[:, 1] == 0.1).all()
    assert targets is None or not model.adjacency_[:, 2].any()


@pytest.mark.parametrize("learner", [OrderSearch, VarianceSort])
def test_a_variable_that_was_set_wherever_it_has_a_value_has_no_causes(learner):
    holed, targets = DATA.X.copy(), ["x2"] * 200 + [""] * 200
    holed[200:, 2] = np.nan
    with pytest.warns(DataWarning, match="set 'x2' in every row with a value"):
        model = learner(missing="impute", random_state=0).fit(holed, interventions=targets)
    assert not model.adjacency_[:, 2].any()
    assert np.isfinite(model.sample(10, 0)).all()


def test_a_row_without_values_is_dropped_and_a_column_without_any_refused():
    holed = HOLED.copy()
    holed[7] = np.nan
    with pytest.warns(DataWarning, match="1 of 400 rows"):
        model = VarianceSort(missing="impute").fit(holed)
    assert model.missing_report_["dropped"] == 1
    holed[:, 2] = np.nan
    with pytest.raises(DataError, match="'x2'"):
        VarianceSort(missing="impute").fit(holed)
    holed[:, 3] = np.nan
    with pytest.raises(DataError, match="'x2', 'x3'"):
        VarianceSort(missing="drop").fit(holed)


def test_too_few_rows_are_left():
    holed = DATA.X[:5].copy()
    np.fill_diagonal(holed, np.nan)
    with pytest.raises(DataError, match=r"leaves 0 rows of 5: .*missing='impute'"):
        VarianceSort(missing="drop").fit(holed)
    holed[1:] = np.nan
    holed[0, 0] = 1.0
    with pytest.raises(DataError, match=r"leaves 1 row of 5: .*only rows without any value"):
        VarianceSort(missing="impute").fit(holed)


def test_infinite_values_stay_refused():
    holed = HOLED.copy()
    holed[0, 0] = np.inf
    with pytest.raises(DataError, match="infinite"):
        VarianceSort(missing="impute").fit(holed)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6))
def test_filling_in_is_conditioning(seed, d):
    random = np.random.default_rng(seed)
    arcs = np.triu(random.random((d, d)) < 0.6, 1)
    X = random.normal(size=(50, d)) @ np.linalg.inv(np.eye(d) - arcs) + random.normal(size=d)
    equations = GaussianEquations.on(arcs, X, None)
    absent = random.random(X.shape) < 0.3
    absent[:, 0] &= False
    draws = np.zeros(absent.sum())
    filled = fill(X, absent, equations, draws, None)
    covariance = np.linalg.inv(equations.precision)
    for row, lacks, values in zip(X, absent, filled, strict=True):
        seen = covariance[np.ix_(~lacks, ~lacks)]
        pull = np.linalg.solve(seen, (row - equations.means)[~lacks])
        expected = equations.means[lacks] + covariance[np.ix_(lacks, ~lacks)] @ pull
        np.testing.assert_allclose(values[lacks], expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(values[~lacks], row[~lacks])


def test_draws_vary_as_much_as_they_should():
    X = np.zeros((20_000, 2))
    absent = np.zeros(X.shape, bool)
    absent[:, 1] = True
    precision = np.array([[5.0, -2.0], [-2.0, 1.0]])  # x1 = 2 x0 + noise of variance 1
    equations = GaussianEquations(np.zeros(2), np.ones(2), precision)
    draws = np.random.default_rng(0).normal(size=20_000)
    assert abs(fill(X, absent, equations, draws, None)[:, 1].var() - 1) < 0.05


def test_a_variable_that_was_set_says_nothing_of_its_causes():
    random = np.random.default_rng(0)
    cause = random.normal(size=500)
    effect = 2 * cause + random.normal(size=500)
    X = np.column_stack([cause, effect])
    targets = np.zeros(X.shape, bool)
    targets[:100, 1] = True
    X[:100, 1] = 30.0
    equations = GaussianEquations.on(np.array([[False, True], [False, False]]), X, targets)
    absent = np.zeros(X.shape, bool)
    absent[[0, 200], 0] = True
    filled = fill(X, absent, equations, np.zeros(2), targets)
    assert filled[0, 0] == pytest.approx(equations.means[0]) == pytest.approx(X[:, 0].mean())
    assert abs(filled[200, 0] - cause[200]) < 1.5


def test_nothing_is_said_while_it_fills_in():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OrderSearch(missing="impute", random_state=0).fit(HOLED)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_em_finds_the_most_likely_mean_and_covariance(seed):
    """If only the effect has missing values, least squares on complete rows is the solution."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=(2, 60)) * [[3.0], [0.1]]
    y = 2 * x - z + random.normal(size=60) + 5
    X = np.column_stack([x, z, y])
    absent = np.zeros(X.shape, bool)
    absent[:, 2] = x > random.normal(size=60) + 1
    whole = np.column_stack([np.ones(60), x, z])[~absent[:, 2]]
    weights = np.linalg.lstsq(whole, y[~absent[:, 2]], rcond=None)[0]
    noise = np.mean((y[~absent[:, 2]] - whole @ weights) ** 2)
    found = Normal.of(X, absent)
    spread = np.cov(X[:, :2].T, bias=True)
    expected = np.append(X[:, :2].mean(axis=0), weights @ [1, x.mean(), z.mean()])
    variance = weights[1:] @ spread @ weights[1:] + noise
    np.testing.assert_allclose(found.means, expected, rtol=0.02, atol=0.02)
    np.testing.assert_allclose(found.scales[2] ** 2, variance, rtol=0.02)


def test_what_is_missing_varies_as_what_is_there():
    """Imputed values without predictors have the variance of the observed values."""
    X = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 4.0]
    absent = np.zeros(X.shape, bool)
    absent[200:, 1] = True
    assert Normal.of(X, absent).scales[1] == pytest.approx(X[:200, 1].std(), rel=0.05)


def test_values_that_were_set_change_no_equation():
    random = np.random.default_rng(0)
    cause = random.normal(size=300)
    X = np.column_stack([cause, 2 * cause + random.normal(size=300)])
    targets = np.zeros(X.shape, bool)
    targets[:100, 1] = True
    arcs = np.array([[False, True], [False, False]])
    found = []
    for value in (0.0, 30.0):
        X[:100, 1] = value
        found.append(GaussianEquations.on(arcs, X, targets))
    np.testing.assert_allclose(found[0].terms, found[1].terms)
    np.testing.assert_allclose(found[0].means, found[1].means)
    assert -found[0].terms[0, 1] / found[0].terms[1, 1] == pytest.approx(2.0, abs=0.2)


def test_rows_with_one_value_are_no_evidence():
    """Ten times as many rows with a single value each do not add observations of any pair."""
    few = np.full((4000, 6), np.nan)
    few[np.arange(4000), np.arange(4000) % 6] = np.tile(DATA.X, (10, 1))[
        np.arange(4000), np.arange(4000) % 6
    ]
    more = np.vstack([HOLED, few])
    assert effective_rows(np.isnan(more)) == effective_rows(ABSENT)
    assert moments_of_gaps(HOLED, ABSENT).rows[0] == effective_rows(ABSENT) < 400


def test_false_arcs_do_not_follow_from_filling_in():
    random = np.random.default_rng(0)
    arcs = 0
    for seed in range(8):
        X = random.normal(size=(200, 8))
        holed = np.where(random.random(X.shape) < 0.3, np.nan, X)
        model = OrderSearch(noise="gaussian", missing="impute", random_state=seed)
        arcs += model.fit(holed).edges_.nnz
    assert arcs <= 1  # of 224 pairs of independent variables


def test_the_seed_does_not_decide_which_variables_are_joined():
    found = [
        OrderSearch(noise="gaussian", missing="impute", random_state=seed).fit(SPARSE).adjacency_
        for seed in range(3)
    ]
    joined = [(arcs != 0) | (arcs != 0).T for arcs in found]
    assert all(np.array_equal(joined[0], other) for other in joined)


def test_interventions_that_shift_means_do_not_shift_what_is_filled_in():
    data = simulate.interventional("n300_d6_ER2_gauss", rows=60, shift=8.0, seed=1)
    absent = np.random.default_rng(0).random(data.X.shape) < 0.1
    holed = np.where(absent, np.nan, data.X)
    model = OrderSearch(noise="gaussian", missing="impute", random_state=0)
    model.fit(holed, interventions=data.targets)
    np.testing.assert_allclose(model.noise_variances_, 1.0, atol=0.35)
    filled = model.preparation_.undo(model.training_data())
    ours = absent & ~data.targets
    errors = (filled - data.X)[ours] / data.X.std(axis=0)[np.nonzero(ours)[1]]
    assert np.median(np.abs(errors)) < 0.3
    assert metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["shd"] <= 1


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_turns_of_imputation_are_fits_that_neither_diagnose_nor_examine(monkeypatch):
    calls = Counter()

    def counted(module, name):
        function = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, **more: calls.update([name]) or function(*given, **more)
        )

    for module, name in (
        (prepare, "before_fit"),
        (prepare, "prepare_table"),
        (pipeline, "settled"),
        (pipeline, "examined"),
    ):
        counted(module, name)
    data = simulate.interventional("n300_d6_ER2_gauss", rows=60, seed=1)
    holed = np.where(np.random.default_rng(0).random(data.X.shape) < 0.1, np.nan, data.X)
    model = OrderSearch(noise="gaussian", missing="impute", random_state=0)
    model.fit(holed, interventions=data.targets)
    turns = model.missing_report_["rounds"]
    assert turns > 1
    assert calls == {
        "before_fit": 1,
        "examined": 1,
        "prepare_table": 1 + turns,
        "settled": 1 + turns,
    }


def test_resamples_have_missing_values_too():
    result = bootstrap(
        OrderSearch(noise="gaussian", missing="impute"), SPARSE, n=4, random_state=0, verbose=False
    )
    joined = result.arc_probabilities + result.arc_probabilities.T
    truth = SPARSE_DATA.graph | SPARSE_DATA.graph.T
    assert joined[truth].mean() > 0.9
    assert joined[~truth].mean() < 0.1


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("targets", [None, ["x0"] * 40 + [""] * 60])
def test_only_a_constant_column_has_missing_values(targets):
    X = np.column_stack([np.random.default_rng(0).normal(size=(100, 3)), np.ones(100)])
    X[::3, 3] = np.nan
    names = [f"x{place}" for place in range(4)]
    table = pd.DataFrame(X, columns=names)
    model = OrderSearch(missing="impute", random_state=0).fit(table, interventions=targets)
    assert model.missing_report_["entries"] == 34
    assert (model.sample(5, 0)["x3"] == 1).all()


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_fold_without_a_measured_value_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[1:, 2] = np.nan
    X[1, 2] = 3.0
    with pytest.raises(DataError, match="'x2' has no measured value"):
        selection.held_out(VarianceSort(missing="impute"), X, folds=2, random_state=3)


def test_columns_of_few_values_keep_them():
    random = np.random.default_rng(0)
    table = random.normal(size=(200, 2))
    table = np.column_stack([table, random.random(200) < 0.4, random.integers(1, 6, 200)])
    holed = table.copy()
    holed[random.random(table.shape) < 0.2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = OrderSearch(missing="impute", random_state=0).fit(holed)
    assert {"binary", "few_values"} <= {finding.name for finding in model.findings_}
    drawn = model.sample(200, random_state=0)
    assert set(np.unique(drawn[:, 2].round(6))) == {0.0, 1.0}
    assert set(np.unique(drawn[:, 3].round(6))) == {1.0, 2.0, 3.0, 4.0, 5.0}
