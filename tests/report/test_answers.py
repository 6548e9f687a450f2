"""The content of the page other than arcs: first card, effects, hidden causes, verdict, groups."""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from graphs_to_report import bootstrap_of, model_of, random_dag
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cosmodag import BlockSearch, OrderSearch, VarianceSort
from cosmodag.errors import DataError
from cosmodag.report import Evidence
from cosmodag.report.answers import Answers
from cosmodag.report.facts import groups_of, page_data
from cosmodag.report.origin import code_for
from cosmodag.report.sentences import _hidden, _noise_scores, story_of

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def model():
    made = model_of(random_dag(7, 12, seed=1))
    made.fitted_ = replace(made.fitted_, noise="gaussian")
    return made


def test_effects_are_those_of_the_model(model):
    effects = Answers.of(model).effects
    names = model.names_
    listed = {}
    for i, (u, v) in enumerate(zip(effects["from"], effects["to"], strict=True)):
        found = model.effect(names[u], names[v], bootstrap=None)
        assert effects["estimate"][i] == pytest.approx(found.estimate, rel=1e-4)
        assert effects["low"][i] == pytest.approx(found.low, rel=1e-4)
        assert effects["identified"][i] == found.identified
        assert [names[place] for place in effects["adjustment"][i]] == list(found.adjustment)
        listed[u, v] = found
    for u, v in np.ndindex(7, 7):
        if u != v:
            assert ((u, v) in listed) != model.effect(names[u], names[v], bootstrap=None).is_nothing


def test_marks_are_those_of_the_partial_ancestral_graph(model):
    marks = model.pag_.marks
    found = np.zeros_like(marks)
    for u, v, at_u, at_v in Answers.of(model).pag["edges"]:
        found[v, u], found[u, v] = at_u, at_v
    np.testing.assert_array_equal(found, marks)


def test_the_graph_of_an_interrupted_fit_is_not_examined(model):
    stopped = copy(model)
    stopped.stopped_ = "interrupt"
    answers = Answers.of(stopped)
    assert answers.verdict is None
    assert answers.pag is None
    assert answers.effects == Answers.of(model).effects


def test_hidden_causes_are_not_searched_for_in_many_triangles(model, monkeypatch):
    """A graph of 100 variables and 1,305 arcs took half a minute, after a fit of four seconds."""
    arcs = model.adjacency_ != 0
    triangles = int(((arcs @ arcs.astype(int)) * arcs).sum())
    assert triangles > 0
    monkeypatch.setattr("cosmodag.report.answers._MOST_TRIANGLES", triangles)
    evidence = Evidence.of(model)
    assert evidence.answers.pag is not None
    assert "left out" not in _hidden(model, evidence)
    monkeypatch.setattr("cosmodag.report.answers._MOST_TRIANGLES", triangles - 1)
    evidence = Evidence.of(model)
    assert evidence.answers.pag is None
    assert evidence.answers.verdict is not None
    assert "The search for them was left out" in _hidden(model, evidence)


def test_the_verdict_is_that_of_the_tests(model):
    verdict = Answers.of(model).verdict
    found = model.validate(shuffles=0)
    assert verdict["sentence"] == found.verdict
    assert verdict["rejected"] == found.rejected


def test_a_wrong_graph_is_reported_as_contradicted(model):
    wrong = model_of(np.zeros((3, 3)))
    X = np.random.default_rng(0).normal(size=(200, 1)) + np.zeros((1, 3))
    X += 0.1 * np.random.default_rng(1).normal(size=(200, 3))
    wrong = type(wrong)().fit(X)
    evidence = Evidence.of(wrong)
    assert evidence.answers.verdict["rejected"]
    points = dict(story_of(wrong, evidence, 200, 0)["points"])
    assert points["Do tests contradict the graph?"].startswith("The data contradict the graph")


def test_written_answers_are_read_again(model):
    answers = Answers.of(model)
    assert Answers.read(json.loads(json.dumps(answers.facts())), 7) == answers
    assert Answers.read(Answers().facts(), 3) == Answers()


@pytest.fixture(scope="module")
def curved():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    X[:, 1] += X[:, 0] ** 2
    frame = pd.DataFrame(X, columns=["dose", "response", "other"])
    frame["group"] = np.where(X[:, 1] > 2, "high", np.where(X[:, 1] > 0.5, "middle", "low"))
    frame["size"] = np.where(frame["group"] == "high", 3.0, 0.0) + random.normal(size=300)
    return BlockSearch(curves=True, random_state=0, verbose=False).fit(frame)


def test_curves_are_means_of_rows_drawn_with_the_cause_set(curved):
    found = Answers.of(curved).effect_curves
    assert (found["over"], found["variables"]) == ("value", 5)
    (pair,) = (one for one in found["pairs"] if (one["from"], one["to"]) == (0, 1))
    for at in (0, 6, 12):
        rows = curved.sample(4_000, random_state=1, do={"dose": pair["x"][at]})["response"]
        # The tolerance is four standard errors of 300 draws.
        assert pair["y"][at] == pytest.approx(rows.mean(), abs=4 * rows.std() / np.sqrt(300))
    below = {(one["from"], one["to"]) for one in found["pairs"]}
    assert (1, 0) not in below
    assert not any(to == 3 for _, to in below), "a category has no mean"


def test_curves_of_a_category_have_its_levels(curved):
    pairs = Answers.of(curved).effect_curves["pairs"]
    labels = [one["labels"] for one in pairs if one["from"] == 3]
    assert labels
    assert all(one == ["high", "low", "middle"] for one in labels)


def test_curves_over_time_are_responses_with_intervals():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[1:, 1] += X[:-1, 0]
    late = OrderSearch(lags=1, random_state=0, verbose=False).fit(X)
    found = Answers.of(late).effect_curves
    intervals = late.response_intervals(10)
    assert (found["over"], found["variables"]) == ("time", 2)
    for pair in found["pairs"]:
        own = intervals.loc[(f"x{pair['from']}", f"x{pair['to']}")]
        for name, column in (("y", "estimate"), ("low", "low"), ("high", "high")):
            assert pair[name] == pytest.approx(own[column].tolist(), rel=1e-3, abs=1e-9)


def test_linear_equations_have_numbers_and_no_curves(model):
    assert Answers.of(model).effect_curves is None


@pytest.fixture(scope="module", params=["lines", "curves"])
def file(request):
    made = request.getfixturevalue("model" if request.param == "lines" else "curved")
    return json.dumps(Answers.of(made).facts())


def test_damaged_answers_are_refused_or_harmless(file):
    """If one value of the file is replaced, the answers still suit the page or are refused."""
    reads = []

    @settings(max_examples=100)
    @given(st.data())
    def damaged(data):
        facts = json.loads(file)
        path, node = [], facts
        while isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            path.append(data.draw(st.sampled_from(keys)))
            node = node[path[-1]]
        holder = facts
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = data.draw(st.sampled_from([None, -1, 99, "x", [], {}, 1.5, True]))
        try:
            read = Answers.read(facts, 7)
        except (ValueError, TypeError, KeyError, AttributeError):
            return
        reads.append(read)
        effects, pag = read.effects, read.pag
        places = [*effects["from"], *effects["to"]] if effects else []
        places += [end for edge in (pag["edges"] if pag else []) for end in edge[:2]]
        for curve in read.effect_curves["pairs"] if read.effect_curves else []:
            places += [curve["from"], curve["to"]]
            assert len(curve["x"]) == len(curve["y"])
        assert all(0 <= place < 7 for place in places)

    damaged()
    assert 10 < len(reads) < 90


def test_the_strongest_associations_come_first(model):
    bootstrap = bootstrap_of(model)
    evidence = Evidence.of(model, bootstrap=bootstrap)
    strongest = story_of(model, evidence, None, 0)["strongest"]
    shares = evidence.direction_probabilities
    assert len(strongest) == 5
    assert list(shares[strongest]) == sorted(shares, reverse=True)[:5]


def test_the_first_card_counts_what_directions_rest_on(model):
    points = dict(story_of(model, Evidence.of(model), 100, 2)["points"])
    for basis in set(model.arrow_basis_):
        count = model.arrow_basis_.count(basis)
        assert f"{count} on {basis}" in points["What the directions rest on"]
    assert "2 warnings" in points["Warnings"]
    assert "not ruled out" in points["Hidden causes"]


def test_a_graph_without_arcs_has_its_own_sentence():
    model = model_of(np.zeros((3, 3)))
    story = story_of(model, Evidence.of(model), 100, 0)
    assert story["found"].startswith("No arc was found among 3 variables from 100 rows")
    assert story["strongest"] == []


def test_columns_at_earlier_times_are_no_further_variables():
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = OrderSearch(lags=2, random_state=0, verbose=False).fit(X)
    assert "among 3 variables" in story_of(model, Evidence.of(model), 98, 0)["found"]


def test_the_code_of_a_time_series_names_its_columns():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    table = table.assign(day=range(60), patient=["u", "v"] * 30)
    model = OrderSearch(lags=1).fit(table, series="patient", time="day")
    assert code_for(model).endswith("(lags=1).fit(table, series='patient', time='day')")


def test_groups_are_given_or_follow_from_the_tiers():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = VarianceSort(knowledge={"tiers": [[1], [0, 2]]}).fit(X)
    assert groups_of(model) == (["tier 1", "tier 2"], [1, 0, 1])
    named = clone(model).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert groups_of(named) == groups_of(model)
    assert groups_of(model, {0: "a", 2: "b"}) == (["a", "b"], [0, None, 1])
    with pytest.raises(DataError, match="'other', which is not a variable of the model"):
        groups_of(model, {"other": "a"})


@pytest.mark.parametrize(
    ("table", "file"),
    [("data/my trial.v2.csv", "my-trial"), ("C:\\x\\été.csv", "été"), ("..", "graph")],
)
def test_pictures_are_named_after_the_data(model, table, file):
    assert page_data(model, Evidence(), {"table": table})["file"] == file


def test_many_variables_have_no_listed_effects():
    model = model_of(random_dag(61, 80))
    assert Answers.of(model).effects is None


def test_the_scores_of_the_noise_decision_are_reported(model):
    model = copy(model)
    model.noise_scores_ = {"arcs_refuted": 0.0, "arcs_bent": 0.25}
    assert _noise_scores(model) == (
        "Share of arcs that contradict independent noise: 0%. Share of arcs that a curve explains "
        "far better than a line: 25%."
    )
