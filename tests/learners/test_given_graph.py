"""A graph of the user: its effects are regressions, and nothing about it is learnt."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cosmodag import GivenGraph, given, load
from cosmodag.errors import CosmodagWarning, DataError

ARCS = [("age", "dose"), ("age", "weight"), ("site", "dose"), ("site", "weight")]
ARCS += [("dose", "weight"), ("visits", "weight")]
TEXT = "dag {" + " ".join(f"{cause} -> {effect}" for cause, effect in ARCS) + "}"


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 150
    age = 50 + 9 * random.normal(size=n)
    site, visits = random.choice(["north", "south", "west"], n), random.poisson(2, n)
    dose = (0.05 * (age - 50) + (site == "south") + random.normal(size=n) > 0).astype(int)
    weight = 3 * dose - 0.2 * age + 2 * (site == "west") + visits + random.normal(size=n)
    frame = {"weight": weight, "day": "2020-01-01", "site": site, "dose": dose, "age": age}
    return pd.DataFrame({**frame, "visits": visits})


def regression(table, cause, effect, others):
    """Least squares with indicators of levels: the coefficient, and the ends of its interval."""
    columns = [np.ones(len(table)), table[cause]]
    for name in others:
        values = table[name]
        is_text = not pd.api.types.is_numeric_dtype(values)
        columns += [values == one for one in sorted(set(values))[1:]] if is_text else [values]
    X, y = np.column_stack(columns).astype(float), table[effect].to_numpy(float)
    coefficients = np.linalg.solve(X.T @ X, X.T @ y)
    freedom = len(y) - X.shape[1]
    variance = np.sum((y - X @ coefficients) ** 2) / freedom * np.linalg.inv(X.T @ X)[1, 1]
    width = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    return coefficients[1] + np.array([0.0, -width, width])


def test_effects_are_regressions(table):
    model = given(TEXT).fit(table)
    expected = regression(table, "dose", "weight", ["age", "site", "visits"])
    for X in (None, table):
        found = model.effect("dose", "weight", X=X)
        assert [found.estimate, found.low, found.high] == pytest.approx(expected, rel=1e-6)
    assert set(found.adjustment) == {"age", "site", "visits"}
    assert (found.start, found.end, found.identified) == (0.0, 1.0, True)
    assert found.paths == (("dose", "weight"),)
    assert found.rests_on == ("stated",)
    numbers = given({"weight": ["dose", "age"], "dose": ["age"]}).fit(table)
    found = numbers.effect("dose", "weight")
    expected = regression(table, "dose", "weight", ["age"])
    assert [found.estimate, found.low, found.high] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "graph",
    [
        TEXT,
        nx.DiGraph(ARCS),
        {"dose": ["age", "site"], "weight": ("age", "site", "dose", "visits")},
        pd.DataFrame(ARCS, columns=["cause", "effect"]),
    ],
    ids=["DAGitty", "networkx", "parents", "arcs"],
)
def test_the_fitted_graph_is_the_given_one(table, graph):
    model = given(graph).fit(table)
    assert {(row.cause, row.effect) for row in model.arcs_.itertuples()} == set(ARCS)
    assert set(model.arrow_basis_) == {"stated"}
    assert len(model.cpdag_.undirected) == 0
    assert sorted(model.names_) == ["age", "dose", "site", "visits", "weight"]


def test_a_wrong_graph_is_rejected_though_it_was_not_learnt(table):
    numbers = table.drop(columns=["site", "day"])
    wrong = given({"weight": ["visits"], "dose": [], "age": ["dose"]}).fit(numbers)
    found = wrong.validate()
    assert found.rejected
    assert not found.same_rows


def test_a_saved_given_graph_answers_the_same(table, tmp_path):
    model = given(TEXT).fit(table)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, GivenGraph)
    mine, theirs = (one.effect("dose", "weight", X=table) for one in (model, again))
    assert mine == theirs


def test_isolated_nodes_are_columns_of_the_fit(table):
    model = given("dag { dose -> weight; age }").fit(table)
    assert sorted(model.names_) == ["age", "dose", "weight"]


def test_resamples_hold_the_graph(table):
    found = given(TEXT).fit(table).effect("dose", "weight", bootstrap=3)
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (
            "dag { dose -> weight; diet -> weight }",
            "The graph has 'diet', but the table has no such column",
        ),
        ("dag { dose -> weight; weight -> dose }", "form a cycle"),
        ({"dose": "age"}, r"parents of 'dose' are 'age': give a list"),
    ],
)
def test_what_cannot_be_fitted_is_refused(table, graph, words):
    with pytest.raises(DataError, match=words):
        given(graph).fit(table)


def test_nothing_is_warned_of_that_concerns_learning(table, recwarn):
    given(TEXT).fit(table)
    assert not [one for one in recwarn if issubclass(one.category, CosmodagWarning)]
