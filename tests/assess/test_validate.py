"""Tests of a graph: true graphs pass, wrong ones fail, and the verdict says why."""

import json
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from cosmodag import Knowledge, OrderSearch, VarianceSort
from cosmodag.assess import question_inputs as inputs
from cosmodag.assess import validate_graph
from cosmodag.assess.independences import (
    holm,
    implied,
    partial_correlation,
    residual_products,
    run_tests,
)
from cosmodag.assess.question_inputs import fit_quietly
from cosmodag.assess.validation import shuffled_shares
from cosmodag.data.diagnose.scale import standardised
from cosmodag.errors import DataError
from cosmodag.search.moments import Moments

D = 8


def draw(seed, n=1_000, noise="normal", curved=False):
    """Draw a DAG whose arcs follow the order of the columns, and rows from it."""
    random = np.random.default_rng(seed)
    arcs = np.triu(random.random((D, D)) < 0.35, 1)
    weights = arcs * random.choice([-1, 1], (D, D)) * random.uniform(0.5, 1.2, (D, D))
    X = np.zeros((n, D))
    for v in range(D):
        causes = np.tanh(2 * X) if curved else X
        X[:, v] = causes @ weights[:, v] + getattr(random, noise)(size=n)
    return arcs, X


def with_arcs_removed(arcs, random):
    tails, heads = np.nonzero(arcs)
    gone = random.choice(len(tails), max(1, len(tails) // 5), replace=False)
    wrong = arcs.copy()
    wrong[tails[gone], heads[gone]] = False
    return wrong


@pytest.mark.parametrize(
    ("test", "noise", "curved"),
    [
        ("partial-correlation", "normal", False),
        ("residuals", "laplace", False),
        ("curved", "normal", True),
    ],
)
def test_right_graphs_stand_and_wrong_ones_fall(test, noise, curved):
    random = np.random.default_rng(0)
    right, wrong = [], []
    for seed in range(12):
        arcs, X = draw(seed, noise=noise, curved=curved)
        right.append(validate_graph(arcs, X, test=test, shuffles=0).rejected)
        graph = with_arcs_removed(arcs, random)
        wrong.append(validate_graph(graph, X, test=test, shuffles=0).rejected)
    assert sum(right) <= 1
    assert sum(wrong) >= 10


def test_p_values_are_uniform_where_independence_holds():
    random = np.random.default_rng(1)
    p = []
    for _ in range(200):
        X = random.normal(size=(60, 3)) @ [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
        for check in (
            partial(partial_correlation, Moments.of(X)),
            partial(residual_products, standardised(X), None, False),
        ):
            p.append(check(2, np.array([1]), np.array([0]))[1][0])
    for kind in (p[::2], p[1::2]):
        assert stats.kstest(kind, "uniform").pvalue > 0.001


def test_each_unjoined_pair_is_tested_once():
    arcs, X = draw(3)
    pairs = {frozenset((v, int(u))) for v, others, _ in implied(arcs, np.arange(D)) for u in others}
    assert len(pairs) == D * (D - 1) // 2 - arcs.sum()
    tested = run_tests(arcs, np.arange(D), partial(partial_correlation, Moments.of(X)))
    assert len(tested.p_values) == len(pairs)


def test_partial_correlations_are_those_of_residuals():
    _, X = draw(4, n=50)
    centred = X - X.mean(axis=0)
    given = centred[:, [0, 1]]
    left = centred - given @ np.linalg.lstsq(given, centred, rcond=None)[0]
    r = np.corrcoef(left[:, 5], left[:, 3])[0, 1]
    t = r * np.sqrt((50 - 4) / (1 - r**2))
    found, p = partial(partial_correlation, Moments.of(X))(5, np.array([3]), np.array([0, 1]))
    assert found[0] == pytest.approx(t)
    assert p[0] == pytest.approx(2 * stats.t.sf(abs(t), 46))


def test_constant_and_determined_columns_are_left_out():
    _, X = draw(5, n=100)
    X[:, 2] = 1.0
    X[:, 6] = X[:, 0]
    found = validate_graph(np.zeros((D, D)), X, shuffles=3)
    tested = {frozenset(pair) for pair in found.independences[["first", "second"]].to_numpy()}
    assert not any(2 in pair for pair in tested)
    assert np.isfinite(found.independences["p"]).all()


def test_the_correction_is_that_of_holm():
    p = np.random.default_rng(0).random(30) ** 3
    corrected = holm(p)
    order = np.argsort(p)
    assert (np.diff(corrected[order]) >= 0).all()
    assert (corrected >= p).all()
    assert corrected.min() == pytest.approx(min(1, 30 * p.min()))
    assert len(holm(np.zeros(0))) == 0


def test_a_right_graph_is_better_than_its_shuffles():
    arcs, X = draw(6)
    check = partial(partial_correlation, Moments.of(X))
    shares = shuffled_shares(arcs, np.arange(D), check, 30, np.random.default_rng(0), np.inf)
    assert (shares > validate_graph(arcs, X, shuffles=0).failing_share).all()
    found = validate_graph(arcs, X, shuffles=30)
    assert found.shuffled_p == pytest.approx(1 / 31)
    late = shuffled_shares(arcs, np.arange(D), check, 30, np.random.default_rng(0), 0.0)
    assert len(late) == 1


@pytest.fixture(scope="module")
def model():
    _, X = draw(7)
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    return OrderSearch(noise="gaussian", random_state=0, verbose=False).fit(table)


def test_a_fit_is_validated_on_new_rows_held_out_rows_or_its_own(model):
    _, new = draw(7, n=500)
    new = pd.DataFrame(new, columns=list("abcdefgh"))
    fresh = model.validate(new, shuffles=20)
    assert not fresh.same_rows
    assert not fresh.rejected
    assert fresh.rows == 500
    own = model.validate(shuffles=20)
    assert own.same_rows
    assert "same rows" in own.verdict
    held = model.validate(split=0.4, shuffles=0)
    assert not held.same_rows
    assert held.rows == 400
    facts = json.loads(json.dumps(own.facts()))
    assert facts["text"] == str(own)
    assert facts["verdict"] == own.verdict


def test_a_wrong_fit_is_rejected_in_words(model):
    _, X = draw(7)
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    tiers = Knowledge(tiers=[["h"], ["a"], ["g"], ["b"], ["f"], ["c", "d", "e"]])
    wrong = OrderSearch(noise="gaussian", threshold=0.4, knowledge=tiers, verbose=False).fit(table)
    found = wrong.validate(table, shuffles=10)
    assert found.rejected
    assert "The data contradict the graph" in found.verdict
    assert len(found.failed) >= 1
    assert str(found.failed.iloc[0]["first"]) in found.verdict


def test_arcs_that_are_not_needed_are_named():
    arcs, X = draw(8)
    u, v = map(int, np.argwhere(np.triu(~arcs, 1))[0])
    more = arcs.copy()
    more[u, v] = True
    found = validate_graph(more, X, shuffles=0)
    named = set(zip(found.needless["cause"], found.needless["effect"], strict=True))
    assert (u, v) in named
    assert len(named) <= 2
    first = found.needless.iloc[0]
    assert f"not needed, such as {first['cause']:.0f} → {first['effect']:.0f} (" in str(found)


def test_shuffled_graphs_that_fit_as_well_are_counted_in_words():
    arcs, X = draw(6)
    found = replace(validate_graph(arcs, X, shuffles=0), failing_share=0.1)
    one = replace(found, shuffled=np.array([0.1, *[0.5] * 39]))
    assert "1 of 40 graphs with shuffled names fits as well." in str(one)
    assert "1 of 1 graph with" in str(replace(found, shuffled=np.array([0.1])))
    most = replace(found, shuffled=np.full(30, 0.05))
    assert "30 of 30 graphs with shuffled names fit as well: passing the tests" in str(most)
    contradicted = replace(most, independences=found.independences.assign(p_corrected=0.0))
    contradicted = replace(contradicted, p_value=0.0)
    assert "fit as well: this graph is hardly better than a guess." in str(contradicted)


def test_a_complete_graph_implies_nothing():
    _, X = draw(9, n=100)
    found = validate_graph(np.triu(np.ones((D, D)), 1), X)
    assert np.isnan(found.p_value)
    assert not found.rejected
    assert "implies no independence" in str(found)


def test_graphs_of_names_and_what_is_refused():
    arcs, X = draw(10)
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    graph = nx.relabel_nodes(nx.DiGraph(arcs.astype(int)), dict(enumerate("abcdefgh")))
    by_name, by_place = (validate_graph(one, table, shuffles=0) for one in (graph, arcs))
    assert by_name.p_value == pytest.approx(by_place.p_value)
    renamed = table.rename(columns={name: f"x{place}" for place, name in enumerate("abcdefgh")})
    graph_of_numbers = nx.relabel_nodes(graph, dict(zip("abcdefgh", renamed.columns, strict=True)))
    found = validate_graph(graph_of_numbers, renamed[renamed.columns[::-1]], shuffles=0)
    assert found.p_value == pytest.approx(by_place.p_value)
    with pytest.raises(DataError, match="'z'"):
        validate_graph(nx.DiGraph([("a", "z")]), table)
    with pytest.raises(DataError, match="2 nodes without names"):
        validate_graph(np.zeros((2, 2)), table)
    with pytest.raises(DataError, match="DiGraph is needed"):
        validate_graph(graph.to_undirected(), table)
    with pytest.raises(DataError, match="cycle"):
        validate_graph(np.ones((D, D)) - np.eye(D), table)
    model = VarianceSort().fit(table)
    for settings in (
        {"split": 2},
        {"level": 0},
        {"test": "magic"},
        {"shuffles": -1},
        {"split": "a"},
    ):
        with pytest.raises(DataError, match=next(iter(settings))):
            model.validate(**settings)
    with pytest.raises(DataError, match="not both"):
        model.validate(table, split=0.5)
    with pytest.raises(DataError, match="model was fitted to"):
        model.validate(table[list("ab")])


def test_rows_in_which_a_variable_was_set_do_not_count_for_it():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3)) @ [[1, 1, 1], [0, 1, 1], [0, 0, 1]]  # 0 → 1 → 2
    X[300:, 2] = 5 * X[300:, 0]  # set by intervention to values that depend on variable 0
    targets = [None] * 300 + ["c"] * 300
    table = pd.DataFrame(X, columns=list("abc"))
    order = Knowledge(tiers=[["a"], ["b"], ["c"]])
    model = OrderSearch(noise="gaussian", knowledge=order, random_state=0, verbose=False)
    model.fit(table, interventions=targets)
    assert model.adjacency_[0, 2] == 0
    assert not model.validate(table, interventions=targets, shuffles=0).rejected
    assert model.validate(table, shuffles=0).rejected


@pytest.mark.parametrize("kinds", [{"c": "continuous"}, ["continuous"] * 5])
def test_splits_have_the_kinds_of_the_fit(kinds, monkeypatch):
    """As a count, c would be in other equations."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 5)), columns=list("abcde"))
    table["c"] = random.poisson(np.exp(0.3 * table["a"]))
    model = OrderSearch(kinds=kinds, random_state=0).fit(table)
    parts = []
    monkeypatch.setattr(
        inputs, "fit_quietly", lambda *part: parts.append(fit_quietly(*part)) or parts[-1]
    )
    model.validate(split=0.3, shuffles=2)
    (part,) = parts
    assert [one.kind for one in part.fitted_.kinds] == ["continuous"] * 5


def test_labels_of_a_graph_are_matched_and_sparse_graphs_are_read():
    arcs, X = draw(10)
    names = list("abcdefgh")
    table, expected = pd.DataFrame(X, columns=names), validate_graph(arcs, X, shuffles=0).p_value
    labelled = pd.DataFrame(arcs.astype(int), index=names, columns=names)
    shuffled = labelled.loc[names[::-1], names[::-1]]
    numbered = nx.DiGraph(arcs.astype(int))
    for graph, rows in ((shuffled, table), (sparse.csr_array(arcs), table), (numbered, X)):
        assert validate_graph(graph, rows, shuffles=0).p_value == pytest.approx(expected)


@pytest.fixture(scope="module")
def always_set():
    """Columns a → c ← b, of which b was always set, to values near those of a."""
    random = np.random.default_rng(0)
    a, noise = random.normal(size=(2, 300))
    b = a + 0.5 * random.normal(size=300)
    return pd.DataFrame({"a": a, "b": b, "c": a + b + noise, "d": random.normal(size=300)})


@pytest.mark.parametrize("test", ["partial-correlation", "residuals", "curved"])
def test_equations_of_columns_that_were_always_set_are_not_tested(always_set, test):
    learner = OrderSearch(knowledge={"tiers": [["a"], ["b", "c", "d"]]}, random_state=0)
    model = learner.fit(always_set, interventions=[["b"]] * 300)
    assert not model.validate(test=test, shuffles=0).rejected
    held = model.validate(always_set, interventions=[["b"]] * 300, test=test, shuffles=0)
    assert not held.rejected
    assert "b" not in held.independences["second"].tolist()


def test_arcs_into_a_column_that_was_always_set_in_new_rows_are_not_tested(always_set):
    model = OrderSearch(knowledge={"tiers": [["a"], ["b", "c", "d"]]}, random_state=0)
    model.fit(always_set)
    set_at_random = always_set.assign(b=np.random.default_rng(1).normal(size=300))
    found = model.validate(set_at_random, interventions=[["b"]] * 300, shuffles=0)
    assert found.arcs.set_index(["cause", "effect"])["p"].isna()["a", "b"]
    assert "b" not in found.needless["effect"].tolist()


def test_new_rows_may_set_a_variable_that_must_have_a_cause(always_set):
    known = {"required_edges": [("a", "b")]}
    model = OrderSearch(knowledge=known, random_state=0).fit(always_set)
    found = model.validate(always_set, interventions=[["b"]] * 300, shuffles=0)
    assert found.arcs.set_index(["cause", "effect"])["p"].isna()["a", "b"]
    assert model.knowledge == known


def test_fits_to_part_of_a_table_know_which_columns_were_always_set(always_set, monkeypatch):
    parts = []

    def fitted(*part):
        parts.append(fit_quietly(*part))
        return parts[-1]

    monkeypatch.setattr(inputs, "fit_quietly", fitted)
    model = OrderSearch(random_state=0).fit(always_set, interventions=[["b"]] * 300)
    model.validate(split=0.3, shuffles=0)
    assert len(parts) == 1
    assert not any(effect == "b" for part in parts for _, effect, _ in named_arcs(part))


def named_arcs(model):
    return model.arcs_[["cause", "effect", "weight"]].itertuples(index=False)


def test_held_out_rows_may_all_have_set_a_column(always_set):
    targets = [["b"]] * 297 + [[]] * 3
    model = OrderSearch(random_state=0).fit(always_set, interventions=targets)
    for seed in range(3):
        found = model.validate(split=0.1, shuffles=0, random_state=seed)
        assert not found.rejected


def test_proportional_parents_in_many_rows_are_no_error():
    random = np.random.default_rng(0)
    a, noise, free = random.normal(size=(3, 200_000))
    X = standardised(np.column_stack([*(a * size for size in (1.1, 2.1, 3.1)), a + noise, free]))
    z, p = residual_products(X, None, False, 3, np.array([4]), np.arange(3))
    alone = residual_products(X, None, False, 3, np.array([4]), np.arange(1))
    assert z == pytest.approx(alone[0], rel=1e-6)
    assert p == pytest.approx(alone[1], rel=1e-6)
