"""The guarantees of every learner: one test per guarantee, for all learners.

``contract/test_determinism.py`` tests that the same seed gives the same bits.
"""

import pickle
import warnings
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cosmodag
from cosmodag import EmptyGraph
from cosmodag.errors import DataError, DataWarning, ScaleWarning
from cosmodag.graph.dags import is_dag
from cosmodag.learners.registry import LEARNERS
from learner_catalogue import CATALOGUE, EVERY_TABLE, QUICK, chain_table, every_learner

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return chain_table()


@cache
def fitted(make):
    """A fitted model for tests that do not change it; all tables have one shape to compile."""
    return make().fit(chain_table())


@pytest.mark.parametrize(
    "make", [make for make in CATALOGUE.values() if hasattr(make(), "estimate")]
)
def test_the_cost_of_training_is_estimated_before_it(make, table):
    model = make()
    cost = model.estimate(table)
    assert cost.plan.memory > 0
    assert (cost.seconds is None) == ("depends on convergence" in str(cost))
    assert (cost.seconds is None) == (not model.solver_for(*table.shape).has_fixed_length)


def test_every_learner_has_quick_settings():
    assert set(QUICK) == set(LEARNERS)


@every_learner
def test_fit_returns_itself_and_sets_the_attributes(make, table):
    model = make()
    assert model.fit(table) is model
    d = table.shape[1]
    for name in ("raw_weights_", "weights_", "adjacency_"):
        assert getattr(model, name).shape == (d, d)
        assert np.isfinite(getattr(model, name)).all()
    assert model.n_features_in_ == d
    assert list(model.feature_names_in_) == list(table.columns)
    assert sorted(model.causal_order_) == sorted(table.columns)
    assert isinstance(model.was_cyclic_, bool)
    assert set(model.graph_.nodes) == set(table.columns)
    assert model.graph_.number_of_edges() == np.count_nonzero(model.adjacency_)


@every_learner
@pytest.mark.parametrize("threshold", [0.0, 0.3, 5.0])
def test_the_graph_is_a_dag_at_any_threshold(make, table, threshold):
    model = make().set_params(threshold=threshold).fit(table)
    assert is_dag(model.weights_)
    assert is_dag(model.adjacency_)
    assert nx.is_directed_acyclic_graph(model.graph_)
    kept = model.adjacency_ != 0
    assert np.all(np.abs(model.adjacency_[kept]) > threshold)
    source = model.raw_weights_ if model.refinement_ is None else model.weights_
    assert np.array_equal(model.adjacency_[kept], source[kept])
    places = {name: place for place, name in enumerate(model.causal_order_)}
    assert all(places[cause] < places[effect] for cause, effect in model.graph_.edges)


@every_learner
def test_the_callers_data_is_not_touched(make, table):
    values = np.array(table, copy=True)
    before = values.copy()
    make().fit(values)
    assert np.array_equal(values, before)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if name in EVERY_TABLE else pytest.mark.nightly)
        for name, make in CATALOGUE.items()
    ],
)
def test_all_kinds_of_tables_give_the_same_answer(make, table):
    """Only for a few learners, because a learner only sees an array of numbers."""
    reference = fitted(make).raw_weights_
    others = [
        table.to_numpy(),
        table.to_numpy().tolist(),
        pl.DataFrame({name: table[name].to_numpy() for name in table.columns}),
        pa.table({name: table[name].to_numpy() for name in table.columns}),
        np.asfortranarray(table.to_numpy()),
    ]
    for other in others:
        assert np.array_equal(make().fit(other).raw_weights_, reference)


@every_learner
def test_an_array_has_numbers_for_names(make, table):
    model = pickle.loads(pickle.dumps(fitted(make)))
    model.fit(table.to_numpy())
    assert not hasattr(model, "feature_names_in_")
    assert sorted(model.causal_order_) == list(range(table.shape[1]))


@every_learner
def test_clone_params_and_pickle(make, table):
    model = fitted(make)
    assert clone(model).get_params() == make().get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.adjacency_, model.adjacency_)
    assert np.array_equal(again.predict(table), model.predict(table))


@every_learner
def test_saving_and_loading(make, table, tmp_path):
    model = fitted(make)
    model.save(tmp_path / "model.safetensors", residuals=True)
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    for name in ("raw_weights_", "weights_", "adjacency_"):
        assert np.array_equal(getattr(again, name), getattr(model, name))
    assert again.causal_order_ == model.causal_order_
    assert np.array_equal(again.predict(table), model.predict(table))
    assert np.array_equal(again.sample(5, random_state=0), model.sample(5, random_state=0))
    assert again.score(table) == model.score(table)


@every_learner
def test_what_is_fitted_survives_saving(make, table, tmp_path):
    model = fitted(make)
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    # Findings are about the training table, which the file does not contain.
    attributes = {name for name in vars(model) if name.endswith("_")} - {"findings_"}
    assert attributes <= set(vars(again))
    for name in attributes & {"n_iter_", "converged_", "backend_", "settings_"}:
        assert getattr(again, name) == getattr(model, name)
    assert getattr(again, "noise_", None) == getattr(model, "noise_", None)
    assert again.arrow_basis_ == model.arrow_basis_


@every_learner
def test_predictions_have_the_units_of_the_data(make, table):
    moved = table + 1000.0
    model = make().fit(moved)
    predicted = model.predict(moved)
    assert predicted.shape == moved.shape
    # A least-squares fit with an intercept passes through the means; the rounding error of float32
    # data near 1000 is about 1e-4.
    np.testing.assert_allclose(predicted.mean(0), moved.to_numpy().mean(0), atol=0.05)


@every_learner
def test_score_prefers_the_training_distribution(make, table):
    model = fitted(make)
    noise = np.random.default_rng(1).normal(0, 10 * table.to_numpy().std(), table.shape)
    assert model.score(table) > model.score(table + noise)


@every_learner
def test_score_is_finite_when_a_column_is_a_copy(make, table):
    copied = table.assign(e=table["a"])
    assert np.isfinite(make().fit(copied).score(copied))


@every_learner
def test_samples_look_like_the_data(make, table):
    model = fitted(make)
    drawn = model.sample(4000, random_state=0)
    assert drawn.shape == (4000, table.shape[1])
    # Residuals of a wrong graph are dependent but are drawn independently, so only locations and
    # rough scales are guaranteed for every learner.
    scale = table.to_numpy().std(0)
    assert np.all(np.abs(drawn.mean(0) - table.to_numpy().mean(0)) < 0.2 * scale)
    assert np.all(drawn.std(0) > 0.3 * scale)
    assert np.array_equal(drawn, model.sample(4000, random_state=0))


@every_learner
def test_grid_search_and_pipelines_work(make, table):
    pipeline = make_pipeline(FunctionTransformer(lambda values: values + 1), make()).fit(table)
    assert pipeline.score(table) == pytest.approx(fitted(make).score(table), abs=0.05)
    rows = np.arange(len(table))
    search = GridSearchCV(make(), {"threshold": [0.1, 90.0]}, cv=[(rows, rows)], refit=False)
    scores = search.fit(table).cv_results_["mean_test_score"]
    # With a threshold above all weights, every learner gives an empty graph.
    nothing = EmptyGraph().fit(table).score(table)
    assert np.isfinite(scores[0])
    assert scores[1] == pytest.approx(nothing, abs=1e-5)


@every_learner
def test_a_constant_column_stays_isolated_and_is_named(make, table):
    with_constant = table.assign(c=3.0)
    with pytest.warns(DataWarning, match="'c'"):
        model = make().set_params(threshold=0.0).fit(with_constant)
    assert not model.raw_weights_[2].any()
    assert not model.raw_weights_[:, 2].any()
    assert model.graph_.degree("c") == 0
    assert np.isfinite(model.score(with_constant))
    for name in ("raw_weights_", "weights_", "noise_variances_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert is_dag(model.adjacency_)
    assert len(model.arrow_basis_) == np.count_nonzero(model.adjacency_)


@every_learner
def test_standardising_warns(make, table):
    learner = make().set_params(scale="standardize")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        learner.fit(table)
    told = [
        issubclass(one.category, ScaleWarning)
        and "standardised, and squared-error learners" in str(one.message)
        for one in said
    ]
    assert any(told) == learner.order_follows_units(None)


@every_learner
def test_the_equivalence_class_has_the_same_skeleton(make, table):
    model = fitted(make)
    essential = model.fitted_.equivalence_class()
    arcs = model.adjacency_ != 0
    assert np.array_equal(essential | essential.T, arcs | arcs.T)
    assert np.all(essential[arcs])


@every_learner
def test_asking_before_fitting_is_an_error(make, table):
    for ask in (lambda m: m.graph_, lambda m: m.predict(table), lambda m: m.sample(2)):
        with pytest.raises(NotFittedError):
            ask(make())


@every_learner
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.assign(b=np.nan), "'b'"),
        (lambda t: t.assign(b=np.inf), "'b'"),
        (lambda t: t.assign(b=[f"row {k}" for k in range(len(t))]), "'b'"),
        (lambda t: t.iloc[:0], "row"),
        (lambda t: t.iloc[:1], "row"),
        (lambda t: t[["a"]], "column"),
        (lambda t: t.set_axis(["a", "a", "c", "d", "e"], axis=1), "'a'"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(make, table, change, words):
    with pytest.raises(DataError, match=words) as caught:
        make().fit(change(table))
    assert "\n" not in str(caught.value)


@every_learner
@pytest.mark.parametrize(
    "bad", [{"threshold": -1}, {"threshold": "high"}, {"threshold": np.nan}, {"scale": "log"}]
)
def test_bad_parameters_are_refused_by_name(make, table, bad):
    (name,) = bad
    with pytest.raises(DataError, match=name):
        make().set_params(**bad).fit(table)


@every_learner
def test_new_data_must_have_the_same_columns(make, table):
    model = fitted(make)
    with pytest.raises(DataError, match=r"X has 2 features, but .* is expecting 5"):
        model.predict(table[["a", "b"]])
    with pytest.raises(DataError, match="same order"):
        model.predict(table[list(table.columns[::-1])])
