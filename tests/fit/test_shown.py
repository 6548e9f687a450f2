"""A fit as shown to users: the table of arcs, edge attributes, the summary, labelled frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_predict

from cosmodag import CosmoMLP, EmptyGraph, Knowledge, OrderSearch, load
from cosmodag.errors import DataError
from learner_catalogue import chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
COLUMNS = ["cause", "effect", "weight", "standardised", "se", "t", "basis", "grade", "class"]
SHARES = ["p_edge", "p_direction"]


@pytest.fixture(scope="module")
def table():
    return chain_table()


@pytest.fixture
def model(table):
    return OrderSearch(random_state=0).fit(table)


def test_resamples_of_another_table_are_refused_and_names_may_be_missing(model, table):
    with pytest.raises(DataError, match="give the training data"):
        model.bootstrap(table[table.columns[::-1]], 2, random_state=0, verbose=False)
    assert not hasattr(model, "bootstrap_")
    plain = OrderSearch(random_state=0).fit(table.to_numpy())
    found = [
        one.bootstrap(table, 3, random_state=0, verbose=False) and one.arcs_[SHARES]
        for one in (plain, model)
    ]
    pd.testing.assert_frame_equal(*found)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("drop", "; rows with missing values were dropped"),
        ("impute", "; missing values were imputed"),
    ],
)
def test_the_summary_names_the_treatment_of_missing_values(table, missing, words):
    holed = table.astype(float)
    holed.iloc[3, 1] = np.nan
    assert f"{words}\n" in OrderSearch(missing=missing, random_state=0).fit(holed).summary()
    assert words not in OrderSearch(missing=missing, random_state=0).fit(table).summary()


def test_findings_about_an_array_name_its_columns_in_one_way():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3)) @ [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    X[:, 0], X[:, 2] = X[:, 0] > 0, np.round(X[:, 2])
    model = OrderSearch(random_state=0).fit(X)
    assert "('x0', 'x2')" in model.noise_reason_
    assert {name for one in model.findings_ for name in one.columns} == {"x0", "x2"}


def test_the_summary_says_what_networks_of_levels_are():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.normal(size=200)})
    table["c"] = np.where(table["x"] > random.normal(size=200), "yes", "no")
    model = CosmoMLP(epochs=2, refine=None, random_state=0).fit(table)
    text = " ".join(model.summary().split())
    assert "Each variable is a network, with inputs for levels, of its causes." in text


@pytest.mark.parametrize("n", [-1, 2.5, "three"])
def test_a_number_of_rows_to_draw_is_checked(model, n):
    with pytest.raises(DataError, match=r"n is .*: it must be a whole number"):
        model.sample(n)


def test_the_table_of_arcs_has_all_columns_before_and_after_resamples(model, table):
    before = model.arcs_
    assert list(before.columns) == COLUMNS + SHARES
    assert before[SHARES].isna().all(axis=None)
    result = model.bootstrap(table, 3, random_state=0, verbose=False)
    after = model.arcs_
    pd.testing.assert_frame_equal(before[COLUMNS], after[COLUMNS])
    place = {name: number for number, name in enumerate(model.names_)}
    for arc in after.itertuples():
        ends = place[arc.cause], place[arc.effect]
        assert arc.p_edge == result.edge_probabilities[ends]
        assert arc.p_direction == result.direction_probabilities[ends]
    model.fit(table)
    assert model.arcs_[SHARES].isna().all(axis=None)


def test_the_table_is_the_callers_to_change(model):
    arcs = model.arcs_
    arcs["weight"] = 0.0
    assert (model.arcs_["weight"] != 0).all()


def test_edges_of_the_graph_carry_the_columns_of_the_table(model):
    arcs = model.arcs_.set_index(["cause", "effect"])
    graph = model.graph_
    assert set(graph.edges) == set(arcs.index)
    for ends, facts in graph.edges.items():
        assert list(facts) == COLUMNS[2:]  # unknown facts are left out
        assert facts == arcs.loc[ends, COLUMNS[2:]].to_dict()


def test_the_summary_says_data_learner_assumptions_arcs_and_findings(table):
    known = Knowledge(required_edges=[("a", "b")])
    model = OrderSearch(random_state=0, knowledge=known).fit(table)
    summary = model.summary()
    assert repr(summary) == str(summary)
    for words in ("120 rows, 5 columns", "OrderSearch(", "no feedback", "knowledge", "findings"):
        assert words in summary
    assert model.noise_reason_.split(",")[0] in " ".join(summary.split())
    for arc in model.arcs_.itertuples():
        assert f"{arc.standardised:+.3f}" in summary
    assert max(map(len, summary.splitlines()[:6])) <= 88
    short = model.summary(arcs=1)
    assert f"{len(model.arcs_)} arcs, 1 shown" in short
    assert len(short.splitlines()) == len(summary.splitlines()) - len(model.arcs_) + 1


def test_the_summary_of_an_empty_graph_says_so(table):
    assert "no arc found" in EmptyGraph().fit(table).summary()


def test_the_summary_names_what_was_set_or_what_changes_between_regimes(table):
    where = ["d"] * 30 + [""] * 90
    told = OrderSearch(random_state=0).fit(table, interventions=where).summary()
    assert "'d' in some rows" in told
    told = OrderSearch(random_state=0).fit(table, regimes=where, interventions=where).summary()
    assert "in some rows" not in told
    assert "changes     'd' between the regimes" in told
    told = OrderSearch(random_state=0).fit(table, regimes=["a", ""] * 60).summary()
    assert "changes     no variable between the regimes" in told


def test_the_summary_shows_probabilities_and_findings(model, table):
    model.bootstrap(table, 3, random_state=0, verbose=False)
    assert "p_edge" in model.summary()
    copied = OrderSearch(random_state=0).fit(table.assign(e=table["d"]))
    assert copied.findings_
    told = " ".join(copied.summary().split())
    for finding in copied.findings_:
        assert f"{finding.severity} {finding.sentence}" in told


def test_a_loaded_model_does_not_claim_that_nothing_was_found(table, tmp_path):
    copied = OrderSearch(random_state=0).fit(table.assign(e=table["d"]))
    copied.save(tmp_path / "model.safetensors", residuals=True)
    loaded = load(tmp_path / "model.safetensors")
    assert "findings: not kept in a saved model" in loaded.summary()


def test_predictions_are_frames_for_frames(model, table):
    expected = model.predict(table.to_numpy())
    assert isinstance(expected, np.ndarray)
    rows = table.set_axis([f"r{place}" for place in range(len(table))])
    predicted = model.predict(rows)
    assert isinstance(predicted, pd.DataFrame)
    assert predicted.index.equals(rows.index)
    assert list(predicted.columns) == list(table.columns)
    np.testing.assert_array_equal(predicted, expected)
    polars = model.predict(pl.from_pandas(table))
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == list(table.columns)
    arrow = model.predict(pa.Table.from_pandas(table))
    assert isinstance(arrow, pa.Table)
    np.testing.assert_array_equal(polars.to_numpy(), expected)
    set_from_outside = model.predict(rows, do={"a": 1.0})
    assert (set_from_outside["a"] == 1).all()
    assert cross_val_predict(OrderSearch(random_state=0), table, cv=2).shape == table.shape


def test_samples_and_effects_keep_names(model, table):
    drawn = model.sample(4, random_state=0)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == list("abcde")
    assert (model.sample(4, random_state=0, do={"b": 2.0})["b"] == 2).all()
    assert list(model.effects_.index) == list(model.effects_.columns) == list("abcde")
    bare = OrderSearch(random_state=0).fit(table.to_numpy())
    assert isinstance(bare.sample(4), np.ndarray)
