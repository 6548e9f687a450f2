"""`CosmoMLP` on a table with categories and counts: everything that a fit offers."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest

from cosmodag import CosmoMLP, Knowledge, load
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import DataError
from cosmodag.report.sections import sections_of

NAMES = ["dose", "site", "answer", "events"]
ROWS = 300


def mixed_table(seed=0):
    """A table of dose → answer ← site, with an interaction, and answer → events, a count."""
    random = np.random.default_rng(seed)
    dose, site = random.normal(size=ROWS), random.integers(0, 3, ROWS)
    utility = dose * np.array([5.0, -1.0, 2.0])[site] + random.logistic(size=ROWS)
    answer = utility > 0
    events = random.poisson(np.where(answer, 30, 4))
    labels = np.array(["north", "south", "west"])[site]
    columns = [dose, labels, np.where(answer, "yes", "no"), events]
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def model(table):
    known = Knowledge(exogenous=["dose", "site"], sinks=["events"])
    return CosmoMLP(epochs=150, knowledge=known, random_state=0, verbose=False).fit(table)


def test_an_interaction_of_a_number_and_a_category_is_found(model):
    found = {(tail, head) for tail, head in model.graph_.edges}
    assert found == {("dose", "answer"), ("site", "answer"), ("answer", "events")}


def test_kinds_and_the_loss_are_said(model):
    assert [kind.kind for kind in model.kinds_] == ["continuous", "categorical", "binary", "count"]
    assert model.loss_ == "likelihood"
    assert "categories or counts" in model.loss_reason_
    assert model.backend_ == "reference"


def test_predictions_are_numbers_and_levels(model, table):
    predicted = model.predict(table)
    assert (predicted["answer"] == table["answer"]).mean() > 0.7
    assert set(predicted["site"]) <= set(table["site"])
    by_answer = predicted["events"].groupby(table["answer"]).mean()
    assert by_answer["yes"] == pytest.approx(30, rel=0.2)
    assert by_answer["no"] == pytest.approx(4, rel=0.4)


def test_samples_have_the_levels_counts_and_interaction_of_the_table(model, table):
    drawn = model.sample(2_000, random_state=1)
    assert set(drawn["site"]) == set(table["site"])
    assert np.all(drawn["events"] == np.round(drawn["events"]))
    assert drawn["events"].min() >= 0
    share = (drawn["answer"] == "yes").groupby([drawn["site"], drawn["dose"] > 0]).mean()
    assert share["north", True] > 0.7 > 0.5 > share["south", True]


def test_setting_a_category_changes_its_effects(model):
    yes = model.sample(500, random_state=2, do={"answer": "yes"})
    no = model.sample(500, random_state=2, do={"answer": "no"})
    assert set(yes["answer"]) == {"yes"}
    assert yes["events"].mean() > 3 * no["events"].mean()
    assert np.array_equal(yes["dose"], no["dose"])


def test_the_score_is_that_of_heads_by_kind(model, table):
    likelihoods = model.log_likelihoods(table)
    answer = likelihoods[:, NAMES.index("answer")]
    assert np.all(answer <= 0)
    assert answer.mean() > np.log(0.5)
    assert model.score(table) == pytest.approx(likelihoods.mean())
    assert model.score(table) > model.score(table.assign(answer=table["answer"].to_numpy()[::-1]))


def test_a_saved_model_is_the_same_model(model, table, tmp_path):
    model.save(tmp_path / "model.safetensors", residuals=True)
    again = load(tmp_path / "model.safetensors")
    assert again.kinds_ == model.kinds_
    pd.testing.assert_frame_equal(again.predict(table), model.predict(table))
    pd.testing.assert_frame_equal(again.sample(20, 3), model.sample(20, 3))
    assert again.score(table) == model.score(table)


def test_the_report_shows_effects_of_levels_and_curves(model):
    section = next(one for one in sections_of(model) if one["title"] == "Effects of the arcs")
    heads = {(row[0], row[2]) for row in section["rows"]}
    assert ("site", "answer = yes") in heads
    assert ("answer", "events") in heads
    assert [curve["title"] for curve in section["curves"]] == ["dose → answer = yes"]
    assert "networks" in section["text"]


def test_responses_are_values_and_probabilities(model):
    events = model.response("answer", "events", [0, 1])
    assert events[1] > 3 * events[0]
    shares = model.response("dose", "answer", [-2.0, 2.0])
    assert shares.shape == (2, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)


def test_another_read_out_keeps_the_graph(model):
    other = copy.deepcopy(model).read_out("sum")
    assert np.array_equal(other.adjacency_ != 0, model.adjacency_ != 0)
    assert np.array_equal(other.raw_weights_, model.arc_sums_)


@pytest.mark.parametrize(
    "changed", [{"loss": "squared-error"}, {"mask": "inputs"}], ids=["loss", "mask"]
)
def test_settings_for_numbers_alone_are_refused_before_training(table, changed):
    ((name, value),) = changed.items()
    with pytest.raises(DataError, match=f"{name}='{value}'.*'site' \\(3 levels\\)"):
        CosmoMLP(**changed, verbose=False).fit(table)


@pytest.mark.nightly
def test_knowledge_and_interventions_are_obeyed(table):
    known = Knowledge(forbidden_edges=[("answer", "events")], required_edges=[("site", "events")])
    entries = [("site" if row < 100 else None) for row in range(ROWS)]
    fitted = CosmoMLP(epochs=2, knowledge=known, random_state=0, verbose=False)
    fitted.fit(table, interventions=entries)
    assert fitted.graph_.has_edge("site", "events")
    assert not fitted.graph_.has_edge("answer", "events")


@pytest.mark.nightly
def test_resamples_and_missing_values(model, table):
    found = bootstrap(CosmoMLP(epochs=2, random_state=0, verbose=False), table, 2)
    assert found.n == 2
    holes = table.copy()
    holes.loc[::7, "site"] = None
    fitted = CosmoMLP(epochs=2, missing="impute", random_state=0, verbose=False).fit(holes)
    assert set(fitted.predict(table)["site"]) <= set(table["site"])
