"""Interventions in all formats: set values do not affect equations, and can direct arrows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import cosmodag
from cosmodag import (
    Cosmo,
    CosmoMLP,
    Knowledge,
    OrderSearch,
    VarianceSort,
    metrics,
    refine,
    selection,
    simulate,
)
from cosmodag.errors import DataError, DataWarning, KnowledgeError
from learner_catalogue import CATALOGUE, chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.ScaleWarning")

# Without learners that train with the reference loop, whose own tests cover row weights.
SOME = [
    "Cosmo",
    "Cosmo-unrefined",
    "CosmoMLP",
    "OrderSearch",
    "Notears",
    "Dagma",
    "NoCurl",
    "EqualVariance",
    "VarianceSort",
    "VarianceSort-pruned",
    "R2Sort",
    "EmptyGraph",
]


@pytest.fixture
def table() -> pd.DataFrame:
    return chain_table()


def test_columns_of_an_array_have_the_same_names_in_fit_and_score(table):
    X, targets = table.to_numpy(), ["x4" if row % 3 == 0 else "" for row in range(len(table))]
    model = OrderSearch(random_state=0).fit(X, interventions=targets)
    by_number = [4 if row % 3 == 0 else None for row in range(len(table))]
    score = model.score(X, interventions=targets)
    assert score == model.score(X, interventions=by_number) != model.score(X)
    bic = selection.extended_bic(model, X, interventions=targets)
    assert bic == selection.extended_bic(model, X, interventions=by_number)


def test_only_fitted_learners_of_rows_without_time_are_refined(table):
    with pytest.raises(NotFittedError):
        refine(OrderSearch(), table)
    in_time = OrderSearch(lags=1, random_state=0).fit(table)
    with pytest.raises(DataError, match="refine is not offered for time series"):
        refine(in_time, table)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_values_that_were_set_say_nothing_of_their_own_equation(name, table):
    targets = ["e" if row % 3 == 0 else "" for row in range(len(table))]
    wild = table.copy()
    wild.loc[::3, "e"] = np.random.default_rng(1).uniform(-50, 50, size=len(wild.loc[::3]))
    # As a sink, e has no effects that could depend on these values.
    known = Knowledge(sinks=["e"])
    fits = [
        CATALOGUE[name]().set_params(knowledge=known).fit(some, interventions=targets)
        for some in (table, wild)
    ]
    np.testing.assert_allclose(fits[0].adjacency_, fits[1].adjacency_, atol=1e-4)
    np.testing.assert_allclose(fits[0].noise_variances_, fits[1].noise_variances_, rtol=1e-3)
    drawn = fits[1].sample(500, random_state=0)["e"]
    assert np.abs(drawn).max() < 2 * np.abs(table["e"]).max()


def test_all_ways_to_say_it_are_the_same(table):
    names = ["", "b", "b;c"] * 40
    mask = pd.DataFrame(False, index=table.index, columns=table.columns)
    mask.loc[1::3, "b"] = True
    mask.loc[2::3, ["b", "c"]] = True
    lists = [[name for name in entry.split(";") if name] for entry in names]
    places = [[list("abcde").index(name) for name in entry] for entry in lists]
    reference = OrderSearch(random_state=0).fit(table, interventions=names)
    assert reference.target_sets_.astype(int).tolist() == [
        [0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
    ]
    with_column = table.assign(target=[entry or None for entry in names])
    polars = pytest.importorskip("polars").from_pandas(with_column)
    ways = [
        (table, lists),
        (table, places),
        (table, np.array(names)),
        (table, pd.Series(names)),
        (table, mask),
        (table, mask[list("edcba")]),
        (table, mask.to_numpy()),
        (with_column, "target"),
        (polars, "target"),
    ]
    for data, way in ways:
        model = OrderSearch(random_state=0).fit(data, interventions=way)
        assert np.array_equal(model.adjacency_, reference.adjacency_)
        assert list(model.feature_names_in_) == list("abcde")


@pytest.mark.parametrize(
    ("interventions", "words"),
    [
        (["a"], "1 entry, but the table has 120 rows"),
        (["z"] * 120, "'z' in row 1, but the table has no such column.*'a', 'b'"),
        ([9] * 120, "9 in row 1"),
        ("target", "'target'.*does not have"),
        (np.zeros((120, 4), bool), r"\(120, 4\)"),
        (np.full((120, 5), 0.5), "true where"),
        (pd.DataFrame({"a": [True] * 120}), "one column for each"),
        (3, "3: it must be a list"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(table, interventions, words):
    with pytest.raises(DataError, match=words):
        OrderSearch().fit(table, interventions=interventions)


def test_an_array_has_no_column_of_targets(table):
    with pytest.raises(DataError, match="no column names"):
        OrderSearch().fit(table.to_numpy(), interventions="target")


def test_a_variable_set_in_every_row_has_no_causes(table):
    with pytest.warns(DataWarning, match="set 'c' in every row"):
        model = OrderSearch(random_state=0).fit(table, interventions=["c"] * 120)
    assert model.graph_.in_degree("c") == 0
    assert model.graph_.out_degree("c") > 0
    known = Knowledge(required_edges=[("a", "c")])
    with pytest.warns(DataWarning), pytest.raises(KnowledgeError, match=r"a → c.*every row"):
        OrderSearch(knowledge=known).fit(table, interventions=["c"] * 120)


def test_nothing_set_is_nothing_said(table):
    plain = OrderSearch(random_state=0).fit(table)
    empty = OrderSearch(random_state=0).fit(table, interventions=[""] * 120)
    assert np.array_equal(plain.adjacency_, empty.adjacency_)
    assert not hasattr(empty, "target_sets_")


@pytest.fixture(scope="module")
def experiments():
    data = simulate.interventional("n500_d8_ER1_gauss", targets="all", rows=50, seed=3)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return data, pd.DataFrame(X, columns=list(data.names))


def test_they_direct_what_standardised_observations_cannot(experiments):
    data, table = experiments
    for learner in (OrderSearch(random_state=0), Cosmo(refine="order", epochs=30, random_state=0)):
        model = learner.fit(table, interventions=data.interventions)
        assert metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["nhd"] <= 0.02
        assert set(model.arrow_basis_) <= {"shape of the graph", "interventions"}
        assert "interventions" in model.arrow_basis_
    better = refine(VarianceSort().fit(table), table, interventions=data.interventions)
    with pytest.raises(DataError, match="The model was fitted with interventions"):
        refine(better, table)
    assert metrics.evaluate(data.graph, better.adjacency_, threshold=0.0)["nhd"] <= 0.02


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_constant_column_moves_no_target_of_the_score(table, place):
    """The column has no effect, whether it is before, between or after the others."""
    targets = ["b" if row % 4 == 0 else "" for row in range(len(table))]
    wild = table.copy()
    wild.loc[::4, "b"] += 50.0
    model = VarianceSort().fit(table)
    assert model.score(wild, interventions=targets) > model.score(wild) + 1
    longer, wider = table.copy(), wild.copy()
    for frame in (longer, wider):
        frame.insert(place, "still", 7.0)
    other = VarianceSort().fit(longer)
    assert other.score(wider, interventions=targets) == pytest.approx(
        model.score(wild, interventions=targets), rel=1e-5
    )


def test_values_that_were_set_do_not_count_in_the_score(experiments):
    data, table = experiments
    model = OrderSearch(random_state=0).fit(table, interventions=data.interventions)
    wild = table.where(~data.targets, 100.0)
    sinks = data.targets[:, ~data.graph.any(axis=1)].any(axis=1)
    rows = ~data.targets.any(axis=1) | sinks
    given = [entry for entry, kept in zip(data.interventions, rows, strict=True) if kept]
    assert model.score(wild[rows], interventions=given) == pytest.approx(
        model.score(table[rows], interventions=given)
    )
    assert model.score(wild[rows]) < model.score(table[rows]) - 1


def test_what_arrows_rest_on_survives_saving(experiments, tmp_path):
    data, table = experiments
    model = OrderSearch(random_state=0).fit(table, interventions=data.interventions)
    for residuals in (False, True):
        model.save(tmp_path / "model.safetensors", residuals=residuals)
        again = cosmodag.load(tmp_path / "model.safetensors")
        assert again.arrow_basis_ == model.arrow_basis_
        assert np.array_equal(again.target_sets_, model.target_sets_)
    assert np.array_equal(again.sample(20, random_state=1), model.sample(20, random_state=1))


def test_equations_hold_about_the_means_of_plain_observations():
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    y = 1 + x + 0.1 * random.normal(size=2000)
    y[1000:] = 40.0 + random.normal(size=1000)
    targets = np.zeros((2000, 2), bool)
    targets[1000:, 1] = True
    model = OrderSearch(random_state=0).fit(np.column_stack([x, y]), interventions=targets)
    assert model.adjacency_[0, 1] == pytest.approx(1.0, abs=0.02)
    assert model.noise_variances_[1] == pytest.approx(0.01, rel=0.2)
    assert model.predict([[0.0, 0.0]])[0, 1] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("name", ["OrderSearch", "VarianceSort", "R2Sort", "Cosmo", "EmptyGraph"])
@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_table_of_experiments_alone_has_the_means_of_observations(name):
    data = simulate.interventional("n400_d5_ER2_gauss", rows=80, shift=5.0, seed=4)
    X = data.X + 7.0
    seen, alone = slice(0, 400), slice(400, None)
    known = {"search_space": np.argwhere(data.graph).tolist()}
    model = CATALOGUE[name]().set_params(knowledge=None if name == "EmptyGraph" else known)
    model.fit(X[alone], interventions=data.targets[alone])
    own = ~data.targets[alone]
    means = np.average(model.residuals_, axis=0, weights=own)
    np.testing.assert_allclose(means, 0.0, atol=1e-3)
    if name == "OrderSearch":
        np.testing.assert_allclose(model.noise_variances_, 1.0, atol=0.3)
        drawn = model.sample(20_000, random_state=0)
        observed = X[seen]
        tolerance = 0.3 * observed.std(axis=0)
        assert np.all(np.abs(drawn.mean(axis=0) - observed.mean(axis=0)) < tolerance)


def test_networks_predict_about_the_means_on_which_they_were_trained():
    """In the rows in which b was set, its values are far from a²."""
    random = np.random.default_rng(0)
    a = random.normal(size=400)
    b = a**2 + 0.3 * random.normal(size=400)
    b[300:] = 3 + random.normal(size=100)
    c = b + 0.3 * random.normal(size=400)
    table = pd.DataFrame({"a": a, "b": b, "c": c})
    was_set = np.zeros((400, 3), bool)
    was_set[300:, 1] = True
    known = Knowledge(search_space=[("a", "b"), ("b", "c")], required_edges=[("a", "b")])
    model = CosmoMLP(epochs=30, refine=None, knowledge=known, random_state=0)
    model.fit(table, interventions=was_set)
    means = np.average(model.residuals_, axis=0, weights=~was_set)
    np.testing.assert_allclose(means, 0.0, atol=1e-5)
    left = (table - model.predict(table))["b"][:300]
    np.testing.assert_allclose(np.mean(left**2), model.noise_variances_[1], rtol=1e-4)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_training_tables_are_not_used_without_their_interventions(experiments, tmp_path):
    data, X = experiments
    targets = data.interventions
    model = OrderSearch(noise="gaussian", random_state=0).fit(X, interventions=targets)
    model.save(tmp_path / "model")
    loaded = cosmodag.load(tmp_path / "model")
    u, v = next(iter(model.graph_.edges))
    asked = {
        "bootstrap": lambda one, **known: one.bootstrap(X, 2, verbose=False, **known),
        "effect": lambda one, **known: one.effect(u, v, X=X, **known),
        "extended_bic": lambda one, **known: selection.extended_bic(one, X, **known),
        "at_threshold": lambda one, **known: selection.at_threshold(one, X, 0.0, **known),
    }
    for name, ask in asked.items():
        with pytest.raises(DataError, match="fitted with interventions"):
            ask(loaded)
        ask(loaded, interventions=targets)
        if name in ("bootstrap", "effect"):
            with pytest.raises(DataError, match="fitted with interventions"):
                ask(model)
