"""Regression tests of defects found by review."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import (
    Cosmo,
    CosmoMLP,
    Dagma,
    NoCurl,
    Notears,
    OrderSearch,
    VarianceSort,
    simulate,
)
from cosmodag.errors import (
    DataError,
    DataWarning,
    DivergenceError,
    ScaleWarning,
)
from cosmodag.fit.pipeline import fit_prepared
from cosmodag.fit.prepare import prepare
from cosmodag.fit.steps import FitTask

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def data() -> simulate.Dataset:
    return simulate.load("n200_d10_ER2_gauss", seed=1)


@pytest.mark.parametrize("learner", [Dagma(max_iter=50), Notears(), NoCurl(), VarianceSort()])
def test_constant_data_have_no_arcs_and_no_score(learner):
    X = np.tile([1.0, 2.0, 3.0], (20, 1))
    model = learner.fit(X)
    assert model.edges_.nnz == 0
    assert model.score(X) == 0.0
    np.testing.assert_allclose(model.predict(X), X)


@pytest.mark.parametrize(
    "state",
    [np.random.default_rng(0), np.random.RandomState(0), np.int64(3)],
    ids=["generator", "random-state", "integer"],
)
def test_what_validation_accepts_can_be_saved(data, tmp_path, state):
    settings = {"epochs": np.int32(2), "lambda1": np.float32(1e-3), "random_state": state}
    model = Cosmo(threshold=np.float64(0.2), **settings).fit(data.X)
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert again.epochs == 2
    assert again.threshold == 0.2
    assert again.random_state == (3 if isinstance(state, np.integer) else None)
    assert again.n_iter_ == model.n_iter_
    again.fit(data.X)


def test_one_row_can_be_predicted_and_scored(data):
    model = VarianceSort().fit(data.X)
    np.testing.assert_allclose(model.predict(data.X[:1]), model.predict(data.X)[:1])
    rows = [model.score(data.X[k : k + 1]) for k in range(len(data.X))]
    assert np.mean(rows) == pytest.approx(model.score(data.X))


def test_a_saved_model_does_not_hold_the_training_data(data, tmp_path):
    model = VarianceSort().fit(data.X)
    model.save(tmp_path / "without.safetensors")
    model.save(tmp_path / "with.safetensors", residuals=True)
    without, with_them = (
        cosmodag.load(tmp_path / f"{name}.safetensors") for name in ("without", "with")
    )
    assert not hasattr(without, "residuals_")
    assert np.array_equal(with_them.residuals_, model.residuals_)
    # Without residuals, noise is drawn from normal distributions with the same variances.
    drawn = without.sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn.std(0), model.sample(20_000, 1).std(0), rtol=0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cosmo(epochs=50, random_state=0),
        lambda: CosmoMLP(epochs=5, hidden=(3,), refine=None, threshold=0.01, random_state=0),
        lambda: Notears(),
        lambda: OrderSearch(random_state=0),
    ],
    ids=["Cosmo", "CosmoMLP", "Notears", "OrderSearch"],
)
def test_one_common_factor_changes_no_arc(data, make):
    table = data.X[:, :6]
    plain = make().fit(table).adjacency_
    assert plain.any()
    for factor in (2.0**10, 2.0**-10, 1e3, 1e-3, 1e30):
        assert np.array_equal(make().fit(table * factor).adjacency_ != 0, plain != 0)


def test_a_power_of_two_changes_no_bit(data):
    plain, scaled = (
        Cosmo(epochs=50, refine=None, random_state=0).fit(data.X * factor) for factor in (1.0, 64.0)
    )
    assert np.array_equal(plain.raw_weights_, scaled.raw_weights_)


def test_a_column_that_others_add_up_to_is_told(data):
    X = np.column_stack([data.X, data.X[:, 0] + data.X[:, 1]])
    with pytest.warns(DataWarning, match="'x10' is an exact linear combination"):
        VarianceSort().fit(X)


def test_another_likelihood_runs_on_the_reference_loop(data):
    model = Cosmo(loss="likelihood", epochs=100, refine=None, random_state=0).fit(data.X)
    assert model.backend_ == "reference"
    units = np.random.default_rng(0).uniform(0.5, 2.0, 10)
    assert np.isfinite(model.fit(data.X * units).raw_weights_).all()
    assert Cosmo(epochs=2, random_state=0).fit(data.X).backend_ != "reference"


def test_fits_in_two_threads_give_what_each_gives_alone(data):
    found = {}

    def fit(seed):
        found[seed] = Cosmo(epochs=20, random_state=seed).fit(data.X).raw_weights_

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (0, 1):
        alone = Cosmo(epochs=20, random_state=seed).fit(data.X).raw_weights_
        assert np.array_equal(found[seed], alone)


def test_a_variable_without_arcs_does_not_decide_what_the_noise_is():
    random = np.random.default_rng(0)
    a = random.normal(size=400)
    b = 2 * a + random.normal(size=400)
    c = 0.5 * a - b + random.normal(size=400)
    code = random.integers(0, 4, size=400).astype(float)
    model = OrderSearch(random_state=0).fit(np.column_stack([1000 * a, b, c / 7, code]))
    assert model.noise_ == "gaussian"
    assert set(model.arrow_basis_) <= {"shape of the graph", "free choice"}


def test_an_estimate_of_the_cost_leaves_a_fitted_model_as_it_was(data):
    seeds = np.random.default_rng(0)
    model = Cosmo(epochs=2, random_state=seeds).fit(data.X)
    score, state = model.score(data.X), seeds.bit_generator.state
    model.estimate(1e3 * data.X[:50] + 7)
    assert model.score(data.X) == score
    assert seeds.bit_generator.state == state


def test_the_cost_is_that_of_the_table_that_would_be_fitted(data):
    X = data.X.copy()
    X[3, 0] = np.nan
    with pytest.raises(DataError, match="missing='drop'"):
        Cosmo(epochs=2).estimate(X)
    with pytest.warns(DataWarning, match="rows were dropped"):
        dropped = Cosmo(epochs=2, missing="drop").estimate(X)
    assert dropped.plan.memory < Cosmo(epochs=2).estimate(data.X).plan.memory
    lagged = Cosmo(epochs=2, lags=1).estimate(data.X).plan.memory
    windows = Cosmo(epochs=2).estimate(np.hstack([data.X[1:], data.X[:-1]])).plan.memory
    assert lagged > windows  # knowledge about time adds arrays


def test_the_cost_in_time_is_that_of_the_windows_of_each_series(data):
    table = pd.DataFrame(data.X, columns=[f"v{place}" for place in range(data.X.shape[1])])
    table["series"] = np.repeat([0, 1], len(table) // 2)
    model = Cosmo(epochs=2, lags=2)
    whole = model.estimate(table.drop(columns="series")).plan.memory
    # Without the first two rows of the second series.
    assert 0 < whole - model.estimate(table, series="series").plan.memory < whole / 10


def test_the_cost_of_a_fit_without_training_is_not_that_of_training():
    X = np.random.default_rng(0).normal(size=(20, 1000))
    with pytest.warns(DataWarning, match="the order of variances is refined"):
        cost = Cosmo().estimate(X)
    assert (cost.trains, cost.seconds) == (False, None)
    assert "nothing is trained" in str(cost)
    with pytest.warns(DataWarning, match="20 rows for 1,000 columns"):
        assert Cosmo(epochs=2).estimate(X).seconds > 0


def test_a_refit_of_networks_warns_like_the_first_fit(data):
    model = CosmoMLP(epochs=2, hidden=(3,), scale="standardize", random_state=0)
    model.set_params(loss="squared-error")
    with pytest.warns(ScaleWarning, match="standardised"):
        model.fit(data.X)
    assert model.loss_ == "squared-error"
    model.set_params(loss="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        model.fit(data.X)
    assert model.loss_ == "likelihood"


def test_a_given_start_leaves_no_trace_in_the_learner(data):
    model = OrderSearch(random_state=0)
    before = dict(vars(model))
    order = list(range(data.X.shape[1]))[::-1]
    model.fit_from(data.X, order, "prune")
    assert model.refinement_ == "prune"
    assert {name: value for name, value in vars(model).items() if not name.endswith("_")} == before
    wrong = [*order[:-1], 99]
    with pytest.raises(DataError, match="99"):
        model.fit_from(data.X, wrong)
    assert {name: value for name, value in vars(model).items() if not name.endswith("_")} == before


def test_an_untrained_cosmo_has_all_its_attributes(data, monkeypatch, tmp_path):
    monkeypatch.setattr("cosmodag.learners.cosmo._TOO_LARGE", 10)
    with pytest.warns(DataWarning, match="order of variances"):
        model = Cosmo(random_state=0).fit(data.X[:9])
    assert model.backend_ == "none"
    assert model.n_iter_ == 0
    assert model.history_ == []
    assert model.settings_ == model.settings_for(10)
    np.testing.assert_array_equal(np.argsort(model.priorities_), np.argsort(data.X[:9].var(axis=0)))
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        cosmodag.load(tmp_path / "model.safetensors").priorities_, model.priorities_
    )


def test_baselines_in_threads_leave_the_filters_of_warnings(data):
    before = list(warnings.filters)
    repeated = np.tile(data.X[:, :5], 2)  # so that the lasso emits a warning
    threads = [
        threading.Thread(target=lambda: [VarianceSort().fit(repeated) for _ in range(3)])
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


@pytest.mark.parametrize("learner", [Cosmo(epochs=2, random_state=0), OrderSearch(random_state=0)])
@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_units_of_a_column_do_not_matter_however_far_from_the_others(data, learner, factor):
    X = data.X * np.where(np.arange(10) == 3, 1e-2, 1.0)
    expected = OrderSearch(noise="gaussian", random_state=0).fit(X).equivalence_class()
    X[:, 3] *= factor
    found = learner.fit(X)
    assert found.noise_ == "gaussian"
    np.testing.assert_array_equal(found.equivalence_class(), expected)


def test_weights_that_are_not_finite_are_replaced_with_a_whole_sentence(data, monkeypatch):
    monkeypatch.setattr(Cosmo, "_strengths", lambda self, *_: np.full((10, 10), np.nan))
    monkeypatch.setattr("cosmodag.learners.cosmo._UNIT_RATIO", 1.0)
    with pytest.warns(DataWarning, match=r"^The weights .* are not finite, and the standard dev"):
        Cosmo(epochs=2, random_state=0).fit(data.X)


def test_tasks_of_one_batch_have_the_history_of_their_own_settings(data):
    learners = [Cosmo(epochs=2, shift=shift, random_state=0) for shift in (1e-3, 1e-1)]
    results = fit_prepared([FitTask(learner, prepare(learner, data.X)) for learner in learners])
    for learner, result in zip(learners, results, strict=True):
        alone, batched = learner.fit(data.X).history_, result.attributes["history_"]
        for name in ("temperature", "log_acyclicity_bound"):
            assert [record[name] for record in batched] == [record[name] for record in alone]


def test_a_task_of_a_batch_that_diverges_is_ordered_by_its_own_variances(data):
    X = data.X * np.where(np.arange(10) == 3, 1e-12, 1.0)
    learner = Cosmo(epochs=2, random_state=0)
    tasks = [FitTask(learner, prepare(learner, table)) for table in (data.X, X)]
    results = fit_prepared(tasks)
    np.testing.assert_array_equal(results[1].attributes["priorities_"], learner.fit(X).priorities_)


def test_an_error_of_a_batch_has_the_settings_that_diverged(data):
    learners = [Cosmo(epochs=2, refine=None, learning_rate=r, random_state=0) for r in (0.01, 1e38)]
    with pytest.raises(DivergenceError, match=r"learning_rate=1e\+38"):
        fit_prepared([FitTask(learner, prepare(learner, data.X)) for learner in learners])


def test_training_in_such_units_is_given_up_with_a_word(data):
    X = data.X * np.where(np.arange(10) == 3, 1e-12, 1.0)
    with pytest.warns(DataWarning, match="searched from orders that do not depend on units"):
        model = Cosmo(epochs=2, random_state=0).fit(X)
    assert model.backend_ == "none"
    with pytest.raises(DivergenceError):
        Cosmo(epochs=2, refine=None, random_state=0).fit(X)
