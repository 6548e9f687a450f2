"""The automatic choice: linear equations if they suffice, networks otherwise, and why."""

import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cosmodag import BlockSearch, CosmoMLP, Knowledge, OrderSearch, metrics, selection, simulate
from cosmodag.errors import CosmodagWarning, ScaleWarning
from cosmodag.fit.fitted_dag import FittedDAG
from cosmodag.fit.missing import Completed
from cosmodag.io.tables.frames import Table
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.selection.curvature import NetworkGain, network_gain

DATA = simulate.load("n400_d6_ER2_gauss", seed=2)
choosing = import_module("cosmodag.selection.choosing")


@pytest.fixture(autouse=True, scope="module")
def few_epochs():
    """Train briefly on standardised columns, where the order is only the start of a search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(choosing._WITHOUT_SCALE, "epochs", 100)
        yield


def test_lines_are_kept_where_they_do():
    frame = pd.DataFrame(DATA.X, columns=list("abcdef"))
    choice = selection.auto(frame, random_state=0)
    assert choice.model.names_ == list("abcdef")
    assert metrics.evaluate(DATA.graph, choice.model.adjacency_, threshold=0.0)["shd"] == 0
    assert set(choice.reasons) == {"learner", "noise", "penalties", "refinement"}
    assert all(reason.endswith(".") for reason in choice.reasons.values())
    assert "lines" in str(choice)
    assert {"OrderSearch", "Cosmo"} <= set(choice.table.index)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_networks_are_taken_where_they_gain_over_sums_of_curves(monkeypatch):
    monkeypatch.setattr(choosing, "_TRAININGS", 1)
    monkeypatch.setattr(choosing, "network_gain", lambda *given: NetworkGain(1.0, 0.1))
    X = simulate.load("n200_d5_ER2_mlp", seed=3).X
    choice = selection.auto(X, random_state=0)
    assert isinstance(choice.model, CosmoMLP)
    assert "curves gain" in choice.reasons["learner"]
    assert "networks of joint parents gain" in choice.reasons["learner"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_sums_of_curves_are_taken_where_networks_do_not_gain(monkeypatch):
    monkeypatch.setattr(choosing, "network_gain", lambda *given: NetworkGain(0.1, 0.1))
    X = simulate.load("n200_d5_ER2_mlp", seed=3).X
    choice = selection.auto(X, random_state=0)
    assert isinstance(choice.model, BlockSearch)
    assert "curves" in choice.reasons["learner"]


def test_learners_are_compared_on_rows_that_neither_has_seen():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    table = Table(np.column_stack([x, np.sin(2 * x) + 0.3 * random.normal(size=400)]), ["x", "y"])
    learners = [BlockSearch(random_state=0, curves=curves) for curves in (False, True)]
    gain = network_gain(*learners, Completed(table, None), 0)
    assert gain.needs_networks
    assert not network_gain(*learners[::-1], Completed(table, None), 0).needs_networks


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_categories_are_fitted_by_blocks():
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    level = np.digitize(x + 0.5 * random.normal(size=300), [-0.5, 0.5])
    table = pd.DataFrame({"x": x, "level": np.array(["low", "middle", "high"])[level]})
    choice = selection.auto(table, random_state=0)
    assert isinstance(choice.model, BlockSearch)
    assert choice.model.edges_.nnz == 1
    assert "categories" in choice.reasons["learner"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_numbers_may_be_declared_as_ordered_levels():
    dose = np.random.default_rng(0).integers(1, 5, 100) * 10
    table = pd.DataFrame({"dose": dose, "effect": dose + DATA.X[:100, 0], "other": DATA.X[:100, 1]})
    kinds = {"dose": [10, 20, 30, 40]}
    choice = selection.auto(table, kinds=kinds, random_state=0, verbose=False)
    bic = choice.table.loc["OrderSearch", "extended_bic"]
    plain = OrderSearch(kinds=kinds, random_state=0).fit(table)
    assert bic == pytest.approx(selection.extended_bic(plain, table))


def test_networks_trained_by_likelihood_are_the_same_in_all_units():
    X = simulate.load("n200_d5_ER2_mlp", seed=3).X
    learner = CosmoMLP(loss="likelihood", scale="standardize", epochs=10, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        plain = clone(learner).fit(X).adjacency_
        scaled = clone(learner).fit(X * 2.0 ** np.arange(-4, 6, 2)).adjacency_
    np.testing.assert_array_equal(plain != 0, scaled != 0)


@given(seed=st.integers(0, 2**16), powers=st.lists(st.integers(-9, 9), min_size=5, max_size=5))
@settings(max_examples=2, deadline=None)
def test_units_change_no_arc_where_noise_has_several_sizes(seed, powers):
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(0.4, 1.5, (5, 5)) * (random.random((5, 5)) < 0.5), 1)
    X = (
        random.normal(size=(200, 5))
        * [0.2, 3.0, 0.5, 8.0, 1.0]
        @ np.linalg.inv(np.eye(5) - weights)
    )
    with ignoring(CosmodagWarning):
        plain, scaled = (
            selection.auto(X * factors, random_state=0, verbose=False).model
            for factors in (1.0, 2.0 ** np.array(powers))
        )
    assume({plain.noise_, scaled.noise_}.isdisjoint({"equal-variance"}))
    np.testing.assert_array_equal(plain.adjacency_ != 0, scaled.adjacency_ != 0)


def test_units_decide_only_where_noise_has_one_size():
    columns = selection.auto(DATA.X, random_state=0)
    assert columns.model.noise_ == "equal-variance"
    mixed = selection.auto(DATA.X * [1, 2, 7, 0.3, 12, 0.01], random_state=0)
    assert isinstance(mixed.model, OrderSearch)
    assert mixed.model.noise_ == "gaussian"


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_linear_learners_have_half_of_the_time(monkeypatch):
    """Also where each order of COSMO is the start of a further search."""
    limits = []

    def watch(self, fits=1):
        limits.append(self.max_time * fits)
        return super(type(self), self).watch(fits)

    for name in ("OrderSearch", "Cosmo"):
        learner = type(name, (getattr(choosing, name),), {"watch": watch})
        monkeypatch.setattr(choosing, name, learner)
    X = DATA.X * [1, 2, 7, 0.3, 12, 0.01]
    choice = selection.auto(X, random_state=0, max_time=400.0, verbose=False)
    assert choice.model.noise_ == "gaussian"
    assert len(limits) == 3  # the first search, training, and the searches from learnt orders
    assert sum(limits) <= 200.0


def test_findings_of_the_graph_chosen_are_warned_of():
    X = DATA.X * [1, 1, 1, 1, 1, 1e6]
    with pytest.warns(ScaleWarning, match="follow the variances"):
        choice = selection.auto(X, random_state=0)
    assert "scale_ratio" in {one.name for one in choice.model.findings_}


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_candidates_that_assume_different_noise_are_ranked_by_the_extended_bic(monkeypatch):
    candidates = {
        "no arcs": OrderSearch(noise="equal-variance", threshold=1e9, random_state=0).fit(DATA.X),
        "all arcs": OrderSearch(noise="gaussian", random_state=0).fit(DATA.X),
    }
    monkeypatch.setattr(choosing, "_candidates", lambda *given: candidates)
    choice = selection.auto(DATA.X, random_state=0)
    assert choice.table["noise"].nunique() == 2
    assert choice.table["extended_bic"].idxmin() == "all arcs"
    assert choice.model is candidates["all arcs"]
    assert "all arcs was preferred to no arcs by the extended BIC" in choice.reasons["penalties"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_knowledge_interventions_and_missing_values_are_heeded():
    frame = pd.DataFrame(DATA.X, columns=list("abcdef"))
    u, v = (int(place) for place in np.argwhere(DATA.graph)[0])
    names = list("abcdef")
    known = Knowledge(forbidden_edges=[(names[u], names[v])])
    frame.iloc[3, 2] = np.nan
    targets = ["a" if row % 5 == 0 else "" for row in range(400)]
    choice = selection.auto(
        frame, knowledge=known, missing="impute", interventions=targets, random_state=0
    )
    assert choice.model.adjacency_[u, v] == 0
    assert choice.model.missing == "impute"
    assert choice.model.missing_report_["entries"] == 1


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_curves_are_judged_by_rows_in_which_nothing_was_set(monkeypatch):
    """Effects may be nonlinear at extreme interventional values, which are not used."""
    monkeypatch.setattr(
        choosing,
        "_candidates",
        lambda whole, d, common: {"OrderSearch": OrderSearch(random_state=0).fit(whole)},
    )
    random = np.random.default_rng(0)
    cause = random.normal(size=300)
    cause[200:] = random.uniform(-6, 6, 100)
    bent = np.where(np.abs(cause) < 3, cause, 9 - 2 * np.abs(cause))
    X = np.column_stack([cause, bent + 0.5 * random.normal(size=300)])
    targets = np.zeros(X.shape, bool)
    targets[200:, 0] = True
    choice = selection.auto(X, interventions=targets, random_state=0)
    assert isinstance(choice.model, OrderSearch)
    assert "curves lose" in choice.reasons["learner"]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_imputed_values_are_no_evidence_and_not_evaluated(monkeypatch):
    """Half of the values of five columns are missing; two columns are weakly related."""
    random = np.random.default_rng(1)
    X = random.normal(size=(150, 5))
    X[:, 1] += 0.25 * X[:, 0]
    X[random.random(X.shape) < 0.5] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    chosen = selection.auto(X, missing="impute", random_state=0, verbose=False).model
    alone = OrderSearch(missing="impute", random_state=chosen.random_state).fit(X)
    assert chosen.edges_.nnz == alone.edges_.nnz
    np.testing.assert_array_equal(chosen.known_.absent, np.isnan(X))
    assert chosen.missing_report_ == alone.missing_report_
    assert not hasattr(chosen, "feature_names_in_")

    # Likelihoods of values that are not in the table are NaN.
    def likelihoods(dag, held):
        return np.where(np.isin(held.X, X), 0.0, np.nan)

    monkeypatch.setattr(FittedDAG, "log_likelihoods", likelihoods)
    found = selection.held_out(OrderSearch(missing="impute", random_state=0), X, folds=3)
    np.testing.assert_array_equal(found, 0.0)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_table_is_prepared_once_for_all_searches_and_once_for_training(monkeypatch):
    seen = []
    made = choosing.prepare
    monkeypatch.setattr(
        choosing, "prepare", lambda one, *rest: seen.append(type(one).__name__) or made(one, *rest)
    )
    X = simulate.load("n200_d5_ER1_gauss", seed=0).X
    choice = selection.auto(X / X.std(axis=0), random_state=0, verbose=False)
    assert seen == ["OrderSearch", "Cosmo"]
    assert len(choice.table) > 2
