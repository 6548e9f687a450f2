"""Model selection without the true graph: held-out rows, criteria, thresholds."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from cosmodag import (
    BlockSearch,
    Cosmo,
    CosmoMLP,
    EmptyGraph,
    OrderSearch,
    VarianceSort,
    selection,
    simulate,
)
from cosmodag.errors import DataError
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.input_checks import seeds_from

DATA = simulate.load("n400_d6_ER2_gauss", seed=2)
FRAME = pd.DataFrame(DATA.X, columns=list("abcdef"))


def test_folds_are_fitted_together_as_they_are_alone():
    X = simulate.load("n120_d4_ER1_gauss", seed=2).X
    found = selection.held_out(VarianceSort(refine="prune"), X, folds=3, random_state=5)
    fold_of = np.random.default_rng(seeds_from(5, 1)[0]).permutation(120) % 3
    for fold, score in enumerate(found):
        model = VarianceSort(refine="prune").fit(X[fold_of != fold])
        assert score == np.mean(model.log_likelihoods(X[fold_of == fold]))


def test_held_out_rows_are_not_seen(monkeypatch):
    seen, asked = [], []
    module = sys.modules["cosmodag.selection.criteria"]
    prepare, ask = module.prepare, FittedDAG.log_likelihoods
    monkeypatch.setattr(
        module, "prepare", lambda model, whole: seen.append(whole.table.X) or prepare(model, whole)
    )
    monkeypatch.setattr(
        FittedDAG, "log_likelihoods", lambda self, X: asked.append(X.X) or ask(self, X)
    )
    scores = selection.held_out(OrderSearch(random_state=0), DATA.X, folds=4)
    assert scores.shape == (4,)
    for training, held in zip(seen, asked, strict=True):
        assert len(training) == 300
        assert not {row.tobytes() for row in training} & {row.tobytes() for row in held}
    assert len({row.tobytes() for held in asked for row in held}) == 400


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_held_out_likelihood_leaves_out_what_was_set():
    X = DATA.X.copy()
    X[:100, 0] = 1e3  # set by intervention, so the model does not apply to these values
    targets = np.where(np.arange(400) < 100, "x0", "").tolist()
    known = selection.held_out(VarianceSort(refine="prune"), X, interventions=targets)
    assert known.mean() > selection.held_out(VarianceSort(refine="prune"), X).mean() + 0.5


def test_too_few_rows_for_so_many_folds():
    with pytest.raises(DataError, match="folds"):
        selection.held_out(EmptyGraph(), DATA.X[:9])


def test_extended_bic_is_the_formula():
    model = OrderSearch(random_state=0).fit(DATA.X)
    k, n, d = model.edges_.nnz, 400, 6
    expected = -2 * n * d * model.score(DATA.X) + k * np.log(n) + 2 * k * np.log(d)
    assert selection.extended_bic(model, DATA.X) == pytest.approx(expected)
    assert selection.extended_bic(model, DATA.X, gamma=0) < expected


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_extended_bic_counts_the_parameters_of_curves_and_categories():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    curve = np.sin(2 * x) + 0.3 * random.normal(size=400)
    table = np.column_stack([x, curve, np.digitize(x, [-0.6, 0.6])])
    kinds = ["auto", "auto", "categorical"]
    known = {"required_edges": [[0, 1], [0, 2]], "forbidden_edges": [[1, 2]]}
    model = BlockSearch(random_state=0, kinds=kinds, knowledge=known).fit(table)
    assert model.edges_.nnz == 2
    equations = model.fitted_.equations
    k = equations.widths[0, 1] + 2 * equations.widths[0, 2]
    assert k > 3
    constants = [coefficients.shape[1] for coefficients in equations.coefficients]
    assert k == sum(coefficients.size for coefficients in equations.coefficients) - sum(constants)
    price = selection.extended_bic(model, table, gamma=0) + 2 * model.log_likelihoods(table).sum()
    assert price == pytest.approx(k * np.log(400))


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_extended_bic_counts_the_combinations_of_levels():
    random = np.random.default_rng(1)
    a, b = random.integers(0, [[2], [3]], size=(2, 900))
    child = np.where(random.random(900) < 0.9, (a + b) % 3, random.integers(0, 3, 900))
    known = {"required_edges": [[0, 2], [1, 2]], "forbidden_edges": [[0, 1], [1, 0]]}
    model = BlockSearch(random_state=0, kinds=["categorical"] * 3, knowledge=known).fit(
        np.column_stack([a, b, child]).astype(float)
    )
    assert model.fitted_.equations.joint.tolist() == [False, False, True]
    assert model.fitted_.equations.arc_parameters(model.edges_).tolist() == [0, 0, (2 * 3 - 1) * 2]


def test_weights_at_another_threshold_are_those_of_least_squares_on_the_parents():
    model = VarianceSort(criterion="none").fit(DATA.X)
    cut = selection.at_threshold(model, DATA.X, 0.5)
    centred = DATA.X - DATA.X.mean(axis=0)
    kept = np.abs(model.weights_) > 0.5
    expected = np.zeros((6, 6))
    for v in range(6):
        expected[kept[:, v], v] = np.linalg.lstsq(centred[:, kept[:, v]], centred[:, v])[0]
    assert 0 < np.count_nonzero(kept) < np.count_nonzero(model.weights_)
    # With a tolerance, because the learner centres the data in float32.
    np.testing.assert_allclose(cut.adjacency_, expected, atol=1e-5)
    residuals = centred - centred @ expected
    np.testing.assert_allclose(cut.noise_variances_, (residuals**2).mean(axis=0), rtol=1e-4)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_networks_lose_the_inputs_that_are_cut():
    X = DATA.X[:100, :3]
    model = CosmoMLP(hidden=(3,), epochs=5, refine=None, random_state=0).fit(X)
    none = selection.at_threshold(model, X, 1e9)
    assert none.edges_.nnz == 0
    np.testing.assert_allclose(none.predict(X), np.broadcast_to(X.mean(axis=0), X.shape), atol=1e-3)


def test_learners_are_ranked_by_what_they_predict():
    learners = {"nothing": EmptyGraph(), "search": OrderSearch(), "sort": VarianceSort()}
    ranked = selection.compare(learners, FRAME, folds=3)
    assert ranked.index[-1] == "nothing"
    assert ranked["held_out"].is_monotonic_decreasing
    assert ranked["behind"].iloc[0] == 0
    assert ranked.loc["nothing", "arcs"] == 0
    assert ranked.loc["search", "arcs"] >= 10
    again = selection.compare(learners, FRAME, folds=3)
    pd.testing.assert_frame_equal(ranked.drop(columns="seconds"), again.drop(columns="seconds"))
    with pytest.raises(DataError, match="twice"):
        selection.compare([EmptyGraph(), EmptyGraph()], FRAME)


def test_grid_search_works():
    search = GridSearchCV(
        Cosmo(refine=None, epochs=100, random_state=0), {"lambda1": [1e-3, 3.0]}, cv=2
    )
    assert search.fit(DATA.X).best_params_ == {"lambda1": 1e-3}


def test_criteria_and_thresholds_leave_out_what_was_set():
    targets = np.zeros(DATA.X.shape, bool)
    sink = int(np.flatnonzero(DATA.graph.any(axis=0) & ~DATA.graph.any(axis=1))[0])
    targets[::3, sink] = True
    wild = np.where(targets, 50.0, DATA.X)
    known = {"sinks": [sink]}
    model = OrderSearch(knowledge=known, random_state=0).fit(DATA.X, interventions=targets)
    tame, other = (selection.at_threshold(model, X, 0.1) for X in (DATA.X, wild))
    np.testing.assert_allclose(tame.adjacency_, other.adjacency_, atol=1e-6)
    np.testing.assert_allclose(tame.adjacency_, model.adjacency_, atol=1e-4)
    np.testing.assert_allclose(tame.noise_variances_, other.noise_variances_, rtol=1e-4)
    criteria = [selection.extended_bic(model, X) for X in (DATA.X, wild)]
    assert criteria[0] == pytest.approx(criteria[1])
    again = selection.extended_bic(model, DATA.X, interventions=targets)
    assert again == pytest.approx(criteria[0])
    with pytest.raises(DataError, match="give the table that it was fitted on"):
        selection.extended_bic(model, DATA.X[:50])


def test_interventions_of_other_rows_than_those_with_missing_values_are_refused():
    X = simulate.load("n60_d3_ER1_gauss", seed=0).X
    X[::7, 0] = np.nan
    model = OrderSearch(missing="impute", random_state=0).fit(X)
    whole = X[~np.isnan(X).any(axis=1)]
    with pytest.raises(DataError, match=r"51 rows.*60 rows.* that it was fitted on\.$"):
        selection.at_threshold(model, whole, 0.1, interventions=[None, 1, 2] * 17)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_interventions_given_again_are_those_of_the_fit():
    """A variable that was always set is a root in the fit, and has the equation of a root."""
    targets = np.zeros(DATA.X.shape, bool)
    targets[:, 0] = targets[:60, 2] = True
    model = OrderSearch(random_state=0).fit(DATA.X, interventions=targets)
    given = {"interventions": targets}
    assert selection.extended_bic(model, DATA.X, **given) == selection.extended_bic(model, DATA.X)
    cut, again = (selection.at_threshold(model, DATA.X, 0.1, **told) for told in ({}, given))
    np.testing.assert_array_equal(cut.adjacency_, again.adjacency_)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_required_arcs_do_not_fall_to_a_threshold():
    arc = tuple(np.argwhere(~(DATA.graph | DATA.graph.T | np.eye(6, dtype=bool)))[0].tolist())
    lines = VarianceSort(knowledge={"required_edges": [arc]}).fit(DATA.X)
    cut = selection.at_threshold(lines, DATA.X, 1e9)
    assert list(zip(cut.edges_.row, cut.edges_.col, strict=True)) == [arc]
    known = {"required_edges": [(0, 1)]}
    networks = CosmoMLP(knowledge=known, hidden=(3,), epochs=5, threshold=1e9, random_state=0)
    networks.fit(DATA.X[:100, :3]).read_out("sum")
    assert networks.adjacency_[0, 1] == networks.weights_[0, 1] != 0
    assert np.count_nonzero(networks.adjacency_) == 1


def test_curves_and_categories_are_fitted_again_to_the_arcs_that_are_left():
    random = np.random.default_rng(0)
    g = random.integers(3, size=300)
    a = random.normal(size=300)
    table = pd.DataFrame({"g": np.array(list("rst"))[g], "a": a})
    table["b"] = a**2 + 0.2 * (g == 1) + 0.3 * random.normal(size=300)
    table["c"] = random.poisson(np.exp(0.5 * table["b"]))
    known = {"required_edges": [["g", "b"]]}
    model = BlockSearch(curves=True, knowledge=known, random_state=0).fit(table)
    assert model.edges_.nnz > 1
    found = selection.at_threshold(model, table, 1e9)
    assert list(found.graph_.edges) == [("g", "b")]
    groups = table.groupby("g")["b"].transform("mean")
    np.testing.assert_allclose(found.predict(table)["b"], groups, atol=1e-4)
    np.testing.assert_allclose(found.predict(table)["a"], a.mean(), atol=1e-5)
    assert model.score(table) > found.score(table)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_threshold_takes_the_interventions_of_a_time_series():
    random = np.random.default_rng(0)
    table = FRAME[["a", "b", "c"]].copy()
    table["b"] += np.roll(table["a"], 1)
    was_set = [["b"] if row % 4 == 0 else [] for row in range(len(table))]
    table.loc[::4, "b"] = 5 * random.normal(size=len(table.loc[::4]))
    model = OrderSearch(lags=1, random_state=0).fit(table, interventions=was_set)
    for known in ({}, {"interventions": was_set}):
        found = selection.at_threshold(model, table, 0.0, **known)
        np.testing.assert_allclose(found.adjacency_, model.adjacency_, atol=1e-4)
        np.testing.assert_allclose(found.noise_variances_, model.noise_variances_, rtol=1e-3)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_interventions_given_again_may_leave_no_measured_value():
    """A variable that was set in every row with a value is a root in the fit."""
    table, targets = FRAME[:100].copy(), ["b"] * 50 + [""] * 50
    table.loc[50:, "b"] = np.nan
    model = OrderSearch(missing="impute", random_state=0).fit(table, interventions=targets)
    X, given = model.preparation_.undo(model.training_data()), {"interventions": targets}
    assert selection.extended_bic(model, X, **given) == selection.extended_bic(model, X)
    cut, again = (selection.at_threshold(model, X, 0.1, **told) for told in ({}, given))
    np.testing.assert_array_equal(cut.adjacency_, again.adjacency_)
    with pytest.raises(DataError, match="The table has 60 rows"):
        selection.at_threshold(model, X[:60], 0.1, interventions=targets[:60])


def test_arcs_below_a_threshold_have_no_turning_loss():
    model = OrderSearch(noise="gaussian", random_state=0).fit(DATA.X)
    cut = selection.at_threshold(model, DATA.X, float(np.median(np.abs(model.edges_.data))))
    assert 0 < cut.edges_.nnz < model.edges_.nnz
    assert np.isnan(cut.turning_losses_[cut.adjacency_ == 0]).all()
    kept = cut.adjacency_ != 0
    np.testing.assert_array_equal(cut.turning_losses_[kept], model.turning_losses_[kept])


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_table_of_constant_columns_has_the_held_out_likelihood_zero():
    assert (selection.held_out(VarianceSort(), np.ones((20, 3)), folds=2) == 0).all()


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("verbose", [True, False])
def test_no_fit_of_a_comparison_shows_progress_unless_asked_for(monkeypatch, verbose):
    shown, watch = [], OrderSearch.watch
    monkeypatch.setattr(
        OrderSearch, "watch", lambda self, fits=1: shown.append(self.verbose) or watch(self, fits)
    )
    selection.compare([OrderSearch()], DATA.X[:60], folds=2, verbose=verbose)
    assert shown == [verbose] * 2  # folds, the whole table
