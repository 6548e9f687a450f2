"""Evidence: standard errors of least squares, findings, and probabilities of a bootstrap."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from graphs_to_report import bootstrap_of, model_of, other_pair, random_dag, set_graph
from scipy import stats

from cosmodag import EmptyGraph, OrderSearch, VarianceSort, load
from cosmodag.errors import DataError
from cosmodag.report import Evidence, standard_errors
from cosmodag.report.facts import page_data

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


def test_with_one_parent_they_are_those_of_scipy():
    random = np.random.default_rng(0)
    a = random.normal(size=80) + 3
    b = 2 * a + random.normal(size=80)
    model = EmptyGraph().fit(pd.DataFrame({"a": a, "b": b}))
    set_graph(model, np.array([[0, 2.0], [0, 0]]))
    (error,) = Evidence.of(model, pd.DataFrame({"a": a, "b": b})).errors
    assert error == pytest.approx(stats.linregress(a, b).stderr, rel=1e-5)


def test_intervals_have_the_nominal_coverage():
    """95% intervals contain the true weight in about 95% of tables."""
    truth = np.array([[0, 0.8, 0.5], [0, 0, -0.7], [0, 0, 0]])
    random = np.random.default_rng(1)
    held = []
    for _ in range(200):
        X = random.normal(size=(60, 3)) @ np.linalg.inv(np.eye(3) - truth)
        model = EmptyGraph(scale="none").fit(X)
        set_graph(model, truth)
        errors = standard_errors(model, X)
        edges = model.edges_
        for v in (1, 2):
            parents = edges.row[edges.col == v]
            centred = X - X.mean(0)
            found = np.linalg.lstsq(centred[:, parents], centred[:, v], rcond=None)[0]
            held += list(np.abs(found - truth[parents, v]) < 1.98 * errors[edges.col == v])
    assert 0.92 < np.mean(held) < 0.98


def test_recovered_data_gives_the_same_evidence_as_the_data():
    model = model_of(random_dag(8, 14), rows=200)
    frame = pd.DataFrame(
        model.preparation_.undo(model.training_data()), columns=model.feature_names_in_
    )
    from_residuals, from_data = Evidence.of(model), Evidence.of(model, frame)
    np.testing.assert_allclose(from_residuals.errors, from_data.errors, rtol=1e-4)
    assert [one.name for one in from_residuals.findings] == [one.name for one in from_data.findings]


def test_redundant_parents_and_few_rows_have_none():
    x = np.random.default_rng(0).normal(size=(20, 1))
    X = np.hstack([x, 2 * x, x + 1])
    model = EmptyGraph().fit(X)
    set_graph(model, np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]))
    assert np.isnan(standard_errors(model, X)).all()
    wide = np.random.default_rng(0).normal(size=(3, 4))
    model = EmptyGraph().fit(wide)
    set_graph(model, np.triu(np.ones((4, 4)), 1))
    errors = standard_errors(model, wide)
    assert np.isnan(errors[model.edges_.col == 3]).all()
    assert np.isfinite(errors[model.edges_.col == 1]).all()


def test_rows_in_which_a_variable_was_set_do_not_count():
    random = np.random.default_rng(3)
    a = random.normal(size=300)
    b = 0.8 * a + random.normal(size=300)
    was_set = np.arange(300) >= 200
    b[was_set] = random.normal(size=100) * 9
    table = pd.DataFrame({"a": a, "b": b})
    targets = np.column_stack([np.zeros(300, bool), was_set])
    model = EmptyGraph().fit(table, interventions=targets)
    set_graph(model, np.array([[0, 0.8], [0, 0]]))
    (error,) = Evidence.of(model, table).errors
    expected = stats.linregress(a[:200], b[:200]).stderr
    assert error == pytest.approx(expected, rel=1e-4)


def test_a_table_with_missing_values_is_treated_as_in_the_fit():
    X = np.random.default_rng(0).normal(size=(50, 3)) @ [[1, 2, 0], [0, 1, 0], [0, 0, 1]]
    X[:5, 2] = np.nan
    model = VarianceSort(missing="drop").fit(X)
    evidence = Evidence.of(model, X)
    assert len(evidence.errors) == model.edges_.nnz
    told = page_data(model, evidence)["choices"]
    (missing,) = [choice["text"] for choice in told if choice["title"] == "Missing values"]
    assert missing.startswith("5 entries (3.3%)")


def test_probabilities_belong_to_arcs():
    model = model_of(random_dag(6, 8))
    bootstrap = bootstrap_of(model)
    evidence = Evidence.of(model, bootstrap=bootstrap)
    edges = model.edges_
    for name in ("edge_probabilities", "direction_probabilities"):
        shares = getattr(bootstrap, name)[edges.row, edges.col]
        np.testing.assert_array_equal(getattr(evidence, name), shares)
    assert evidence.resamples == 50
    assert evidence.missed == [(*other_pair(model), 0.8)]
    table = evidence.table(model)
    assert table["standardised"].abs().is_monotonic_decreasing
    np.testing.assert_array_equal(table["p_edge"].sort_index(), evidence.edge_probabilities)


def test_the_bootstrap_of_another_model_is_refused():
    model = model_of(random_dag(4, 5))
    with pytest.raises(DataError, match="3 variables"):
        Evidence.of(model, bootstrap=SimpleNamespace(edge_probabilities=np.zeros((3, 3)), n=9))


def test_without_the_findings_of_its_fit_a_time_series_counts_as_not_diagnosed(tmp_path):
    walk = np.random.default_rng(0).normal(size=(80, 2)).cumsum(axis=0)
    model = OrderSearch(lags=1, random_state=0).fit(walk)
    model.save(tmp_path / "model.safetensors", residuals=True)
    loaded = load(tmp_path / "model.safetensors")
    assert Evidence.of(model).findings
    assert Evidence.of(loaded).findings is None
