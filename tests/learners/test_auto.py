"""The referee's choice: lines, curves, scores, uneven noise; far cells; files and resamples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import cosmodag
from cosmodag import Auto, OrderSearch, learn, simulate
from cosmodag.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def chain(kind, n=700, seed=0):
    """a → b → c, with lines, curves, noise that grows with the cause, or exponentials of lines."""
    random = np.random.default_rng(seed)
    a, e, f = random.normal(size=(3, n))
    if kind == "curves":
        b = np.sin(2 * a) + 0.4 * e
        return np.column_stack([a, b, np.tanh(3 * b) + 0.4 * f])
    if kind == "uneven":
        b = a + np.exp(0.8 * np.tanh(a)) * e
        return np.column_stack([a, b, b + np.exp(0.5 * np.tanh(b)) * f])
    b = a + e
    X = np.column_stack([a, b, b + f])
    return np.exp(X) if kind == "exponentials" else X


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("lines", "lines"),
        ("curves", "curves"),
        ("uneven", "lines, uneven noise"),
        ("exponentials", "lines on normal scores"),
    ],
)
def test_each_kind_of_table_has_its_family(kind, family):
    X = chain(kind)
    model = learn(X, random_state=0)
    assert model.family_ == family
    arcs = model.adjacency_ != 0
    assert (arcs | arcs.T).tolist() == [
        [False, True, False],
        [True, False, True],
        [False, True, False],
    ]
    if kind in ("curves", "uneven"):
        assert np.argwhere(arcs).tolist() == [[0, 1], [1, 2]]
    table = model.families_
    assert table["kept"].sum() == 1
    assert table.loc[table["kept"], "family"].item() == family
    assert (len(table) == 1) == (kind == "lines")
    assert model.refuted_ == []
    restored = model.preparation_.undo(model.training_data())
    used = model.findings_[0].value if kind == "exponentials" else 0
    assert len(restored) == len(X) - used
    assert used or np.allclose(restored, X, atol=1e-3)
    assert np.isfinite(model.score(X))
    assert model.sample(10, 0).shape == (10, 3)


def test_the_tables_of_the_paper_have_the_graph_of_the_order_search():
    X = simulate.load("n1000_d30_ER4_gauss", seed=0).X
    model = Auto(random_state=0).fit(X)
    assert model.noise_ == "equal-variance"
    assert np.array_equal(model.adjacency_, OrderSearch(random_state=0).fit(X).adjacency_)


def test_predictions_on_scores_are_in_the_units_of_the_table():
    X = chain("exponentials")
    model = Auto(random_state=0).fit(X)
    errors = np.log(model.predict(X)[:, 2]) - np.log(X[:, 2])
    arcs = model.adjacency_ != 0
    assert arcs[1, 2] or arcs[2, 1]
    assert np.median(np.abs(errors)) < 1.0
    # The density that equations between scores define is the held-out one, up to sampling.
    assert model.score(X) == pytest.approx(model.families_["log_density"].max() / 3, abs=0.15)


def test_rows_with_far_cells_take_no_part():
    X = pd.DataFrame(chain("lines"), columns=list("abc"))
    clean = Auto(random_state=0).fit(X.drop([7, 19]))
    X.loc[7, "a"], X.loc[19, "c"] = 900.0, -70.0
    model = Auto(random_state=0).fit(X)
    assert np.array_equal(model.adjacency_, clean.adjacency_)
    assert len(model.residuals_) == len(X) - 2
    (finding,) = (one for one in model.findings_ if one.name == "gross_cells")
    assert finding.columns == ("a", "c")
    assert "row 7" in finding.sentence
    assert len(OrderSearch().fit(X).residuals_) == len(X)


def test_a_fit_repeats_its_decision(tmp_path):
    X = chain("exponentials")
    model = Auto(random_state=0).fit(X)
    again = clone(model).set_params(**model.decided()).fit(X)
    assert again.family_ == "lines on scores"
    assert np.array_equal(again.adjacency_, model.adjacency_)
    found = model.bootstrap(X, n=4, random_state=0, verbose=False)
    assert len(found.done) == 4
    model.save(tmp_path / "model", residuals=True)
    loaded = cosmodag.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.families_.equals(model.families_)
    assert np.array_equal(loaded.sample(5, 0), model.sample(5, 0))


def test_what_refutes_the_kept_family_is_said():
    random = np.random.default_rng(0)
    a, b, c = random.normal(size=(3, 900))
    hidden = random.normal(size=900)
    X = np.column_stack([a, np.exp(hidden) * b, np.exp(hidden) * c])
    model = Auto(random_state=0).fit(X)
    assert any("depend on one another" in one for one in model.refuted_)
    assert "family_refuted" in {one.name for one in model.findings_}


def test_tables_of_kinds_lags_interventions_and_regimes_are_fitted():
    X = pd.DataFrame(chain("lines"), columns=list("abc"))
    kinds = X.assign(a=np.where(X["a"] > 0.5, "x", np.where(X["a"] < -0.5, "y", "z")))
    assert Auto(random_state=0).fit(kinds).part_ in ("kinds", "kinds with curves")
    assert Auto(random_state=0, lags=1).fit(X).family_
    targets = np.where(np.arange(len(X)) < 200, "b", None)
    changed = X.copy()
    changed.loc[:199, "b"] = np.random.default_rng(1).normal(size=200)
    model = Auto(random_state=0).fit(changed, interventions=targets)
    assert {"interventions", "shape of the graph"} & set(model.arrow_basis_)
    regimes = np.where(np.arange(len(X)) < 300, "", "later")
    assert Auto(random_state=0).fit(X, regimes=regimes).family_reason_.startswith("Regimes")
    holed = X.mask(np.random.default_rng(2).random(X.shape) < 0.05)
    assert Auto(random_state=0, missing="impute").fit(holed).family_


def test_unknown_families_are_refused():
    with pytest.raises(DataError, match="families is 'splines'"):
        Auto(families="splines").fit(chain("lines"))
    model = Auto(families="curves", random_state=0).fit(chain("lines"))
    assert (model.family_, len(model.families_)) == ("curves", 1)
    both = Auto(families=("Gaussian lines", "curves"), random_state=0).fit(chain("curves"))
    assert both.family_ == "curves"
