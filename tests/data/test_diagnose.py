"""Each finding is reported exactly if its cause is present."""

import json
import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cosmodag import EmptyGraph, OrderSearch, simulate
from cosmodag.cli import main
from cosmodag.data.diagnose import (
    Finding,
    before_fit,
    diagnose,
    r2_sortability,
    variance_inflation,
    varsortability,
    warn_about,
)
from cosmodag.errors import DataError, DataWarning, ScaleWarning
from cosmodag.io import Graph

NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(200, 4)) * [1.0, 1.5, 2.0, 3.0]


def by_name(findings):
    return {finding.name: finding for finding in findings}


def test_nothing_is_found_in_ordinary_data(X):
    assert before_fit(X, NAMES) == []
    assert [finding.severity for finding in diagnose(X, NAMES)] == ["notice", "notice"]


def test_constant(X):
    X[:, 1] = 1e-300
    finding = by_name(before_fit(X, NAMES))["constant"]
    assert finding.columns == ("b",)
    assert finding.severity == "warning"
    assert "'b'" in finding.sentence


def test_duplicates_come_in_groups(X):
    X = np.column_stack([X, X[:, 0], X[:, 2], X[:, 0]])
    names = [*NAMES, "a2", "c2", "a3"]
    finding = by_name(before_fit(X, names))["duplicate"]
    assert finding.columns == ("a", "a2", "a3", "c", "c2")
    assert finding.value == 3
    assert "'a', 'a2', 'a3'; one of 'c', 'c2'." in finding.sentence


def test_columns_that_differ_in_one_late_row_are_not_duplicates(X):
    twin = X[:, 0].copy()
    twin[-1] += 1e-12
    assert "duplicate" not in by_name(before_fit(np.column_stack([X, twin]), [*NAMES, "twin"]))


def test_scale_ratio(X):
    finding = by_name(before_fit(X * [1, 1, 1, 1e5], NAMES))["scale_ratio"]
    assert finding.columns == ("a", "d")
    # With 200 rows, the standard error of each standard deviation is 5%.
    assert finding.value == pytest.approx(3e5, rel=0.2)


def test_equal_scale(X):
    assert "equal_scale" in by_name(before_fit(X / X.std(axis=0), NAMES))
    assert "equal_scale" in by_name(before_fit(X / X.std(axis=0, ddof=1) * 7 + 3, NAMES))


def test_few_rows(X):
    finding = by_name(diagnose(X[:3], NAMES))["few_rows"]
    assert finding.value == 0.75
    assert "3 rows for 4 columns" in finding.sentence
    assert "collinear" not in by_name(diagnose(X[:3], NAMES))


def test_outliers(X):
    X[17, 2] = 400.0
    finding = by_name(before_fit(X, NAMES))["outliers"]
    assert finding.columns == ("c",)
    # The MAD is estimated from 200 draws of N(0, 2²).
    assert finding.value == pytest.approx(200, rel=0.3)


def test_an_outlier_is_seen_in_a_table_too_long_to_take_all_medians_of():
    X = np.random.default_rng(0).normal(size=(50_000, 2))
    X[12_345, 1] = -100.0
    assert by_name(before_fit(X, NAMES[:2]))["outliers"].columns == ("b",)


def test_values_few_counted_and_running(X):
    X[:, 0] = np.arange(200) % 2
    X[:, 1] = np.arange(200) * 3 + 7
    X[:, 2] = np.random.default_rng(1).poisson(6, 200)
    X[:, 3] = np.arange(200) % 4
    findings = by_name(before_fit(X, NAMES))
    assert findings["binary"].columns == ("a",)
    assert findings["running_id"].columns == ("b",)
    assert findings["counts"].columns == ("c",)
    assert findings["few_values"].columns == ("d",)
    assert {finding.severity for finding in findings.values()} == {"warning"}


def test_shuffled_ids_are_ids_and_whole_measurements_are_not():
    random = np.random.default_rng(0)
    ids = random.permutation(200).astype(float)
    ages = random.normal(45, 12, 200).round()
    assert [f.name for f in before_fit(np.column_stack([ids, ages]), NAMES[:2])] == ["running_id"]


def test_ids_with_a_gap_after_the_first_rows_are_ids():
    ids = np.delete(np.arange(230.0), [40, 41, 99])
    ages = np.random.default_rng(0).normal(45, 12, len(ids))
    assert [f.name for f in before_fit(np.column_stack([ids, ages]), NAMES[:2])] == ["running_id"]


@pytest.mark.parametrize("constants", [1, 2, 3])
def test_a_graph_with_arcs_of_constant_columns_only_has_no_sortability(constants):
    table = np.random.default_rng(0).normal(size=(60, 3))
    table[:, :constants] = 2.0
    found = by_name(diagnose(table, NAMES[:3], graph=[[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    assert "constant" in found
    assert not {"varsortability", "r2_sortability"} & found.keys()


def test_a_graph_is_matched_by_name_where_it_has_names():
    random = np.random.default_rng(0)
    a, b, c = random.normal(size=(3, 200))
    table = pd.DataFrame({"a": a, "b": a + b, "c": a + 2 * b + c})
    frame = pd.DataFrame(np.eye(3, k=1), table.columns, table.columns)
    shuffled = frame.loc[["c", "a", "b"], ["c", "a", "b"]]
    plain = pd.DataFrame(frame.to_numpy())
    for graph in (frame, shuffled, plain, sparse.csr_array(frame.to_numpy())):
        assert by_name(diagnose(table, graph=graph))["varsortability"].value == 1
    names = {"a": "x0", "b": "x1", "c": "x2"}  # also the names of columns that have none
    renamed, graph = table.rename(columns=names)[["x2", "x0", "x1"]], frame.rename(names, axis=0)
    found = by_name(diagnose(renamed, graph=graph.rename(names, axis=1)))
    assert found["varsortability"].value == 1


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_collinear(X, noise):
    total = X[:, 0] - 2 * X[:, 1] + noise * np.random.default_rng(1).normal(size=200)
    finding = by_name(diagnose(np.column_stack([X, 1e4 * total]), [*NAMES, "total"]))["collinear"]
    assert finding.columns == ("a", "b", "total")
    assert finding.severity == ("warning" if noise == 0 else "notice")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_exact_combination_is_found_in_every_fit(X, dtype):
    total = 1e4 * (X[:, 2] - 2 * X[:, 0]) + 5
    table = np.column_stack([total, X, X[:, 1] * -0.45]).astype(dtype)
    finding = by_name(before_fit(table, ["total", *NAMES, "b in pounds"]))["collinear"]
    assert finding.severity == "warning"
    assert finding.columns == ("total", "a", "b", "c", "b in pounds")
    assert (
        "'c' is an exact linear combination of 'total', 'a' (the same holds for 1 more)"
        in finding.sentence
    )


def test_a_fit_warns_of_an_exact_combination(X):
    table = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(DataWarning, match="'x4' is an exact linear combination of 'x0', 'x1', like"):
        EmptyGraph().fit(table)


def test_an_exact_combination_of_some_rows_only_is_none():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    total = X[:, 0] + X[:, 1]
    assert "collinear" in by_name(before_fit(np.column_stack([X, total]), NAMES))
    total[4321] += 1e-3
    assert "collinear" not in by_name(before_fit(np.column_stack([X, total]), NAMES))


def test_a_duplicate_is_not_also_reported_as_a_combination(X):
    assert "collinear" not in by_name(before_fit(np.column_stack([X, X[:, 0]]), [*NAMES, "a2"]))


def test_combinations_are_not_looked_for_where_rows_are_few(X):
    assert "collinear" not in by_name(before_fit(X[:4], NAMES))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standardised_columns_have_no_order_by_variance(dtype):
    chain = np.eye(3, k=1)
    for seed in range(60):
        X = simulate.sample_linear(chain, 100, np.random.default_rng(seed)).astype(dtype)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        assert varsortability(X, chain) == 0.5
        assert not {"varsortability", "variance_order"} & by_name(diagnose(X, graph=chain)).keys()


def test_variance_inflation_is_the_diagonal_of_the_inverse(X):
    X = X @ np.random.default_rng(1).normal(size=(4, 4))
    expected = np.diag(np.linalg.inv(np.corrcoef(X, rowvar=False)))
    np.testing.assert_allclose(variance_inflation(X), expected, rtol=1e-9)
    inflation = variance_inflation(np.column_stack([X, X[:, 0], np.ones(200)]))
    assert inflation[5] == 1
    assert (inflation[[0, 4]] > 1e10).all()
    assert (inflation[1:4] < 1e10).all()


@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF4"])
@pytest.mark.parametrize("noise", ["gauss", "exp", "gumbel"])
def test_the_papers_data_raise_no_alarm(graph, noise):
    data = simulate.load(f"n1000_d30_{graph}_{noise}", seed=1)
    assert [f.name for f in before_fit(data.X, data.names) if f.severity == "warning"] == []


def test_the_papers_data_are_varsortable_and_standardising_ends_it():
    data = simulate.load("n1000_d30_ER4_gauss", seed=1)
    raw = by_name(diagnose(data.X, data.names, graph=data.graph))["varsortability"]
    assert raw.value > 0.9
    assert raw.severity == "warning"
    standardised = by_name(diagnose(data.X / data.X.std(axis=0), data.names, graph=data.graph))
    assert not {"varsortability", "variance_order"} & standardised.keys()
    # R² does not depend on the scale, and rounding must not decide a tie.
    assert standardised["r2_sortability"].value == pytest.approx(
        r2_sortability(data.X, data.graph), abs=1e-9
    )


def dag(seed, nodes, share):
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes)
    return np.triu(rng.random((nodes, nodes)) < share, 1)[np.ix_(order, order)]


@given(seed=st.integers(0, 2**32), nodes=st.integers(2, 8), share=st.floats(0.1, 0.9))
@settings(max_examples=60, deadline=None)
def test_sortability_agrees_with_causaldisco(seed, nodes, share):
    analytics = pytest.importorskip("CausalDisco.analytics", reason="CausalDisco is not installed")
    graph = dag(seed, nodes, share)
    X = np.random.default_rng(seed).normal(size=(30, nodes)) * np.arange(1, nodes + 1)
    if not graph.any():
        assert np.isnan(varsortability(X, graph))
        return
    # Both count the same pairs, so the only rounding error is that of the division.
    assert varsortability(X, graph) == pytest.approx(analytics.var_sortability(X, graph), abs=1e-12)
    if nodes > 2:  # with two columns the R² are tied, and rounding may break the tie
        expected = analytics.r2_sortability(X, graph)
        assert r2_sortability(X, graph) == pytest.approx(expected, abs=1e-12)


def test_a_tie_counts_one_half():
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert varsortability(X, [[0, 1], [0, 0]]) == 0.5


def test_graph_is_matched_by_name(X):
    X[:, 1] = 100 * X[:, 0]
    graph = Graph(["b", "a"], [[0, 0], [1, 0]])
    assert by_name(diagnose(X, NAMES, graph=graph))["varsortability"].value == 1.0
    with pytest.raises(DataError, match="'z'"):
        diagnose(X, NAMES, graph=Graph(["a", "z"], [[0, 1], [0, 0]]))
    with pytest.raises(DataError, match="2 nodes without names"):
        diagnose(X, NAMES, graph=np.eye(2))
    assert "varsortability" not in by_name(diagnose(X, NAMES, graph=np.zeros((4, 4))))


def test_warnings_first_and_of_the_right_class(X):
    X = np.column_stack([X * [1, 1, 1, 1e6], np.zeros(200)])
    findings = diagnose(X, [*NAMES, "e"])
    severities = [finding.severity for finding in findings]
    assert severities == sorted(severities, reverse=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_about(findings)
    assert [item.category for item in caught] == [DataWarning, ScaleWarning]
    assert [str(item.message) for item in caught] == [f.sentence for f in findings[:2]]
    assert all(item.filename == __file__ for item in caught)


def test_every_sentence_is_one(X):
    X = np.column_stack([X, X[:, 0], np.ones(200), 1e6 * X[:, 1] ** 15, np.arange(200) % 5])
    names = [*NAMES, "a2", "one", "far", "code"]
    findings = diagnose(X, names, graph=np.triu(np.ones((8, 8)), 1))
    findings += (
        before_fit(X * 1e160, names)
        + before_fit(X * 1e-160, names)
        + before_fit(X[:4], names)
        + before_fit(X[:, :4] / X[:, :4].std(axis=0), NAMES)
    )
    assert {finding.name for finding in findings} == {
        "constant", "too_large", "too_small", "duplicate", "scale_ratio", "equal_scale", "few_rows",
        "outliers", "few_values", "uneven_noise", "variance_order", "r2_order", "collinear",
        "varsortability",
        "r2_sortability",
    }  # fmt: skip
    for finding in findings:
        assert isinstance(finding, Finding)
        assert re.fullmatch(r"[A-Z0-9].*[^.]\.", finding.sentence), finding.sentence


def test_degenerate_tables_do_not_break():
    for X in (np.ones((2, 2)), np.array([[1.0, 2.0], [1.0, 3.0]]), np.full((5, 3), -1e308)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "constant" in by_name(diagnose(X))


def test_a_common_factor_changes_no_finding(X):
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] > 0])
    names = [*NAMES, "sum", "odd"]
    for factor in (1e30, 1e-30):
        assert [f.name for f in before_fit(X * factor, names)] == ["collinear", "binary"]


@pytest.mark.parametrize(
    ("size", "name"), [(1e160, "too_large"), (1e307, "too_large"), (1e-170, "too_small")]
)
def test_values_too_large_or_too_small_to_square(X, size, name):
    X[:, 1] *= size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert by_name(diagnose(X, NAMES))[name].columns == ("b",)


@pytest.mark.parametrize("size", [1e-160, 1e-310])
def test_values_too_small_to_square(X, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = by_name(diagnose(X * size, NAMES))
    assert findings["too_small"].columns == tuple(NAMES)
    assert findings["too_small"].severity == "error"
    assert "collinear" not in findings


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_quick_leaves_the_table_alone(X, dtype, order):
    X = np.asarray(X, dtype=dtype, order=order)
    X.flags.writeable = False
    assert before_fit(X, NAMES) == []


def test_quick_makes_no_matrix_of_columns_by_columns():
    X = np.random.default_rng(0).normal(size=(50, 3000))
    tracemalloc.start()
    before_fit(X, [str(index) for index in range(3000)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000  # bytes: less than one Boolean per pair


def test_a_fit_keeps_its_findings_and_warns_of_them():
    random = np.random.default_rng(0)
    noise = random.normal(size=(400, 4))
    walk = noise.copy()
    for row in range(1, 400):
        walk[row] += 0.9 * walk[row - 1]
    with pytest.warns(DataWarning, match="Rows resemble the row before"):
        model = EmptyGraph().fit(walk)
    assert [finding.name for finding in model.findings_] == ["rows_follow"]
    assert EmptyGraph().fit(noise).findings_ == []


def test_a_fit_warns_of_a_curved_relation_that_its_graph_has():
    x, noise = np.random.default_rng(0).normal(size=(2, 400))
    X = np.column_stack([x, x + 0.5 * x**2 + 0.5 * noise])
    with pytest.warns(DataWarning, match="Relations are curved in 1 of 1 arc"):
        model = OrderSearch(noise="gaussian", random_state=0).fit(X)
    assert [finding.name for finding in model.findings_] == ["curved"]


def test_gaps_are_counted_per_column(X):
    X[:30, 1], X[7, 2] = np.nan, np.nan
    finding = by_name(diagnose(X, NAMES))["missing_values"]
    assert finding.columns == ("b", "c")
    assert finding.value == pytest.approx(31 / 800)
    assert "('b' 30, 'c' 1), 170 of 200 rows are complete" in finding.sentence


def test_a_column_without_any_value_is_refused(X):
    X[:, 1] = np.nan
    with pytest.raises(DataError, match="'b' has no value at all"):
        diagnose(X, NAMES)


class TestCommand:
    def test_json(self, X, tmp_path, capsys):
        X[:, 1] = 5
        pd.DataFrame(X).to_csv(tmp_path / "t.csv", header=False, index=False)
        assert main(["diagnose", str(tmp_path / "t.csv"), "--no-header", "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert (printed["rows"], printed["columns"]) == (200, 4)
        assert printed["findings"][0]["name"] == "constant"
        assert printed["findings"][0]["columns"] == ["x1"]

    def test_table_with_a_graph(self, tmp_path, capsys):
        (tmp_path / "t.csv").write_text("a,b\n1,20\n2,50\n4,-60\n")
        (tmp_path / "g.csv").write_text("cause,effect\na,b\n")
        assert main(["diagnose", str(tmp_path / "t.csv"), "--graph", str(tmp_path / "g.csv")]) == 0
        printed = capsys.readouterr()
        assert "Variance grows along 100% of the graph's paths" in printed.out
        assert printed.err == ""

    def test_a_table_with_gaps(self, tmp_path, capsys):
        (tmp_path / "t.csv").write_text("a,b\n1,20\n2,\n4,-60\n5,7\n")
        assert main(["diagnose", str(tmp_path / "t.csv")]) == 0
        printed = capsys.readouterr()
        assert "1 value is missing ('b' 1), 3 of 4 rows are complete" in printed.out

    def test_bad_input_is_one_line_and_exit_code_2(self, tmp_path, capsys):
        assert main(["diagnose", str(tmp_path / "none.csv")]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert "none.csv" in printed.err
